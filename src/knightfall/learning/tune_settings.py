"""What a tuning changes (the free numbers of a sum), its settings, and where its games begin.

A positive factor on all values does not change a search. So the first term keeps its weight, and
the other weights are free. A free weight is measured in units of size: at size 1, its term varies
as much between positions as the first term. The factor before ``stage(…)`` is fixed, because the
weights inside are free. A threshold changes by a fifth of the board per unit of size.

Tuning and confirmation use different openings, split as for labelled positions
(`knightfall.learning.split`): training openings tune, held-back ones confirm. A board has few
openings, so games also begin one move of each side later. Mirror images count once, and a position
that both parts reach is kept for the confirmation.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from knightfall.agents import cached_agent
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import enter, files_of
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import Expression, Phased, Stages, Term, parse_heuristic
from knightfall.kernel.rules import words
from knightfall.learning.split import canonical_forms, class_splits, classes, kept, keys
from knightfall.openings import shuffled
from knightfall.position import Position
from knightfall.search.budget import LEAF_STEP_LIMIT, parse_budget
from knightfall.statistics.sprt import Sprt

# -- the numbers of a sum ---------------------------------------------------------------------


DIGITS = 4
"""Significant digits of a tuned weight: no number of games could distinguish more."""
SMALLEST, LARGEST = 1e-9, 999_900_000.0
"""Range of absolute weights that an expression can express; smaller ones become 0."""


THRESHOLD_UNIT = 0.2
"""The change of the phase when a threshold changes by a size of 1."""
FINEST = Fraction(1, 1000)
"""The precision of a threshold, and the least distance between two."""


@dataclass(frozen=True)
class Number:
    """A number of an expression that may be tuned: a term's weight, or a stage's threshold."""

    name: str
    value: Fraction
    term: Term | None
    """None for a threshold."""


def numbers(expression: Expression) -> list[Number]:
    """Return an expression's weights and thresholds, left to right; the first is never tuned."""
    return list(_numbers(expression, ""))


def _numbers(expression: Expression, where: str) -> Iterator[Number]:
    for weight, term in expression.terms:
        stages = term.inner if isinstance(term, Phased) else term
        if not isinstance(stages, Stages):
            yield Number(f"{term}{where}", weight, term)
            continue
        for place, part in enumerate(stages.parts):
            if place:
                yield Number(f"start of stage {place + 1}", stages.stages[place - 1][0], None)
            yield from _numbers(part, f" (stage {place + 1})")


def with_numbers(expression: Expression, values: Iterator[Fraction]) -> Expression:
    """Return the expression with other weights and thresholds, in the order of `numbers`."""
    terms: list[tuple[Fraction, Term]] = []
    for weight, term in expression.terms:
        stages = term.inner if isinstance(term, Phased) else term
        if not isinstance(stages, Stages):
            terms.append((next(values), term))
            continue
        parts = [with_numbers(stages.parts[0], values)]
        thresholds: list[Fraction] = []
        for part in stages.parts[1:]:
            thresholds.append(next(values))
            parts.append(with_numbers(part, values))
        found = Stages(tuple(zip(_falling(thresholds), parts, strict=False)), parts[-1])
        if isinstance(term, Phased):
            terms.append((weight, Phased(found, term.open, term.filled)))
        else:
            terms.append((weight, found))
    return Expression(tuple(terms))


def _falling(thresholds: Sequence[Fraction]) -> list[Fraction]:
    """Round thresholds, and move them as little as necessary so that 1 > first > … > last > 0."""
    found: list[Fraction] = []
    for place, value in enumerate(thresholds):
        most = (found[-1] if found else Fraction(1)) - FINEST
        least = FINEST * (len(thresholds) - place)
        found.append(max(least, min(most, round(value / FINEST) * FINEST)))
    return found


@dataclass(frozen=True)
class Sum:
    """A sum to tune, with a unit for each free number (weight or threshold).

    The optimiser works on sizes: a free number is its size times its unit.

    `still` names the terms whose spread could not be measured.
    """

    given: Expression
    units: tuple[float, ...]
    still: tuple[str, ...] = ()

    def sizes_of(self, expression: Expression) -> tuple[float, ...]:
        """Return the free numbers of an expression of the same form, divided by their units."""
        free = numbers(expression)[1:]
        return tuple(float(one.value) / unit for one, unit in zip(free, self.units, strict=True))

    @property
    def sizes(self) -> tuple[float, ...]:
        """Return the free numbers of the given sum, divided by their units."""
        return self.sizes_of(self.given)

    def at(self, sizes: Sequence[float]) -> Expression:
        """Return the sum with other free numbers: each size times its unit, rounded."""
        first, *_ = numbers(self.given)
        free = (rounded(size * unit) for size, unit in zip(sizes, self.units, strict=True))
        return with_numbers(self.given, chain([first.value], free))


