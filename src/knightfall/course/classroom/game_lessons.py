"""Lessons from a submission's games, found by the solver and kept in a file.

Each submission is judged separately, so that a class can be judged on all processors.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from knightfall.agents import cached_agent
from knightfall.arena.plan import GameRecord, PairRecord, Plan
from knightfall.board import Board
from knightfall.course.agent import RemoteSubmission
from knightfall.course.trial.game_judging import Choice, Resignations, judge
from knightfall.display.numbers import for_json
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position
from knightfall.solver.solve import Solver
from knightfall.statistics.rates import Share
from knightfall.untrusted_input import Between, OneOf, Text, Whole, check, parse_json
from knightfall.user_files import original_paths


@dataclass(frozen=True, slots=True)
class Blunder:
    """A won position, the losing move that was played, and the quickest winning one.

    `lost_in` and `won_in` are the plies that the game lasts after either move, by best play.
    """

    fen: str
    opponent: str
    ply: int
    move: str
    lost_in: int
    better: str
    won_in: int
    winning: int
    """Number of winning moves."""
    opening: str = ""
    """The FEN from which the game began."""
    moves: str = ""
    """All moves of the game, separated by full stops."""
    decisive: bool = False
    """Whether the game was lost, and no later position of it was won again."""


@dataclass(frozen=True, slots=True)
class Misunderstanding:
    """A position in which a score prefers a losing move to every winning one.

    `gap` is the difference of their scores, in standard deviations of all scores; it is infinite if
    one of the two scores is.
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
    """How well a score function chooses moves without search.

    It is tested in `of` positions in which some moves win and some lose.
    """

    right: float
    """Number of winning moves chosen; among equal best scores the share of winning moves counts."""
    of: int
    chance: float
    """The share of winning moves that random choices would have, on average."""
    deepest: Misunderstanding | None = None
    """The misunderstanding with the greatest gap."""


@dataclass(frozen=True)
class Lessons:
    """What a student can learn from the games: wins kept, blunders, losses with moves left.

    `kept` of `choices` won positions were kept won, where some moves won and some lost; `error` is
    the standard error of that rate, `chance` the rate of random moves.
    """

    kept: int
    choices: int
    error: float | None
    chance: float | None
    unusual: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For each of `KINDS`: the number of games lost in this way, and the first one's detail."""
    resigned: int = 0
    resigned_won: int = 0
    tries: int = 0
    saved: int = 0
    """These four are the fields of `Resignations`: games, won, tries, saved."""
    blunders: tuple[Blunder, ...] = ()
    """At most `SHOWN` blunders, decisive ones first, of these the latest in their games."""
    opinion: Opinion | None = None
    no_opinion: str = ""
    """The reason why there is no opinion."""
    own_clock: bool = False
    """Whether it is timed in ticks and reads Python's clocks."""

    @property
    def keeping(self) -> Share:
        """Return the share of won positions that were kept won."""
        return Share(self.kept, self.choices)

    @property
    def cost(self) -> float:
        """Return the estimated number of resigned games that would have been won by playing on."""
        return Resignations(self.resigned, self.resigned_won, self.tries, self.saved).cost

    @property
    def opinion_rate(self) -> float | None:
        """Return the share of positions in which the score alone would choose a winning move."""
        return None if self.opinion is None else self.opinion.right / self.opinion.of

    def times(self, kind: str) -> int:
        """Return the number of games lost by `kind`, which is one of `KINDS`."""
        return self.unusual.get(kind, (0, ""))[0]


# -- kept in a file --------------------------------------------------------------------------

