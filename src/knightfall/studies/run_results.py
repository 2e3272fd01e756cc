"""Turn stored runs into numbers: rates with intervals, and arrays to judge claims by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from knightfall.arena.results import results
from knightfall.arena.store import Run
from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.statistics import pairs as statistics
from knightfall.statistics.pairs import difference, holm
from knightfall.statistics.rates import Share, Z
from knightfall.studies.comparisons import PairScores, signed_interval
from knightfall.studies.plans import SWEEP_TIMES
from knightfall.studies.playing_conditions import Prediction, predict


@dataclass(frozen=True)
class WinRate:
    """A win rate in % with its 95 % interval, and the games behind it."""

    rate: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.rate:.1f} ({self.low:.1f}–{self.high:.1f})"

    @property
    def reach(self) -> float:
        """Return the distance to the farther end of the interval."""
        return max(self.high - self.rate, self.rate - self.low)


@dataclass(frozen=True)
class Lead:
    """A heuristic's lead over `improved` in points, with the 95 % interval."""

    points: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{signed(self.points, 1)} {signed_interval(self.low, self.high)}"


def rate_of_pairs(scores: npt.NDArray[np.int8]) -> WinRate:
    """Return the win rate, with interval, of pairs in which 0, 1 or 2 games were won."""
    lost, split, won = (int((scores == score).sum()) for score in range(3))
    found = statistics.of_pairs((lost, 0, split, 0, won))
    return WinRate(100 * found.score, 100 * found.low, 100 * found.high, 2 * found.units)


def rate_of_games(won: float, games: int) -> WinRate:
    """Return the win rate, with interval, of games that are assumed to be independent.

    `won` need not be whole, because published rates are rounded.
    """
    low, high = Share(round(won), games).interval
    shift = (won - round(won)) / games
    low, high = max(0.0, low + shift), min(1.0, high + shift)
    return WinRate(100 * won / games, 100 * low, 100 * high, games)


@dataclass(frozen=True)
class Tournament:
    """A study's tournament at one budget.

    `scores` is indexed by test agent, opponent and opening: the games won of the pair, 0, 1 or 2.
    The same index for two test agents is the same opponent and the same opening.
    """

    heuristics: tuple[str, ...]
    opponents: tuple[str, ...]
    scores: npt.NDArray[np.int8]
    forfeits: npt.NDArray[np.float64]
    """The share of games that a test agent resigned against an opponent, in %."""
    conceded: npt.NDArray[np.float64]
    """The share of games that the opponent resigned, in %."""
    nodes: npt.NDArray[np.float64]
    """The mean number of nodes per move of a test agent."""

    def prediction(self) -> Prediction:
        """Return the win rates that these games predict for the study's published games."""
        return predict(self.heuristics, self.opponents, self.scores)

    def against(self, heuristic: str) -> list[WinRate]:
        """Return a heuristic's win rate against each opponent."""
        return [rate_of_pairs(row) for row in self.scores[self.heuristics.index(heuristic)]]

    def total(self, heuristic: str) -> WinRate:
        """Return a heuristic's win rate against all opponents."""
        return rate_of_pairs(self.scores[self.heuristics.index(heuristic)])

    def ahead(self, heuristic: str) -> Lead:
        """Return a heuristic's lead over the first test agent, compared opening by opening."""
        means = self.scores.mean(axis=1) / 2
        found = statistics.difference(list(means[self.heuristics.index(heuristic)]), list(means[0]))
        return Lead(100 * found.mean, 100 * found.low, 100 * found.high)

    @property
    def measured(self) -> dict[str, PairScores]:
        """Return pair scores by heuristic, for `comparisons`: opponents × openings, from 0 to 1."""
        return {id: self.scores[at] / 2 for at, id in enumerate(self.heuristics)}


def tournament_of(run: Run) -> Tournament:
    """Return the results of a finished tournament."""
    plan = run.plan
    tests = int(plan.options["tests"])
    names = [entrant.name for entrant in plan.entrants]
    table = _whole(run)
    scores = np.zeros((tests, len(names) - tests, len(table)), np.int8)
    for column, match in enumerate(plan.matches):
        scores[match.a, match.b - tests] = table[:, column]
    forfeits, conceded = np.zeros(scores.shape[:2]), np.zeros(scores.shape[:2])
    moves, nodes = np.zeros(tests), np.zeros(tests)
    for found in results(run).matches:
        at = found.a, found.b - tests
        forfeits[at] = 100 * found.of_a.losses.get("forfeit", 0) / found.games
        conceded[at] = 100 * found.of_b.losses.get("forfeit", 0) / found.games
        moves[found.a] += found.of_a.effort.moves
        nodes[found.a] += found.of_a.effort.nodes
    searched = nodes / np.maximum(moves, 1)
    return Tournament(
        tuple(names[:tests]), tuple(names[tests:]), scores, forfeits, conceded, searched
    )


