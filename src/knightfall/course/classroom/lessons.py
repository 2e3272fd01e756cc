"""What there is to learn from a submission's games: found by the solver, kept in a file.

Each submission is judged by itself, so that a class is judged on all processors.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from knightfall.agents import cached_agent
from knightfall.arena.plan import PairRecord, PairTask, Plan
from knightfall.board import Board
from knightfall.course.agent import RemoteSubmission
from knightfall.course.trial.game_judging import Choice, judge
from knightfall.display.numbers import for_json
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position
from knightfall.reading import Between, Whole, check, parse_json
from knightfall.solver.solve import Solver
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


# -- found in games ----------------------------------------------------------------------------


SHOWN = 6
"""Blunders that a page shows."""

Asked = list[tuple[Choice, dict[str, float]]]


@dataclass(frozen=True)
class Games:
    """The games of one submission: what any process needs to judge them."""

    name: str
    plan: Plan
    records: list[PairRecord]

    def pairs(self) -> Iterator[PairRecord]:
        """Yield the pairs in schedule order."""
        return iter(self.records)


def lessons_of(games: Games) -> Lessons:
    """Return what there is to learn from a submission's games."""
    plan = games.plan
    truth = Solver.of(Board.named(plan.board))
    found: list[tuple[str, Choice]] = []

    def on_choice(match: int, pair: PairTask, choice: Choice) -> None:
        if 0 < len(choice.winning) < len(choice.position.legal_moves):
            found.append((plan.entrants[plan.matches[match].b].name, choice))

    judged = judge(games, [0], on_choice=on_choice, truth=truth)[0]
    asked, why = _asked([choice for _, choice in found], plan.entrants[0].agent)
    lessons = Lessons(
        kept=judged.keeping.kept.count,
        choices=judged.keeping.kept.of,
        error=judged.keeping.error,
        chance=judged.keeping.chance,
        unusual=judged.unusual,
        resigned=judged.resigned.games,
        resigned_won=judged.resigned.won,
        tries=judged.resigned.tries,
        saved=judged.resigned.saved,
        blunders=blunders(found, truth),
        no_opinion=why,
        own_clock=judged.own_clock,
    )
    return replace(lessons, opinion=opinion(asked, truth)) if asked else lessons


# -- blunders --------------------------------------------------------------------------------


def blunders(found: Sequence[tuple[str, Choice]], truth: Solver) -> tuple[Blunder, ...]:
    """The latest blunders: what was overlooked there is near."""
    bad = {
        choice.position.fen: (opponent, choice)
        for opponent, choice in found
        if choice.move is not None and choice.move not in choice.winning
    }
    latest = sorted(bad.values(), key=lambda each: (len(each[1].position.open), each[1].ply))
    return tuple(_blunder(opponent, choice, truth) for opponent, choice in latest[:SHOWN])


def _blunder(opponent: str, choice: Choice, truth: Solver) -> Blunder:
    position, move = choice.position, choice.move
    assert move is not None
    lengths = {one: truth.plies(position.play(one)) for one in choice.winning}
    better = min(lengths, key=lengths.__getitem__)
    return Blunder(
        fen=position.fen,
        opponent=opponent,
        ply=choice.ply,
        move=move,
        lost_in=truth.plies(position.play(move)),
        better=better,
        won_in=lengths[better],
        winning=len(choice.winning),
    )


# -- what the score believes -----------------------------------------------------------------


def _asked(choices: Sequence[Choice], agent: str) -> tuple[Asked, str]:
    """What the submission's score says of the moves of each choice; why not, if it says nothing."""
    player = RemoteSubmission(cached_agent(agent))
    found: Asked = []
    try:
        for choice in choices:
            said = player.opinions(choice.position)
            numbers = {move: value for move, value in said.items() if value is not None}
            if len(numbers) == len(said):
                found.append((choice, numbers))
    except AgentFailure as failure:
        return found, str(failure)
    finally:
        player.close()
    return found, "" if found else "its score never had to choose between winning and losing"


def opinion(asked: Asked, truth: Solver) -> Opinion:
    """How often the score alone would choose rightly, and where it is most surely wrong."""
    right, chance = 0.0, 0.0
    worst: tuple[float, int, Choice, dict[str, float]] | None = None
    finite = [value for _, said in asked for value in said.values() if math.isfinite(value)]
    spread = statistics.pstdev(finite) if len(finite) > 1 else 0.0
    for choice, said in asked:
        best = max(said.values())
        liked = [move for move, value in said.items() if value == best]
        right += sum(move in choice.winning for move in liked) / len(liked)
        chance += len(choice.winning) / len(said)
        won = max(said[move] for move in choice.winning)
        if best > won:
            gap = (best - won) / spread if spread and math.isfinite(best - won) else math.inf
            key = gap, -len(choice.position.open)
            if worst is None or key > worst[:2]:
                worst = (*key, choice, said)
    deepest = None if worst is None else _misunderstanding(worst[0], *worst[2:], truth)
    return Opinion(right, len(asked), chance / len(asked), deepest)


def _misunderstanding(
    gap: float, choice: Choice, said: dict[str, float], truth: Solver
) -> Misunderstanding:
    position = choice.position
    liked = max(said, key=said.__getitem__)
    better = max(choice.winning, key=said.__getitem__)
    return Misunderstanding(
        fen=position.fen,
        liked=liked,
        liked_score=said[liked],
        lost_in=truth.plies(position.play(liked)),
        better=better,
        better_score=said[better],
        won_in=truth.plies(position.play(better)),
        gap=gap,
    )
