"""Measure the cost of each step of a student's search: ``python -m benchmarks.costs.students``.

A search on the course's board pays for four things: a forecast, a list of moves, a call of the
search itself, and an evaluation. Each is timed alone, on the course's first board (`early`) and on
its last (`later`). A list of moves has a fixed cost and a cost per move; an evaluation a fixed
cost, a cost per open cell and a cost per move of either player. Finally some whole searches are
compared with the sum of their steps.

All jobs alternate, and the fastest of many rounds counts: on a shared machine a slow period lasts
for seconds and would hit whatever is timed alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.position import Position
from knightfall.studies import node_costs
from knightfall.studies.node_costs import BOARDS, STUDENT_FILE, StudentCosts

from ..course_board import CourseBoard, Score, set_up
from ..early_board import EarlyBoard
from ..measure import no_collection
from .measure import PLAYING_OUT
from .student_record import as_toml
from .student_scores import AS_WRITTEN, PLAYED_OUT_BELOW
from .student_search import Counts, Paper, StudentSearch, leaves

ROUNDS = 20
TIMES = 3
"""Repetitions of a short step in one timing."""

MANY = 100
"""Repetitions of calls that take almost no time."""

FEW_ROUNDS, FEW = 3, 16
"""For heuristics that play out whole games: the rounds, and the stride through the positions."""

KINDS = {"early": EarlyBoard, "later": CourseBoard}

WHOLE = ("null", "improved", "weighted_difference", "static_reach(1/10)", "bfs_reach", "main")
DEPTH = 3
"""The depth to which whole searches with the heuristics of `WHOLE` are timed."""


@dataclass(frozen=True)
class Fit:
    """The fitted cost of an evaluation in nanoseconds, and the relative error of the fit."""

    score: int
    open: int
    move: int
    residual: float
    mean: float
    """Mean cost over the timed positions."""


@dataclass(frozen=True)
class BoardCosts:
    """The costs on one board; `whole` is the time of whole searches ÷ the sum of their steps."""

    forecast: int
    listing: int
    per_move: int
    call: int
    whole: float
    scores: Mapping[str, Fit]


# -- timing ----------------------------------------------------------------------------------


@dataclass
class Job:
    """A piece of work to time, and the nanoseconds of its fastest turn."""

    work: Callable[[], object]
    times: int = TIMES
    best: float = float("inf")


def time_all(
    jobs: Sequence[Job], rounds: int, told: Callable[[int], None] = lambda _: None
) -> None:
    """Time the jobs in turns, without the cost of the clock itself."""
    clock = time.perf_counter_ns
    own = min(-clock() + clock() for _ in range(1000))
    with no_collection():
        for round in range(rounds):
            for job in jobs:
                work, times = job.work, range(job.times)
                start = clock()
                for _ in times:
                    work()
                job.best = min(job.best, (clock() - start - own) / job.times)
            told(round + 1)


def fitted(columns: Sequence[Sequence[float]], costs: Sequence[float]) -> tuple[list[int], float]:
    """Fit nonnegative unit costs of the columns; return them and the relative error."""
    from scipy.optimize import nnls  # slow to import

    matrix = np.column_stack([np.asarray(column, float) for column in columns])
    target = np.asarray(costs, float)
    weights, _ = nnls(matrix, target)
    error = float(np.sqrt(np.mean((matrix @ weights - target) ** 2)) / np.mean(target))
    return [round(weight) for weight in weights], error


# -- the steps -------------------------------------------------------------------------------


class CallJobs:
    """Jobs that measure a call of the search with its clock reading, on a stub board that does no
    work.
    """

    def __init__(self, depth: int = 5) -> None:
        self.paper, self.depth = Paper(), depth
        self.search = StudentSearch(Paper.score)
        self.whole = Job(partial(self.search.value, self.paper, depth), 1)
        self.forecast = Job(partial(self.paper.forecast_move, (0, 0)), MANY)
        self.listing = Job(self.paper.get_legal_moves, MANY)
        self.score = Job(partial(Paper.score, self.paper, self.search), MANY)
        self.all = [self.whole, self.forecast, self.listing, self.score]

    def cost(self) -> int:
        """Return the nanoseconds of a call, without the stub board's methods."""
        counted = self.search.count(self.paper, self.depth)
        board = self.forecast.best * counted.forecasts + self.listing.best * counted.listings
        board += self.score.best * counted.scores
        return max(0, round((self.whole.best - board) / counted.calls))


