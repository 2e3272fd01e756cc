"""Use the exact solver to judge heuristics: grades in play, and choices of single moves.

For a grade the heuristic's agent plays itself at equal nodes, and the solver counts how often it
keeps a won position won where it has a real choice. Grades are stored, so none is computed twice.

Choices are compared in the same positions for all heuristics. Each position comes from a random
game of its own, is won for the side to move, and has both winning and losing moves. A heuristic
chooses by a search of one ply, so that its judgement counts and not the search.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from random import Random

import numpy as np

from knightfall.agents import parse_agent
from knightfall.arena.engine_version import engine
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, parallel_map
from knightfall.openings import openings, shuffled
from knightfall.oracle.graded_games import PHASES, Phase, phase_of
from knightfall.position import Position
from knightfall.solver.solve import Solver
from knightfall.studies.comparisons import PairScores
from knightfall.studies.published import CHANCE, Study, agent_of
from knightfall.untrusted_input import Between, Whole, check, parse_json, read_text
from knightfall.user_folders import atomic_write, data_folder

# -- grades --------------------------------------------------------------------------------


OPENINGS = 100


@dataclass(frozen=True)
class HeuristicGrade:
    """How often a heuristic keeps the win, in % with its 95 % error, over its real choices."""

    heuristic: str
    kept: float
    error: float
    choices: int
    seconds: float
    """The time it took to compute."""


def grades(
    heuristics: Sequence[str],
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    options: RunnerOptions = DEFAULT,
    progress: Callable[[int], None] = lambda done: None,
) -> list[HeuristicGrade]:
    """Return the grades of heuristics in order; `progress` gets the number of finished grades."""
    kept = _GradesFile(openings, seed)
    missing = [id for id in heuristics if id not in kept]
    progress(len(heuristics) - len(missing))
    found = parallel_map(
        partial(_grader, openings, seed),
        missing,
        options,
        describe=lambda id: f"the grade of {id}",
    )
    for done, (_, grade) in enumerate(found, 1):
        kept.add(grade)  # store each grade at once, in any order
        progress(len(heuristics) - len(missing) + done)
    return [kept[id] for id in heuristics]


def missing_grades(heuristics: Sequence[str], openings: int = OPENINGS, seed: int = 0) -> int:
    """Return how many grades are still to be computed."""
    kept = _GradesFile(openings, seed)
    return sum(id not in kept for id in heuristics)


# -- computing -----------------------------------------------------------------------------


def grade_of(heuristic: str, openings: int, seed: int) -> HeuristicGrade:
    """Compute the grade of one heuristic in this process."""
    from knightfall.oracle.grade import grade
    from knightfall.statistics.rates import Z

    found = grade(agent_of(heuristic), openings=openings, seed=seed, progress=False)
    if found.partial:
        raise KeyboardInterrupt
    overall = found.wins_kept["overall"]
    low, high = overall.kept.interval
    error = (high - low) / 2 if not overall.error else Z * overall.error
    return HeuristicGrade(
        heuristic,
        kept=100 * (overall.kept.rate or 0.0),
        error=100 * error,
        choices=overall.kept.of,
        seconds=round(found.seconds, 1),
    )


def _grader(openings: int, seed: int) -> Callable[[str], HeuristicGrade]:
    """Import what grading needs; return the function that grades a heuristic."""
    from knightfall.oracle import grade as grade

    return partial(grade_of, openings=openings, seed=seed)


# -- storing grades ------------------------------------------------------------------------


_GRADE = {
    "heuristic": str,
    "kept": Between(0, 100),
    "error": Between(0, 100),
    "choices": Whole(),
    "seconds": Between(0, 1e9),
}


class _GradesFile:
    """The file in the data folder that stores grades by agent, engine, openings and seed."""

    def __init__(self, openings: int, seed: int) -> None:
        self.path = data_folder() / "grades.json"
        self._key = f"{engine()}/{openings}/{seed}"
        self._all: dict[str, dict[str, HeuristicGrade]] = {}
        try:
            kept = parse_json(read_text(self.path))
            check({str: {str: _GRADE}}, kept)
        except KnightfallError:
            return  # missing or unusable: the grades are computed again
        for key, rows in kept.items():
            self._all[key] = {agent: HeuristicGrade(**row) for agent, row in rows.items()}

    def __contains__(self, heuristic: str) -> bool:
        return agent_of(heuristic) in self._all.get(self._key, {})

    def __getitem__(self, heuristic: str) -> HeuristicGrade:
        return self._all[self._key][agent_of(heuristic)]

    def add(self, grade: HeuristicGrade) -> None:
        """Store a grade. The file is replaced atomically."""
        self._all.setdefault(self._key, {})[agent_of(grade.heuristic)] = grade
        rows = {
            key: {agent: asdict(row) for agent, row in sorted(of_key.items())}
            for key, of_key in self._all.items()
        }
        atomic_write(self.path, json.dumps(rows, indent=1))


# -- choices -------------------------------------------------------------------------------


POSITIONS = 300
"""Default number of positions with a real choice in each phase."""

Choices = Mapping[str, Mapping[str, PairScores]]
"""By phase, then by heuristic: one row with 1 for each position whose win is kept and 0 for each
that is lost. `CHANCE` has the share of winning moves among the legal ones instead.
"""


@dataclass(frozen=True)
class ChoicePosition:
    """A position with a real choice, and the moves that keep its win."""

    position: Position
    winning: tuple[str, ...]

    @property
    def chance(self) -> float:
        """Return the probability that a random legal move keeps the position won."""
        return len(self.winning) / len(self.position.legal_moves)


def choosing_heuristics(studies: Sequence[Study]) -> tuple[str, ...]:
    """Return the heuristics that any claim compares by their choices of single moves."""
    claims = [claim for study in studies for claim in study.claims if claim.measure == "choices"]
    named = [id for claim in claims for id in (*claim.who, *claim.than) if id != CHANCE]
    return tuple(dict.fromkeys(named))


def choices(
    heuristics: Sequence[str],
    positions: int = POSITIONS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Choices:
    """Return which real choices every heuristic gets right, in `positions` positions per phase."""
    agents = {id: parse_agent(f"id({id}, depth=1, plain)") for id in heuristics}
    found: dict[str, dict[str, PairScores]] = {}
    for number, phase in enumerate(PHASES):
        asked = list(choice_positions(phase, positions, seed))
        found[phase] = {CHANCE: np.array([[one.chance for one in asked]])}
        for id, agent in agents.items():
            kept = [agent.analyse(one.position).move in one.winning for one in asked]
            found[phase][id] = np.array([kept], float)
        progress(number + 1)
    return found


def choice_positions(phase: Phase, number: int, seed: int) -> Iterator[ChoicePosition]:
    """Yield random positions of a phase with a real choice; the seed determines them."""
    board = Board.of(7, 7)
    truth, found = Solver.of(board), 0
    starts = shuffled(openings(board), seed)
    rng = Random(f"{phase}/{seed}")
    while found < number:
        position = _random_position(Position.from_fen(rng.choice(starts)), phase, rng)
        if position is None or len(position.legal_moves) < 2:
            continue
        winning = truth.winning_moves(position)
        if 0 < len(winning) < len(position.legal_moves):
            found += 1
            yield ChoicePosition(position, winning)


def _random_position(start: Position, phase: Phase, rng: Random) -> Position | None:
    """Return a position of a phase in a random game; None if the game does not reach one."""
    cells = start.board.cells
    first, last = {"opening": (2, cells // 3), "middle": (cells // 3, 2 * cells // 3)}.get(
        phase, (2 * cells // 3, cells - 6)
    )
    position, wanted = start, rng.randint(first, last)
    while cells - len(position.open) < wanted or phase_of(position) != phase:
        later = PHASES.index(phase_of(position)) > PHASES.index(phase)
        if position.winner is not None or later:
            return None
        position = position.play(rng.choice(position.legal_moves))
    return position if position.winner is None else None
