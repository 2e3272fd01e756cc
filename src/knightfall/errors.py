"""The one error type a user ever meets."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Literal

Failing = Literal["timeout", "forfeit", "illegal", "crash"]

Ending = Literal["no moves", "late", "no answer", "resigned", "illegal answer", "crash"]
"""How a game ended for its loser, to decide by: `GameRecord.ending` and `AgentFailure.ending`.

It had no move left; it answered after its time; it did not answer at all; it gave up; it answered
with something that is no legal move; or it raised an error or died.
"""

_NO_LEGAL_MOVE = re.compile(r", which is (none of its legal moves|no legal action)$")
_NO_ANSWER = re.compile(r"\b(did not answer within|does not return: has it an endless loop\?)")


def ending_of(reason: str, detail: str) -> Ending:
    """Return the kind of ending that the stored reason and detail of a game mean.

    Stores keep the course's five reasons, of which a forfeit is a resignation or an answer that is
    no legal move, and a timeout may have no answer at all.  Only the detail tells these apart: it
    is read here and nowhere else.
    """
    if reason == "forfeit":
        return "illegal answer" if _NO_LEGAL_MOVE.search(detail) else "resigned"
    if reason == "timeout":
        return "no answer" if _NO_ANSWER.search(detail) else "late"
    if reason == "illegal":
        return "illegal answer"
    return "crash" if reason == "crash" else "no moves"


class KnightfallError(ValueError):
    """Bad input: the message is one line that names the value and what is accepted."""


class NotFound(KnightfallError):
    """What is named does not exist: a run, a game, a store with any runs."""


class FileFault(KnightfallError):
    """A user's file cannot be loaded, or a function in it fails.

    `line` is the line of the file in which the error arose, None if the file had no part in it.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line

    def __reduce__(self) -> tuple[type[FileFault], tuple[str, int | None]]:
        return (FileFault, (str(self), self.line))


class AgentFailure(KnightfallError):
    """An agent did not answer with a legal move.

    `reason` is what it loses a game by: timeout, forfeit, illegal or crash.  It was `starved` if it
    would have answered in time, had other processes not kept it from running.
    """

    def __init__(self, reason: Failing, message: str, starved: bool = False) -> None:
        super().__init__(message)
        self.reason: Failing = reason
        self.starved = starved

    @property
    def ending(self) -> Ending:
        """The kind of ending of a game that is lost by this failure."""
        return ending_of(self.reason, str(self))

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