class BoardJobs:
    """All jobs on one kind of board."""

    def __init__(
        self, kind: type[Any], positions: Sequence[Position], scores: Mapping[str, Score]
    ) -> None:
        self.kind, self.scores = kind, scores
        boards = [set_up(kind, position, object()) for position in positions]
        self.found = [len(board.get_legal_moves()) for board in boards]
        self.listing = [Job(board.get_legal_moves) for board in boards]
        self.forecast = [
            Job(partial(board.forecast_move, board.get_legal_moves()[0])) for board in boards
        ]
        self.evaluated = {
            id: [
                position
                for position in positions[:: FEW if id in PLAYING_OUT else 1]
                if len(position.open) >= PLAYED_OUT_BELOW.get(id, 0) * position.board.cells
            ]
            for id in scores
        }
        self.score = {id: self._evaluations(id) for id in scores}
        self.searched = positions[::FEW]
        self.whole = {id: self._searches(id) for id in WHOLE if id in scores}

    def _evaluations(self, id: str) -> list[Job]:
        """Return jobs that evaluate each position for the player to move and the other."""
        boards = [set_up(self.kind, position, object()) for position in self.evaluated[id]]
        return [
            Job(partial(self.scores[id], board, player), 1 if id in PLAYING_OUT else TIMES)
            for board in boards
            for player in (board.active_player, board.inactive_player)
        ]

    def _searches(self, id: str) -> list[Job]:
        searches = [StudentSearch(self.scores[id]) for _ in self.searched]
        boards = [
            set_up(self.kind, position, search)
            for position, search in zip(self.searched, searches, strict=True)
        ]
        return [
            Job(partial(search.value, board, DEPTH), 1)
            for search, board in zip(searches, boards, strict=True)
        ]

    def jobs(self, *, playing_out: bool) -> list[Job]:
        """Return the jobs that play out whole games, which are timed seldom, or all others."""
        evaluations = [
            job
            for id, jobs in self.score.items()
            if (id in PLAYING_OUT) == playing_out
            for job in jobs
        ]
        if playing_out:
            return evaluations
        searches = [job for jobs in self.whole.values() for job in jobs]
        return [*self.forecast, *self.listing, *evaluations, *searches]

    def costs(self, call: int) -> BoardCosts:
        """Return the costs computed from the fastest run of each job."""
        forecast = round(sum(job.best for job in self.forecast) / len(self.forecast))
        ones = [1] * len(self.found)
        lists = [job.best for job in self.listing]
        (listing, per_move), _ = fitted([ones, self.found], lists)
        scores = {id: self._fit(id) for id in self.scores}
        steps = (forecast, listing, per_move, call)
        return BoardCosts(*steps, self._whole(steps, scores), scores)

    def _fit(self, id: str) -> Fit:
        columns = [
            (1, len(position.open), sum(len(position.targets(side)) for side in ("w", "b")))
            for position in self.evaluated[id]
            for _ in range(2)
        ]
        best = [job.best for job in self.score[id]]
        (score, open, move), error = fitted(list(zip(*columns, strict=True)), best)
        return Fit(score, open, move, error, sum(best) / len(best))

    def _whole(self, steps: tuple[int, int, int, int], scores: Mapping[str, Fit]) -> float:
        """Return the time of whole searches ÷ that of their steps, averaged over heuristics."""
        ratios = []
        for id, jobs in self.whole.items():
            fit = scores[id]
            costs = StudentCosts(*steps, fit.score, fit.open, fit.move)
            added_up = 0
            for position in self.searched:
                search = StudentSearch(self.scores[id])
                counts = search.count(set_up(self.kind, position, search), DEPTH)
                added_up += model(costs, counts)
            ratios.append(sum(job.best for job in jobs) / added_up)
        return sum(ratios) / len(ratios)


def model(costs: StudentCosts, counts: Counts) -> int:
    """Return the cost of a search by its steps, in nanoseconds."""
    return (
        costs.forecast * counts.forecasts
        + costs.listing * counts.listings
        + costs.per_move * counts.listed
        + costs.call * counts.calls
        + costs.score * counts.scores
        + costs.score_open * counts.open
        + costs.score_move * counts.moves
    )


def measured(
    positions: Sequence[Position],
    scores: Mapping[str, Score] = AS_WRITTEN,
    rounds: int = ROUNDS,
    told: Callable[[int], None] = lambda _: None,
) -> dict[str, BoardCosts]:
    """Measure all costs on both boards."""
    call = CallJobs()
    boards = {name: BoardJobs(KINDS[name], positions, scores) for name in BOARDS}
    often = [job for board in boards.values() for job in board.jobs(playing_out=False)]
    time_all([*call.all * MANY, *often], rounds, told)
    seldom = [job for board in boards.values() for job in board.jobs(playing_out=True)]
    time_all(seldom, min(rounds, FEW_ROUNDS))
    each = call.cost()
    return {name: board.costs(each) for name, board in boards.items()}


def main() -> None:
    """Measure the costs and write the file; takes some two minutes."""
    positions = leaves()
    found = measured(
        positions,
        told=lambda round: print(f"round {round} of {ROUNDS}", file=sys.stderr, flush=True),
    )
    text = as_toml(found, len(positions), ROUNDS)
    (Path(node_costs.__file__).parent / "data" / STUDENT_FILE).write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
