"""The one error type a user ever meets."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

Failing = Literal["timeout", "forfeit", "illegal", "crash"]


class KnightfallError(ValueError):
    """Bad input: the message is one line that names the value and what is accepted."""


class AgentFailure(KnightfallError):
    """An agent did not answer with a legal move.

    `reason` is what it loses a game by: timeout, forfeit, illegal or crash.  It was `starved` if it
    would have answered in time, had other processes not kept it from running.
    """

    def __init__(self, reason: Failing, message: str, starved: bool = False) -> None:
        super().__init__(message)
        self.reason: Failing = reason
        self.starved = starved

    def __reduce__(self) -> tuple[type[AgentFailure], tuple[Failing, str, bool]]:
        return (AgentFailure, (self.reason, str(self), self.starved))


class RunnerFailure(KnightfallError):
    """Whoever plays cannot go on; what was played by then is good."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'open'?``, or an empty string when nothing is close."""
    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
