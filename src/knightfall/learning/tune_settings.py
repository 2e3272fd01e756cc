"""The settings of a tuning, which determine its result, and the positions its games begin from.

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
from functools import lru_cache
from typing import Any

import numpy as np

from knightfall.agents import cached_agent
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import enter, files_of
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression, parse_heuristic
from knightfall.kernel.rules import words
from knightfall.learning.split import canonical_forms, class_splits, classes, kept, keys
from knightfall.learning.weight_vectors import read_sum, written
from knightfall.openings import shuffled
from knightfall.position import Position
from knightfall.search.budget import Budget, parse_budget
from knightfall.statistics.sprt import Sprt

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


def difference(here: dict[str, Any], wanted: TuneSettings) -> str:
    """Describe how a folder's settings differ from the wanted ones; empty if they are equal."""
    now = wanted.to_json()
    changes = []
    for name, value in now.items():
        if here.get(name) == value:
            continue
        if name == "files":
            edited = sorted(
                path
                for path in {*value, *here.get(name, {})}
                if value.get(path) != here.get(name, {}).get(path)
            )
            changes.append(f"{', '.join(edited)} was edited")
        else:
            changes.append(f"{name} {_shown(here.get(name))}, not {_shown(value)}")
    return "; ".join(changes)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
    return str(value)


def _nodes(name: str, amount: int) -> int:
    try:
        budget: Budget = parse_budget({"nodes": str(amount)})
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
