"""From a run in the store to numbers: rates with their intervals, and arrays to judge claims by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.arena.store.run import Run
from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.statistics import pairs as statistics
from knightfall.statistics.rates import Share
from knightfall.studies.conditions.likelihood import Prediction, predicted
from knightfall.studies.judging.comparisons import PairScores


@dataclass(frozen=True)
class Rate:
    """A win rate in % with its 95 % interval, and the games behind it."""

    rate: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.rate:.1f} ({self.low:.1f}–{self.high:.1f})"

    @property
    def reach(self) -> float:
        """How far the interval goes to the farther side."""
        return max(self.high - self.rate, self.rate - self.low)


@dataclass(frozen=True)
class Gap:
    """By how many points a heuristic is ahead of `improved`, with the 95 % interval."""

    points: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{signed(self.points, 1)} ({signed(self.low, 1)} to {signed(self.high, 1)})"


def rate_of_pairs(scores: npt.NDArray[np.int8]) -> Rate:
    """The rate of pair scores 0, 1 and 2."""
    lost, split, won = (int((scores == score).sum()) for score in range(3))
    found = statistics.of_pairs((lost, 0, split, 0, won))
    return Rate(100 * found.score, 100 * found.low, 100 * found.high, 2 * found.units)


def rate_of_games(won: float, games: int) -> Rate:
    """The rate of games of which no pairs are known: all are taken for independent.

    What was rounded in print need not be a whole number of games.
    """
    low, high = Share(round(won), games).interval
    shift = (won - round(won)) / games
    low, high = max(0.0, low + shift), min(1.0, high + shift)
    return Rate(100 * won / games, 100 * low, 100 * high, games)


@dataclass(frozen=True)
class Tournament:
    """A study's tournament at one budget.

    `scores` has a place for each test agent, opponent and opening: the games won of the pair, 0, 1
    or 2.  The same place of two test agents is the same opponent and the same opening.
    """

    heuristics: tuple[str, ...]
    opponents: tuple[str, ...]
    scores: npt.NDArray[np.int8]
    forfeits: npt.NDArray[np.float64]
    """The share of its games against an opponent that a test agent gave up, in %,"""
    conceded: npt.NDArray[np.float64]
    """and of those that the opponent gave up."""
    nodes: npt.NDArray[np.float64]
    """How many nodes a test agent searched for a move, on average."""

    def prediction(self) -> Prediction:
        """What these games say of the results of a few others."""
        return predicted(self.heuristics, self.opponents, self.scores)

    def against(self, heuristic: str) -> list[Rate]:
        """How a heuristic fared against each opponent."""
        return [rate_of_pairs(row) for row in self.scores[self.heuristics.index(heuristic)]]

    def total(self, heuristic: str) -> Rate:
        """How it fared against all of them."""
        return rate_of_pairs(self.scores[self.heuristics.index(heuristic)])

    def ahead(self, heuristic: str) -> Gap:
        """How far it is ahead of the first test agent, on the same openings."""
        means = self.scores.mean(axis=1) / 2
        found = statistics.difference(list(means[self.heuristics.index(heuristic)]), list(means[0]))
        return Gap(100 * found.mean, 100 * found.low, 100 * found.high)

    @property
    def measured(self) -> dict[str, PairScores]:
        """What `claims.judge` wants: opponents × openings for each heuristic, from 0 to 1."""
        return {id: self.scores[at] / 2 for at, id in enumerate(self.heuristics)}


def tournament_of(run: Run) -> Tournament:
    """The results of a run that is over."""
    plan = run.plan
    tests = int(plan.options["tests"])
    names = [entrant.name for entrant in plan.entrants]
    table = _whole(run)
    scores = np.zeros((tests, len(names) - tests, len(table)), np.int8)
    for column, match in enumerate(plan.matches):
        scores[match.a, match.b - tests] = table[:, column]
    forfeits, conceded = np.zeros(scores.shape[:2]), np.zeros(scores.shape[:2])
    moves, nodes = np.zeros(tests), np.zeros(tests)
    for found in run.sums():
        match = plan.matches[found.match]
        forfeits[match.a, match.b - tests] = 100 * found.forfeits / found.games
        conceded[match.a, match.b - tests] = 100 * found.conceded / found.games
        moves[match.a] += found.moves
        nodes[match.a] += found.nodes
    searched = nodes / np.maximum(moves, 1)
    return Tournament(
        tuple(names[:tests]), tuple(names[tests:]), scores, forfeits, conceded, searched
    )


def given_up(tournament: Tournament) -> Share:
    """How many of all their games the test agents gave up."""
    games = 2 * tournament.scores.size
    return Share(round(float(tournament.forfeits.mean()) / 100 * games), games)


def head_to_head(runs: Sequence[Run]) -> dict[str, PairScores]:
    """Results of the same two agents in several matches: a row for each match."""
    names = [entrant.name for entrant in runs[0].plan.entrants]
    first = np.hstack([_whole(run) for run in runs]).T / 2
    return {names[0]: first, names[1]: 1 - first}


def depths_of(run: Run) -> dict[str, PairScores]:
    """Tens of plies that each test agent searched for a move: opponents × openings.

    A pair in which it made no move counts as the average.
    """
    plan = run.plan
    tests = int(plan.options["tests"])
    table = run.depths().reshape(-1, len(plan.matches)) / 10
    table = np.where(np.isnan(table), np.nanmean(table), table)
    found: dict[str, PairScores] = {}
    for at, entrant in enumerate(plan.entrants[:tests]):
        columns = [number for number, match in enumerate(plan.matches) if match.a == at]
        found[entrant.name] = table[:, columns].T
    return found


def _whole(run: Run) -> npt.NDArray[np.int8]:
    """All pairs: a row for each round, a column for each match."""
    scores = run.outcomes().scores
    if len(scores) != run.plan.total:
        raise KnightfallError(f"run {run.id} is not over: {len(scores)} of {run.plan.total} pairs")
    return scores.reshape(-1, len(run.plan.matches))


@dataclass(frozen=True)
class Rating:
    """A heuristic's place in a league: Elo above `improved`, ± 95 %, and its win rate in %."""

    heuristic: str
    elo: float
    error: float
    rate: float
    games: int


def ratings_of(run: Run) -> list[Rating]:
    """The league's ratings, the best first."""
    from knightfall.statistics import ratings

    plan, table = run.plan, _whole(run)
    firsts = run.outcomes().firsts.reshape(table.shape)
    outcome = np.where(table == 1, 1 + firsts, np.where(table == 2, ratings.WW, ratings.LL))
    pairs = ratings.Pairs(
        a=np.tile([match.a for match in plan.matches], len(table)),
        b=np.tile([match.b for match in plan.matches], len(table)),
        outcome=outcome.ravel().astype(np.int64),
    )
    found = ratings.of_pairs(len(plan.entrants), pairs).anchored(0)
    won = _won(table, [(match.a, match.b) for match in plan.matches], len(plan.entrants))
    games = 2 * len(table) * (len(plan.entrants) - 1)
    rows = [
        Rating(entrant.name, float(found.elo[at]), found.error(at), 100 * won[at] / games, games)
        for at, entrant in enumerate(plan.entrants)
    ]
    return sorted(rows, key=lambda row: -row.elo)


def _won(
    table: npt.NDArray[np.int8], couples: Sequence[tuple[int, int]], entrants: int
) -> list[int]:
    """The games each entrant won."""
    won = [0] * entrants
    for (a, b), of_a in zip(couples, table.sum(axis=0, dtype=int), strict=True):
        won[a] += int(of_a)
        won[b] += 2 * len(table) - int(of_a)
    return won
