"""The errors that knightfall raises; all of them are `KnightfallError`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Literal

Failing = Literal["timeout", "forfeit", "illegal", "crash"]
"""The reason for which an agent that fails loses its game."""

Ending = Literal["no moves", "late", "no answer", "resigned", "illegal answer", "crash"]
"""How a game ended for its loser: the value of `GameRecord.ending` and `AgentFailure.ending`.

The loser had no move left; answered after its time limit; never answered; resigned; answered with
something other than a legal move; or raised an error or ended its process.
"""

_NO_LEGAL_MOVE = re.compile(r", which is (none of its legal moves|no legal action)$")
_NO_ANSWER = re.compile(r"\b(did not answer within|does not return: has it an endless loop\?)")


def ending_of(reason: str, detail: str) -> Ending:
    """Return how a game ended, from the reason and the detail that are stored with it.

    Stores keep the course's five reasons.  There, a forfeit is a resignation or an illegal answer,
    and a timeout is a late answer or none.  Only the text of the detail distinguishes them, and
    only this function reads it.
    """
    if reason == "forfeit":
        return "illegal answer" if _NO_LEGAL_MOVE.search(detail) else "resigned"
    if reason == "timeout":
        return "no answer" if _NO_ANSWER.search(detail) else "late"
    if reason == "illegal":
        return "illegal answer"
    return "crash" if reason == "crash" else "no moves"


class KnightfallError(ValueError):
    """Bad input.  The message is one line that names the bad value and what is accepted."""


class NotFound(KnightfallError):
    """The user named a run, a game or a store of runs that does not exist."""


class FileFault(KnightfallError):
    """A user's file cannot be loaded, or a function in it fails.

    `line` is the line of that file where the error arose, None if the error arose outside of it.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line

    def __reduce__(self) -> tuple[type[FileFault], tuple[str, int | None]]:
        return (FileFault, (str(self), self.line))


class AgentFailure(KnightfallError):
    """An agent did not answer with a legal move.

    `reason` is why it loses: timeout, forfeit, illegal or crash.  `starved` is true if it would
    have answered in time, had other processes not occupied its core.
    """

    def __init__(self, reason: Failing, message: str, starved: bool = False) -> None:
        super().__init__(message)
        self.reason: Failing = reason
        self.starved = starved

    @property
    def ending(self) -> Ending:
        """The `Ending` of a game that is lost by this failure."""
        return ending_of(self.reason, str(self))

    def __reduce__(self) -> tuple[type[AgentFailure], tuple[Failing, str, bool]]:
        return (AgentFailure, (self.reason, str(self), self.starved))


class RunnerFailure(KnightfallError):
    """The worker pool cannot continue.  Games that were finished before are valid and stored."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint such as ``; did you mean 'open'?``, or an empty string if no name is close."""
    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