def read_sum(text: str) -> Expression:
    """Parse a sum to tune. Raise a KnightfallError if it has no free weights."""
    found = parse_heuristic(text).absolute()
    first, *free = numbers(found)
    if not free:
        raise KnightfallError(
            f"heuristic {text!r} has one term, so there is nothing to tune: only ratios of weights "
            "matter to a search; write a sum, as in improved+0.5*bfs_reach"
        )
    names = [one.name for one in (first, *free) if one.term is not None]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise KnightfallError(
                f"heuristic {text!r}: the term {name} occurs twice: add the weights up"
            )
    if first.value == 0:
        raise KnightfallError(
            f"heuristic {text!r}: the first term has weight 0, but its weight sets the scale: put "
            "another term first"
        )
    return found


def measured(given: Expression, positions: Sequence[Position]) -> Sum:
    """Return the sum with units such that a weight of one unit counts as much as the first term."""
    first, *free = numbers(given)
    assert first.term is not None
    scale, weight = _spread(first.term, positions), abs(float(first.value))
    units, still = [], [] if scale else [first.name]
    for one in free:
        if one.term is None:
            units.append(THRESHOLD_UNIT)
            continue
        spread = _spread(one.term, positions)
        units.append(weight * scale / spread if scale and spread else weight)
        still += [] if spread else [one.name]
    return Sum(given, tuple(units), tuple(still))


def _spread(term: Term, positions: Sequence[Position]) -> float:
    """Return the standard deviation of a heuristic's values; 0 if it is not compiled.

    Uncompiled heuristics run in a separate process and are not measured here.
    """
    one = evaluator(Expression(((Fraction(1), term),)))
    if not one.compiled:
        return 0.0
    values = [one.measure(position, step_limit=LEAF_STEP_LIMIT)[0] for position in positions]
    finite = [value for value in values if math.isfinite(value)]
    spread = float(np.std(finite)) if finite else 0.0
    return spread if spread > SMALLEST else 0.0


def rounded(weight: float) -> Fraction:
    """Round a weight to `DIGITS` significant digits."""
    if abs(weight) < SMALLEST:
        return Fraction(0)
    return Fraction(f"{max(-LARGEST, min(weight, LARGEST)):.{DIGITS - 1}e}")


def decimal(weight: Fraction) -> str:
    """Write a weight as a decimal if it has at most nine places, else as a fraction."""
    places = 0
    while places < 9 and (weight * 10**places).denominator != 1:
        places += 1
    if (weight * 10**places).denominator != 1:
        return str(weight)
    return format(Decimal(int(weight * 10**places)).scaleb(-places), "f")


def written(expression: Expression) -> str:
    """Write an expression with decimal weights; parsing it gives the same expression."""
    return expression.text(decimal, gap=" ")


# -- the settings -----------------------------------------------------------------------------


START = "start"
"""The name of the given weights where an opponent is expected."""

NODES, TIMES = 2500, 4
"""The default budget, and the default ratio of the second budget to it."""
GENERATIONS, POPULATION, PAIRS, STEP = 20, 12, 100, 0.5
GAIN = (0.0, 30.0)
"""The two hypotheses of the confirming test, in normalized Elo."""

SAMPLE = 300
"""Positions in which the spread of a sum's terms is measured."""

MOST_GENERATIONS, LEAST_POPULATION, MOST_POPULATION, LARGEST_STEP = 10_000, 4, 1000, 10.0


@dataclass(frozen=True)
class TuneSettings:
    """The settings of a tuning, and the version of knightfall that runs it."""

    expression: str
    nodes: int
    second: int
    generations: int
    population: int
    pairs: int
    against: tuple[str, ...]
    board: str
    seed: int
    step: float
    sprt: tuple[float, float]
    files: dict[str, str]
    version: str

    @staticmethod
    def of(
        expression: str,
        *,
        nodes: int = NODES,
        second: int | None = None,
        generations: int = GENERATIONS,
        population: int = POPULATION,
        pairs: int = PAIRS,
        against: Sequence[str] = (START,),
        board: str = "7x7",
        seed: int = 0,
        step: float = STEP,
        sprt: tuple[float, float] = GAIN,
    ) -> TuneSettings:
        """Return checked settings for the running version."""
        found = read_sum(expression)
        first = _nodes("nodes", nodes)
        other = _nodes("second", TIMES * nodes if second is None else second)
        if first == other:
            raise KnightfallError(
                f"second={second} must differ from nodes={nodes}, the node budget while tuning"
            )
        _within("generations", generations, 1, MOST_GENERATIONS)
        _within("population", population, LEAST_POPULATION, MOST_POPULATION)
        if not (math.isfinite(step) and 0 < step <= LARGEST_STEP):
            raise KnightfallError(f"step={step:g} must be above 0 and at most {LARGEST_STEP:g}")
        if seed < 0:
            raise KnightfallError(f"seed={seed} must be 0 or more")
        Sprt(*sprt)
        where = Board.named(board)
        _within("pairs", pairs, 1, len(starts(where).tuning), f" on {where.text}")
        opponents = tuple(_opponent(text) for text in against or (START,))
        agent = agent_of(found, nodes)
        entered = enter([agent if text == START else text for text in (START, *opponents)])
        return TuneSettings(
            expression=written(found),
            nodes=nodes,
            second=other,
            generations=generations,
            population=population,
            pairs=pairs,
            against=opponents,
            board=where.text,
            seed=seed,
            step=float(step),
            sprt=(float(sprt[0]), float(sprt[1])),
            files=files_of(entered),
            version=version(),
        )

    @property
    def given(self) -> Expression:
        """Return the sum of heuristics with the weights that the user gave."""
        return parse_heuristic(self.expression)

    @property
    def starts(self) -> Starts:
        """Return the positions that the games of this tuning begin from."""
        return starts(Board.named(self.board))

    @property
    def opponents(self) -> list[str]:
        """Return the candidates' opponents, as agents."""
        start = agent_of(self.given, self.nodes)
        return [start if text == START else text for text in self.against]

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return {**asdict(self), "against": list(self.against), "sprt": list(self.sprt)}


