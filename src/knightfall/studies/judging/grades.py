"""The oracle's grade of every heuristic, kept so that none is computed twice.

A grade needs no opponent: the heuristic's agent plays itself at equal nodes, and the solver counts
how often it keeps a won position won where it had a real choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from knightfall.arena.plan.version import engine
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, data_folder
from knightfall.reading import parse_json, read_text
from knightfall.shape import Between, Whole, check
from knightfall.studies.published.published import agent_of

OPENINGS = 100


@dataclass(frozen=True)
class HeuristicGrade:
    """How often a heuristic keeps the win, in %, ± its 95 % error, over so many real choices."""

    heuristic: str
    kept: float
    error: float
    choices: int
    seconds: float
    """What it took to find out."""


def grades(
    heuristics: Sequence[str],
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    workers: int = 1,
    told: Callable[[int], None] = lambda done: None,
) -> list[HeuristicGrade]:
    """The grades of some heuristics in the order given; `told` hears how many are there."""
    kept = _GradesFile(openings, seed)
    missing = [id for id in heuristics if id not in kept]
    told(len(heuristics) - len(missing))
    for done, grade in enumerate(_graded(missing, openings, seed, workers), 1):
        kept.add(grade)
        told(len(heuristics) - len(missing) + done)
    return [kept[id] for id in heuristics]


def missing_grades(heuristics: Sequence[str], openings: int = OPENINGS, seed: int = 0) -> int:
    """How many of them are still to be computed."""
    kept = _GradesFile(openings, seed)
    return sum(id not in kept for id in heuristics)


# -- computing -----------------------------------------------------------------------------


def grade_of(heuristic: str, openings: int, seed: int) -> HeuristicGrade:
    """The grade of one heuristic, computed here and now."""
    from knightfall.oracle.grade import grade
    from knightfall.statistics.rates import Z

    found = grade(agent_of(heuristic), openings=openings, seed=seed, progress=False)
    if found.partial:
        raise KeyboardInterrupt
    overall = found.keeping["overall"]
    low, high = overall.kept.interval
    error = (high - low) / 2 if not overall.error else Z * overall.error
    return HeuristicGrade(
        heuristic,
        kept=100 * (overall.kept.rate or 0.0),
        error=100 * error,
        choices=overall.kept.of,
        seconds=round(found.seconds, 1),
    )


def _graded(
    heuristics: Sequence[str], openings: int, seed: int, workers: int
) -> Iterator[HeuristicGrade]:
    if workers < 2 or len(heuristics) < 2:
        yield from (grade_of(id, openings, seed) for id in heuristics)
        return
    from knightfall.arena.runners.calls import Calls
    from knightfall.arena.runners.worker import Job
    from knightfall.arena.runners.workers import Workers

    one = partial(grade_of, openings=openings, seed=seed)
    with Workers(min(workers, len(heuristics)), Job(_begin)) as crew:
        # In any order: each is kept as soon as it is there.
        for _, grade in crew.do(Calls(one, heuristics, lambda id: f"the grade of {id}")):
            yield grade


def _begin() -> None:
    """What a process of its own does first: import what takes a while."""
    from knightfall.oracle import grade as grade


# -- keeping -------------------------------------------------------------------------------


_GRADE = {
    "heuristic": str,
    "kept": Between(0, 100),
    "error": Between(0, 100),
    "choices": Whole(),
    "seconds": Between(0, 1e9),
}


class _GradesFile:
    """A file in the data folder, by agent, engine, openings and seed."""

    def __init__(self, openings: int, seed: int) -> None:
        self.path = data_folder() / "grades.json"
        self._key = f"{engine()}/{openings}/{seed}"
        self._all: dict[str, dict[str, HeuristicGrade]] = {}
        try:
            kept = parse_json(read_text(self.path))
            check({str: {str: _GRADE}}, kept)
        except KnightfallError:
            return  # nothing kept, or nothing that can be used: it is computed anew
        for key, rows in kept.items():
            self._all[key] = {agent: HeuristicGrade(**row) for agent, row in rows.items()}

    def __contains__(self, heuristic: str) -> bool:
        return agent_of(heuristic) in self._all.get(self._key, {})

    def __getitem__(self, heuristic: str) -> HeuristicGrade:
        return self._all[self._key][agent_of(heuristic)]

    def add(self, grade: HeuristicGrade) -> None:
        """Keep a grade; whoever reads the file sees all of it or what was there before."""
        self._all.setdefault(self._key, {})[agent_of(grade.heuristic)] = grade
        rows = {
            key: {agent: asdict(row) for agent, row in sorted(of_key.items())}
            for key, of_key in self._all.items()
        }
        atomic_write(self.path, json.dumps(rows, indent=1))
