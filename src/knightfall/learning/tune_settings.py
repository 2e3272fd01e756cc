"""What a tuning is asked: from this all of it follows, to the bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from knightfall.agents import known_agent
from knightfall.arena.plan import enter, files_of
from knightfall.arena.version import engine
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression, parse_heuristic
from knightfall.learning.start_positions import Starts, starts
from knightfall.learning.weights import read_sum, written
from knightfall.search.budget import Budget, parse_budget
from knightfall.statistics.sprt import Sprt

START = "start"
"""The weights as given, where an opponent is named."""

NODES, TIMES = 2500, 4
"""The budget, and by how much the second one is larger unless it is named."""
GENERATIONS, POPULATION, PAIRS, STEP = 20, 12, 100, 0.5
GAIN = (0.0, 30.0)
"""The gains, in normalized Elo, that a confirmation decides between."""

MOST_GENERATIONS, LEAST_POPULATION, MOST_POPULATION, LARGEST_STEP = 10_000, 4, 1000, 10.0


@dataclass(frozen=True)
class TuneSettings:
    """What was asked for, and the version that does it."""

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
        """TuneSettings that make sense, for this version."""
        found = read_sum(expression)
        first = _nodes("nodes", nodes)
        other = _nodes("second", TIMES * nodes if second is None else second)
        if first == other:
            raise KnightfallError(
                f"second={second} is the budget that is tuned at: it must be another one"
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
        """The sum as it was given."""
        return parse_heuristic(self.expression)

    @property
    def starts(self) -> Starts:
        """Where games begin."""
        return starts(Board.named(self.board))

    @property
    def opponents(self) -> list[str]:
        """Whom candidates meet, as agents."""
        start = agent_of(self.given, self.nodes)
        return [start if text == START else text for text in self.against]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "against": list(self.against), "sprt": list(self.sprt)}


def agent_of(expression: Expression, nodes: int) -> str:
    """The agent that plays a sum."""
    return f"id({expression}, nodes={nodes})"


def version() -> str:
    """Return the version of everything that decides what is found."""
    from importlib.metadata import version as installed

    from knightfall.kernel.sources import hash_of

    tuning = hash_of("knightfall.learning.tuning", within="knightfall.learning")
    return f"{engine()}+{tuning}+cmaes {installed('cmaes')}"


def difference(here: dict[str, Any], wanted: TuneSettings) -> str:
    """In words, how the settings of a folder differ from those wanted; empty if they do not."""
    now = wanted.to_json()
    told = []
    for name, value in now.items():
        if here.get(name) == value:
            continue
        if name == "files":
            edited = sorted(
                path
                for path in {*value, *here.get(name, {})}
                if value.get(path) != here.get(name, {}).get(path)
            )
            told.append(f"{', '.join(edited)} was edited")
        else:
            told.append(f"{name} {_said(here.get(name))}, not {_said(value)}")
    return "; ".join(told)


def _said(value: Any) -> str:
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
    """An opponent in full; one that plays by the clock would play otherwise the next time."""
    if text == START:
        return text
    full = enter([text])[0].agent
    if known_agent(full).timed:
        raise KnightfallError(
            f"against {text!r} plays by the clock, and no tuning could be repeated: give it nodes"
        )
    return full
