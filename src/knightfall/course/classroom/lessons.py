"""What there is to learn from a submission's games: values that can be kept in a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from knightfall.display.numbers import for_json
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.reading import parse_json
from knightfall.shape import Between, Whole, check
from knightfall.statistics.rates import Share


@dataclass(frozen=True, slots=True)
class Blunder:
    """A won position, the move that lost it, and the quickest of those that would have kept it.

    The plies are those that the game still lasts after either move, by best play.
    """

    fen: str
    opponent: str
    ply: int
    move: str
    lost_in: int
    better: str
    won_in: int
    winning: int
    """How many moves would have kept the win."""


@dataclass(frozen=True, slots=True)
class Misunderstanding:
    """A position whose losing move a score prefers to every winning one.

    `gap` is by how much, in standard deviations of what the score says; infinite where one of the
    two is.
    """

    fen: str
    liked: str
    liked_score: float
    lost_in: int
    better: str
    better_score: float
    won_in: int
    gap: float


@dataclass(frozen=True)
class Opinion:
    """What a score, asked about each move, would have chosen where some moves win and some lose."""

    right: float
    """Choices that win; among moves that it finds equal, the part of them that does."""
    of: int
    chance: float
    deepest: Misunderstanding | None = None


@dataclass(frozen=True)
class Lessons:
    """All that is told of a submission's games but who won them."""

    kept: int
    choices: int
    error: float | None
    chance: float | None
    unusual: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Lost otherwise than on the board: how often, and the first detail."""
    resigned: int = 0
    resigned_won: int = 0
    tries: int = 0
    saved: int = 0
    blunders: tuple[Blunder, ...] = ()
    """Some of them, the latest in their games first; each position once."""
    opinion: Opinion | None = None
    no_opinion: str = ""
    """Why there is no opinion."""
    own_clock: bool = False
    """Whether it asks Python's clocks, where time is counted."""

    @property
    def keeping(self) -> Share:
        """How often a win was kept where it could be lost."""
        return Share(self.kept, self.choices)

    @property
    def cost(self) -> float:
        """The games that resigning cost."""
        return self.resigned * self.saved / self.tries if self.tries else 0.0

    def times(self, kind: str) -> int:
        """How many games were lost in some way."""
        return self.unusual.get(kind, (0, ""))[0]


# -- kept in a file --------------------------------------------------------------------------

_NUMBER = (float, str)  # inf, as `for_json` writes it
_BLUNDER = {
    "fen": str, "opponent": str, "ply": Whole(1, 100), "move": str, "lost_in": Whole(0, 100),
    "better": str, "won_in": Whole(0, 100), "winning": Whole(1, 100),
}  # fmt: skip
_DEEPEST = {
    "fen": str, "liked": str, "liked_score": _NUMBER, "lost_in": Whole(0, 100), "better": str,
    "better_score": _NUMBER, "won_in": Whole(0, 100), "gap": _NUMBER,
}  # fmt: skip
_OPINION = {
    "right": Between(0, 1e9),
    "of": Whole(),
    "chance": Between(0, 1),
    "deepest": (None, _DEEPEST),
}
_LESSONS = {
    "kept": Whole(), "choices": Whole(), "error": (None, float), "chance": (None, float),
    "unusual": {str: [(int, str)]}, "resigned": Whole(), "resigned_won": Whole(),
    "tries": Whole(), "saved": Whole(), "blunders": [_BLUNDER], "opinion": (None, _OPINION),
    "no_opinion": str, "own_clock": bool,
}  # fmt: skip


def to_dict(lessons: Lessons) -> dict[str, Any]:
    """As plain values that JSON can hold."""
    found = asdict(lessons)
    found["unusual"] = {kind: list(told) for kind, told in lessons.unusual.items()}
    found["blunders"] = list(found["blunders"])
    deepest = (found["opinion"] or {}).get("deepest")
    for name in ("liked_score", "better_score", "gap"):
        if deepest is not None:
            deepest[name] = for_json(deepest[name])
    return found


def from_json(text: str) -> Lessons:
    """What `to_dict` gave, or a refusal."""
    found = parse_json(text)
    check(_LESSONS, found)
    found["unusual"] = {kind: _told(each) for kind, each in found["unusual"].items()}
    found["blunders"] = tuple(Blunder(**each) for each in found["blunders"])
    opinion = found["opinion"]
    if opinion is not None:
        deepest = opinion["deepest"]
        if deepest is not None:
            for name in ("liked_score", "better_score", "gap"):
                deepest[name] = _number(deepest[name])
            opinion["deepest"] = Misunderstanding(**deepest)
        found["opinion"] = Opinion(**opinion)
    lessons = Lessons(**found)
    for one in (*lessons.blunders, *([opinion["deepest"]] if opinion else [])):
        if one is not None:
            Position.from_fen(one["fen"] if isinstance(one, dict) else one.fen)
    return lessons


def _told(each: list[Any]) -> tuple[int, str]:
    if len(each) != 2 or type(each[0]) is not int or not isinstance(each[1], str):
        raise KnightfallError("a number of games and the first detail are expected")
    return each[0], each[1]


def _number(value: float | str) -> float:
    if value in ("inf", "-inf") or not isinstance(value, str):
        return float(value)
    raise KnightfallError(f"{value!r} is not a number")