def resigned_share(tournament: Tournament) -> Share:
    """Return the share of all their games that the test agents resigned."""
    games = 2 * tournament.scores.size
    return Share(round(float(tournament.forfeits.mean()) / 100 * games), games)


def head_to_head(runs: Sequence[Run]) -> dict[str, PairScores]:
    """Return the results of the same two agents in several matches: a row for each match."""
    names = [entrant.name for entrant in runs[0].plan.entrants]
    first = np.hstack([_whole(run) for run in runs]).T / 2
    return {names[0]: first, names[1]: 1 - first}


def depths_of(run: Run) -> dict[str, PairScores]:
    """Return the mean search depth of each test agent in tens of plies: opponents × openings.

    A pair in which the agent made no move gets the mean depth.
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
    """Return all pair scores of a run: a row for each round, a column for each match.

    Raise a KnightfallError if the run is not finished.
    """
    scores = run.outcomes().scores
    if len(scores) != run.plan.total:
        raise KnightfallError(
            f"run {run.id} is not finished: {len(scores)} of {run.plan.total} pairs"
        )
    return scores.reshape(-1, len(run.plan.matches))


@dataclass(frozen=True)
class Rating:
    """A heuristic's rating in a league: Elo above `improved`, its 95 % error, and win rate in %."""

    heuristic: str
    elo: float
    error: float
    rate: float
    games: int


def ratings_of(run: Run) -> list[Rating]:
    """Return the league's ratings, the best first."""
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
    """Return the games that each entrant won."""
    won = [0] * entrants
    for (a, b), of_a in zip(couples, table.sum(axis=0, dtype=int), strict=True):
        won[a] += int(of_a)
        won[b] += 2 * len(table) - int(of_a)
    return won


# -- how many games it takes ---------------------------------------------------------------
#
# For each pair of heuristics that all games together tell apart, the measured order is taken as the
# true one. Tournaments of fewer games are resampled from these games, both heuristics on the same
# openings. The chance is the share of samples in which the better one is ahead; a tie counts half.


TOURNAMENT_SIZES = (14, 28, 70, 140, 280, 700, 1400, 2800, 7000)
"""Games of each heuristic in a tournament, from one pair against each of seven opponents up."""

GAPS = ((0.0, 2.0), (2.0, 5.0), (5.0, 10.0), (10.0, 100.0))
"""Groups of heuristic pairs, by their real difference in points."""

STUDIES_GAMES = 70
"""Games of one tournament of the later course, on which most studies relied."""

DRAWINGS = 500
REAL, SURE = 0.05, 0.95


@dataclass(frozen=True)
class RankingCurve:
    """The chance to rank two heuristics correctly that are `least` to `most` points apart.

    There is a chance for each of `TOURNAMENT_SIZES`; `needed` is the number of games at which it is
    95 %, or None if no size reaches that.
    """

    least: float
    most: float
    couples: int
    chances: tuple[float, ...]
    needed: int | None


@dataclass(frozen=True)
class NeededGames:
    """The ranking curves, and how many heuristic pairs all games can and cannot tell apart."""

    sizes: tuple[int, ...]
    curves: tuple[RankingCurve, ...]
    told_apart: int
    not_told_apart: int

    def chance(self, games: int) -> float | None:
        """Return the chance to rank two heuristics correctly in tournaments of `games` games.

        It is the mean over all heuristic pairs of the curves; None if there are none.
        """
        at = self.sizes.index(games)
        couples = sum(curve.couples for curve in self.curves)
        if not couples:
            return None
        return sum(curve.couples * curve.chances[at] for curve in self.curves) / couples


