"""What an examination comes to: one outcome for each check."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

Mark = Literal["ok", "wrong", "warning", "skipped"]
Kind = Literal["minimax", "alphabeta"]

KINDS: tuple[Kind, ...] = ("minimax", "alphabeta")
NO_MOVE = (-1, -1)
LONGEST = 4000
"""Characters of one text that a report shows at most."""


@dataclass(frozen=True)
class Check:
    """A thing to be examined, after those that it needs; `about` is the search it belongs to."""

    id: str
    name: str
    needs: tuple[str, ...] = ()
    about: Kind | None = None


CHECKS = (
    Check("load", "file loads"),
    Check("interface", "interface", ("load",)),
    Check("scores", "scores", ("load",)),
    Check("minimax-values", "minimax: best moves", ("load",), "minimax"),
    Check("minimax-timeout", "minimax: timeout", ("load",), "minimax"),
    Check("minimax-get-move", "minimax: get_move", ("load", "minimax-timeout"), "minimax"),
    Check("minimax-no-moves", "minimax: no moves", ("load",), "minimax"),
    Check("alphabeta-values", "alphabeta: best moves", ("load",), "alphabeta"),
    Check("alphabeta-pruning", "alphabeta: pruning", ("load", "alphabeta-values"), "alphabeta"),
    Check("alphabeta-timeout", "alphabeta: timeout", ("load",), "alphabeta"),
    Check("alphabeta-get-move", "alphabeta: get_move", ("load", "alphabeta-timeout"), "alphabeta"),
    Check(
        "alphabeta-deepening",
        "alphabeta: deepening",
        ("load", "alphabeta-timeout", "alphabeta-get-move"),
        "alphabeta",
    ),
    Check("alphabeta-no-moves", "alphabeta: no moves", ("load",), "alphabeta"),
    Check("resigning", "never resigns", ("load",)),
)

SUCCESSOR_CHECKS = (
    CHECKS[0],
    Check("player", "interface", ("load",)),
    Check("actions", "legal actions", ("load", "player")),
    Check("ends", "near the end", ("load", "player", "actions")),
    Check("games", "whole games", ("load", "player", "actions")),
    Check("further", "deepening", ("load", "player", "actions")),
)
"""What is examined of a submission for 11×9."""

BY_ID = {check.id: check for check in (*CHECKS, *SUCCESSOR_CHECKS)}


def checks_of(generation: str) -> tuple[Check, ...]:
    """Return the checks of a generation, in their order."""
    return SUCCESSOR_CHECKS if generation == "successor" else CHECKS


@dataclass(frozen=True)
class Outcome:
    """What came of one check.

    `short` is half a line, `why` the explanation in paragraphs; `expected` and `got` may be empty.
    After a `fatal` one nothing more can be asked of the same search.
    """

    id: str
    mark: Mark
    short: str
    why: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    picture: str = ""
    fen: str = ""
    trace: tuple[str, ...] = ()
    fatal: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


class Shown(Protocol):
    """A position that a report can show."""

    @property
    def picture(self) -> str:
        """The board as text."""

    @property
    def fen(self) -> str:
        """The position as one line that a program can read."""


@dataclass
class Finding(Exception):
    """Ends a check that has found something; it becomes an `Outcome`."""

    short: str
    why: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    place: Shown | None = None
    trace: tuple[str, ...] = ()
    fatal: bool = False
    mark: Mark = field(default="wrong", kw_only=True)

    def outcome(self, id: str) -> Outcome:
        """The same as a value."""
        return Outcome(
            id,
            self.mark,
            self.short,
            self.why,
            self.expected,
            self.got,
            self.place.picture if self.place else "",
            self.place.fen if self.place else "",
            self.trace,
            self.fatal,
        )


def read_outcome(said: Any, id: str) -> Outcome:
    """What another process says of a check; ValueError if that is no outcome of it."""
    if not isinstance(said, dict) or said.get("id") != id:
        raise ValueError("not an outcome")
    texts = {key: said.get(key) for key in ("short", "expected", "got", "picture", "fen")}
    lists = {key: said.get(key) for key in ("why", "trace")}
    if said.get("mark") not in ("ok", "wrong", "warning", "skipped"):
        raise ValueError("no such mark")
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("not a text")
    for value in lists.values():
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError("not texts")
    return Outcome(
        id=id,
        mark=said["mark"],
        fatal=said.get("fatal") is True,
        why=tuple(text[:LONGEST] for text in said["why"][:20]),
        trace=tuple(text[:LONGEST] for text in said["trace"][:20]),
        **{key: str(text)[:LONGEST] for key, text in texts.items()},
    )