_NUMBER = (float, OneOf(("inf", "-inf")))  # as `for_json` writes it
_BLUNDER = {
    "fen": str, "opponent": str, "ply": Whole(1, 100), "move": str, "lost_in": Whole(0, 100),
    "better": str, "won_in": Whole(0, 100), "winning": Whole(1, 100), "opening": str,
    "moves": Text(400, pattern=r"[a-z0-9.]*", example="d4.b5"), "decisive": bool,
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
    """Return the lessons as JSON-compatible values."""
    found = asdict(lessons)
    found["unusual"] = {kind: list(one) for kind, one in lessons.unusual.items()}
    found["blunders"] = list(found["blunders"])
    deepest = (found["opinion"] or {}).get("deepest")
    for name in ("liked_score", "better_score", "gap"):
        if deepest is not None:
            deepest[name] = for_json(deepest[name])
    return found


def from_json(text: str) -> Lessons:
    """Read the JSON of `to_dict`; raise `KnightfallError` if it is malformed."""
    found = parse_json(text)
    check(_LESSONS, found)
    found["unusual"] = {kind: _count_and_detail(each) for kind, each in found["unusual"].items()}
    found["blunders"] = tuple(Blunder(**each) for each in found["blunders"])
    opinion = found["opinion"]
    if opinion is not None:
        deepest = opinion["deepest"]
        if deepest is not None:
            for name in ("liked_score", "better_score", "gap"):
                deepest[name] = float(deepest[name])
            opinion["deepest"] = Misunderstanding(**deepest)
        found["opinion"] = Opinion(**opinion)
    lessons = Lessons(**found)
    shown: list[Blunder | Misunderstanding] = [*lessons.blunders]
    if lessons.opinion and lessons.opinion.deepest:
        shown.append(lessons.opinion.deepest)
    for one in shown:
        Position.from_fen(one.fen)  # raises for an invalid position
    for blunder in lessons.blunders:
        Position.from_fen(blunder.opening)
    return lessons


def _count_and_detail(each: list[Any]) -> tuple[int, str]:
    if len(each) != 2 or type(each[0]) is not int or not isinstance(each[1], str):
        raise KnightfallError(
            f"{each!r} must be a list of two items: a number of games, and a text"
        )
    return each[0], each[1]


# -- found in games ----------------------------------------------------------------------------


SHOWN = 6
"""Maximum number of blunders on a page."""

Asked = list[tuple[Choice, dict[str, float]]]
"""Choices, each with the score of every legal move."""


@dataclass(frozen=True)
class Games:
    """A copy of one submission's games, which can be sent to another process."""

    name: str
    plan: Plan
    records: list[PairRecord]

    def pairs(self) -> Iterator[PairRecord]:
        """Yield the pairs in schedule order."""
        return iter(self.records)


def lessons_of(games: Games) -> Lessons:
    """Judge a submission's games and return the lessons from them."""
    plan = games.plan
    truth = Solver.of(Board.named(plan.board))
    found: list[Case] = []

    def on_choices(match: int, made: Sequence[Choice], opening: Position, game: GameRecord) -> None:
        opponent = plan.entrants[plan.matches[match].b].name
        real = [one for one in made if 0 < len(one.winning) < len(one.position.legal_moves)]
        lost = bool(made) and game.winner != made[0].position.to_move
        last = next((one for one in reversed(made) if lost and one.winning), None)
        found.extend(Case(opponent, one, opening, game, one is last) for one in real)

    judged = judge(games, [0], on_choices=on_choices, truth=truth)[0]
    asked, why = _asked([case.choice for case in found], plan.entrants[0].agent)
    return Lessons(
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
        opinion=opinion(asked, truth) if asked else None,
        no_opinion=why,
        own_clock=judged.own_clock,
    )


# -- blunders --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """A real choice in a game; `last` says that the game was lost and no later position was won."""

    opponent: str
    choice: Choice
    opening: Position
    game: GameRecord
    last: bool


def blunders(found: Sequence[Case], truth: Solver) -> tuple[Blunder, ...]:
    """Return blunders, first those that decided a game, and of these the latest in their games.

    A shallow search would have avoided the latest ones.
    """
    bad = {
        case.choice.position.fen: case
        for case in sorted(found, key=lambda case: case.last)  # a decisive one replaces another
        if case.choice.move is not None and case.choice.move not in case.choice.winning
    }

    def order(case: Case) -> tuple[bool, int, int]:
        return not case.last, len(case.choice.position.open), case.choice.ply

    return tuple(_blunder(case, truth) for case in sorted(bad.values(), key=order)[:SHOWN])


def _blunder(case: Case, truth: Solver) -> Blunder:
    """Return a losing choice as a blunder, with the quickest winning move."""
    choice, position, move = case.choice, case.choice.position, case.choice.move
    assert move is not None
    lengths = {one: truth.plies(position.play(one)) for one in choice.winning}
    better = min(lengths, key=lengths.__getitem__)
    return Blunder(
        fen=position.fen,
        opponent=case.opponent,
        ply=choice.ply,
        move=move,
        lost_in=truth.plies(position.play(move)),
        better=better,
        won_in=lengths[better],
        winning=len(choice.winning),
        opening=case.opening.fen,
        moves=".".join(case.game.moves(case.opening)),
        decisive=case.last,
    )


# -- opinions of the score ---------------------------------------------------------------------


def _asked(choices: Sequence[Choice], agent: str) -> tuple[Asked, str]:
    """Return the choices with the agent's score of each move, and an error message or "".

    Choices with a score that is not a number are left out.
    """
    found: Asked = []
    try:
        with RemoteSubmission(cached_agent(agent)) as player:
            for choice in choices:
                said = player.opinions(choice.position)
                numbers = {move: value for move, value in said.items() if value is not None}
                if len(numbers) == len(said):
                    found.append((choice, numbers))
    except AgentFailure as failure:
        return found, original_paths(str(failure))
    why = "no position had winning and losing moves whose scores are all numbers"
    return found, "" if found else why


def opinion(asked: Asked, truth: Solver) -> Opinion:
    """Return how often the score without search prefers a winning move, and its worst error.

    The worst error has the greatest gap between a losing move's score and the best winning one's.
    """
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
    """Describe a position in which the score prefers a losing move; `said` is each move's score."""
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