def needed_games(tournaments: Sequence[Tournament], seed: int = 0) -> NeededGames:
    """Return how the chance to rank a tournament's heuristics correctly grows with its games."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[float, list[float]]] = []
    doubtful = 0
    for tournament in tournaments:
        couples = _told_apart(tournament)
        heuristics = len(tournament.heuristics)
        doubtful += heuristics * (heuristics - 1) // 2 - len(couples)
        totals = [_drawn(tournament.scores, games, rng) for games in TOURNAMENT_SIZES]
        for better, worse, gap in couples:
            rows.append((gap, [_ahead(total[better] - total[worse]) for total in totals]))
    curves = []
    for least, most in GAPS:
        mine = [chances for gap, chances in rows if least <= gap < most]
        if mine:
            means = tuple(float(mean) for mean in np.mean(mine, axis=0))
            curves.append(RankingCurve(least, most, len(mine), means, _needed(means)))
    return NeededGames(TOURNAMENT_SIZES, tuple(curves), len(rows), doubtful)


def _told_apart(tournament: Tournament) -> list[tuple[int, int, float]]:
    """Return the heuristic pairs that differ significantly: better one, worse one, points.

    The p-values have Holm's correction. Without it one in twenty pairs of equally strong heuristics
    would be returned.
    """
    means = tournament.scores.mean(axis=1) / 2  # over the opponents, for each opening
    couples = list(combinations(range(len(means)), 2))
    gaps = [difference(list(means[a]), list(means[b])) for a, b in couples]
    found = []
    for (a, b), gap, p in zip(couples, gaps, holm([gap.p for gap in gaps]), strict=True):
        if p < REAL:
            found.append((a, b, 100 * gap.mean) if gap.mean > 0 else (b, a, -100 * gap.mean))
    return found


def _drawn(
    scores: npt.NDArray[np.int8], games: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Resample tournaments of `games` games; return the games won: heuristics × samples."""
    _, opponents, rounds = scores.shape
    total = np.zeros((len(scores), DRAWINGS), np.int64)
    for opponent in range(opponents):
        which = rng.integers(rounds, size=(DRAWINGS, max(1, games // (2 * opponents))))
        total += scores[:, opponent][:, which].sum(axis=2, dtype=np.int64)
    return total


def _ahead(gaps: npt.NDArray[np.int64]) -> float:
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


def _needed(chances: Sequence[float]) -> int | None:
    """Return the games at which a curve reaches 95 %, interpolated and rounded to two digits."""
    if chances[0] >= SURE:
        return TOURNAMENT_SIZES[0]
    for (games, chance), (more, then) in pairwise(zip(TOURNAMENT_SIZES, chances, strict=True)):
        if chance < SURE <= then:
            share = (SURE - chance) / (then - chance)
            found = math.exp(math.log(games) + share * math.log(more / games))
            return int(float(f"{found:.2g}"))
    return None


def gap_words(least: float, most: float) -> str:
    """Return a range of differences in words, such as "2 to 5 points"."""
    if least == 0:
        return f"less than {most:g} points"
    return f"more than {least:g} points" if most >= 100 else f"{least:g} to {most:g} points"


# -- resigning -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Sweep:
    """`improved`'s win rates by time per move and opponent, if it resigns and if it does not."""

    opponents: tuple[str, ...]
    times: tuple[int, ...]
    nodes: tuple[int, ...]
    """Mean nodes per move when playing on."""
    resigning: tuple[tuple[WinRate, ...], ...]
    playing_on: tuple[tuple[WinRate, ...], ...]
    forfeits: tuple[tuple[float, ...], ...]
    """Resigned games in %."""

    def totals(self, rates: Sequence[Sequence[WinRate]]) -> list[float]:
        """Return the win rate over all opponents at each time per move."""
        return [sum(rate.rate for rate in row) / len(row) for row in rates]


def sweep_of(run: Run) -> Sweep:
    """Return the results of a finished run of the `resigning_plan`."""
    found = tournament_of(run)
    rows = [tuple(found.against(name)) for name in found.heuristics]
    number = len(SWEEP_TIMES)
    return Sweep(
        opponents=found.opponents,
        times=SWEEP_TIMES,
        nodes=tuple(round(float(nodes)) for nodes in found.nodes[number:]),
        resigning=tuple(rows[:number]),
        playing_on=tuple(rows[number:]),
        forfeits=tuple(tuple(map(float, row)) for row in found.forfeits[:number]),
    )


# -- rank correlation ---------------------------------------------------------------------


@dataclass(frozen=True)
class Correlation:
    """How well two rankings agree, for example by rating and by grade: 1 fully, 0 not at all."""

    heuristics: int
    spearman: float
    low: float
    """Spearman's 95 % interval."""
    high: float
    kendall: float


def rank_correlation(both: Sequence[tuple[float, float]]) -> Correlation | None:
    """Return the rank correlation of pairs of numbers; None for fewer than five pairs.

    The interval is Bonett and Wright's for Spearman's coefficient: Fisher's transformation with a
    variance of (1 + r²/2) / (n − 3).
    """
    from scipy.stats import kendalltau, spearmanr

    if len(both) < 5:
        return None
    spearman, kendall = (
        float(measure(*zip(*both, strict=True))[0]) for measure in (spearmanr, kendalltau)
    )
    reach = Z * math.sqrt((1 + spearman**2 / 2) / (len(both) - 3))
    middle = math.atanh(max(-0.999999, min(spearman, 0.999999)))
    return Correlation(
        len(both), spearman, math.tanh(middle - reach), math.tanh(middle + reach), kendall
    )