def agent_of(expression: Expression, nodes: int) -> str:
    """Return the string of the agent that searches `nodes` nodes with a sum as its heuristic."""
    return f"id({expression}, nodes={nodes})"


def version() -> str:
    """Return the version of everything that determines the result."""
    from importlib.metadata import version as installed

    from knightfall.kernel.source_hashes import hash_of

    tuning = hash_of("knightfall.learning.tuning", within="knightfall.learning")
    return f"{engine()}+{tuning}+cmaes {installed('cmaes')}"


def _nodes(name: str, amount: int) -> int:
    try:
        budget = parse_budget({"nodes": str(amount)})
    except KnightfallError as error:
        raise KnightfallError(f"{name}={amount}: {error}") from None
    assert budget.nodes is not None
    return budget.nodes


def _within(name: str, value: int, least: int, most: int, where: str = "") -> None:
    if not least <= value <= most:
        raise KnightfallError(f"{name}={value} must be from {least} to {most:,}{where}")


def _opponent(text: str) -> str:
    """Return an opponent's full string; refuse one with a clock, whose games are not repeatable."""
    if text == START:
        return text
    full = enter([text])[0].agent
    if cached_agent(full).timed:
        raise KnightfallError(
            f"opponent {text!r} uses a clock, so the tuning could not be repeated: give it nodes"
        )
    return full


# -- where games begin -------------------------------------------------------------------------


@dataclass(frozen=True)
class Starts:
    """The start positions of games, as FENs: some to tune on, others to confirm with."""

    tuning: tuple[str, ...]
    confirmation: tuple[str, ...]

    def of_generation(self, number: int, pairs: int, seed: int) -> list[str]:
        """Return a generation's `pairs` start positions: the next ones in a shuffled order."""
        found: list[str] = []
        at = number * pairs
        while len(found) < pairs:
            turn, place = divmod(at + len(found), len(self.tuning))
            order = shuffled(self.tuning, seed, turn)
            found += order[place : place + pairs - len(found)]
        return found


@lru_cache(maxsize=4)
def starts(board: Board) -> Starts:
    """Return the start positions of tuning games on a board; they are the same for every seed."""
    found: list[Position] = []
    held: list[bool] = []
    for (mover, waiter), split in zip(classes(board), class_splits(board).tolist(), strict=True):
        everywhere = frozenset(range(board.cells))
        opening = Position(board, everywhere - {mover, waiter}, mover, waiter, "w")
        for one in _beginning(opening):
            found.append(one)
            held.append(split != 0)
    open, movers, waiters = zip(*(words(one) for one in found), strict=True)
    cells = np.array(open, np.uint64), np.array(movers, np.uint8), np.array(waiters, np.uint8)
    once = kept(keys(board, *canonical_forms(board, *cells)), np.array(held, np.uint8))
    parts: dict[bool, list[str]] = {False: [], True: []}
    for one, is_held, stays in zip(found, held, once.tolist(), strict=True):
        if stays:
            parts[is_held].append(one.fen)
    if not all(parts.values()):
        raise KnightfallError(
            f"board {board.text} has too few openings for separate tuning and confirmation"
        )
    return Starts(tuple(parts[False]), tuple(parts[True]))


def _beginning(opening: Position) -> Iterator[Position]:
    """Yield an opening and all positions after one move of each side, without finished games."""
    if opening.winner is not None:
        return
    yield opening
    for move in opening.legal_moves:
        between = opening.play(move)
        for reply in between.legal_moves:
            after = between.play(reply)
            if after.winner is None:
                yield after


def sample(tuning: tuple[str, ...], seed: int) -> list[Position]:
    """Return positions of all phases, reached by random moves from the start positions `tuning`."""
    rng = random.Random(f"sizes {seed}")
    found: list[Position] = []
    while len(found) < SAMPLE:
        position = Position.from_fen(rng.choice(tuning))
        line = [position]
        while line[-1].winner is None:
            line.append(line[-1].play(rng.choice(line[-1].legal_moves)))
        found.append(rng.choice(line[:-1]))
    return found
