"""How many games it takes to rank two heuristics correctly, counted in tournaments drawn anew.

Every couple of heuristics that all games together tell apart is taken for what these games say.
Then tournaments of fewer games are drawn from them, both heuristics on the same openings, and it
is counted how often the better one comes out ahead; being level counts half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from knightfall.statistics.pairs import difference, holm
from knightfall.studies.judging.measured import Tournament

SIZES = (14, 28, 70, 140, 280, 700, 1400, 2800, 7000)
"""Games of each heuristic in a tournament: one pair against each of seven opponents, and more."""

GAPS = ((0.0, 2.0), (2.0, 5.0), (5.0, 10.0), (10.0, 100.0))
"""Couples are sorted by how many points they are really apart."""

STUDIES_GAMES = 70
"""What one tournament of the later course is, and what most of the studies went by."""

DRAWINGS = 500
REAL, SURE = 0.05, 0.95


@dataclass(frozen=True)
class Curve:
    """Couples that are `least` to `most` points apart, and their chance of being ranked correctly
    by as many games as `SIZES` says.  `needed` is where that chance is 95 %, if it is anywhere."""

    least: float
    most: float
    couples: int
    chances: tuple[float, ...]
    needed: int | None


@dataclass(frozen=True)
class NeededGames:
    """The curves, and how many couples no number of our games tells apart."""

    sizes: tuple[int, ...]
    curves: tuple[Curve, ...]
    told_apart: int
    not_told_apart: int

    def chance(self, games: int) -> float | None:
        """The chance over all couples at one of the sizes; None if there are no couples."""
        at = self.sizes.index(games)
        couples = sum(curve.couples for curve in self.curves)
        if not couples:
            return None
        return sum(curve.couples * curve.chances[at] for curve in self.curves) / couples


def needed_games(tournaments: Sequence[Tournament], seed: int = 0) -> NeededGames:
    """The chances of all couples of heuristics within each tournament."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[float, list[float]]] = []
    doubtful = 0
    for tournament in tournaments:
        couples = _told_apart(tournament)
        heuristics = len(tournament.heuristics)
        doubtful += heuristics * (heuristics - 1) // 2 - len(couples)
        totals = [_drawn(tournament.scores, games, rng) for games in SIZES]
        for better, worse, gap in couples:
            rows.append((gap, [_ahead(total[better] - total[worse]) for total in totals]))
    curves = []
    for least, most in GAPS:
        mine = [chances for gap, chances in rows if least <= gap < most]
        if mine:
            means = tuple(float(mean) for mean in np.mean(mine, axis=0))
            curves.append(Curve(least, most, len(mine), means, _needed(means)))
    return NeededGames(SIZES, tuple(curves), len(rows), doubtful)


def _told_apart(tournament: Tournament) -> list[tuple[int, int, float]]:
    """Couples that surely differ: the better, the worse, and by how many points.

    Corrected for their number, or one in twenty equal couples would be among them.
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
    """Games won in tournaments drawn anew: a row for each heuristic, a column for each drawing."""
    _, opponents, rounds = scores.shape
    total = np.zeros((len(scores), DRAWINGS), np.int64)
    for opponent in range(opponents):
        which = rng.integers(rounds, size=(DRAWINGS, max(1, games // (2 * opponents))))
        total += scores[:, opponent][:, which].sum(axis=2, dtype=np.int64)
    return total


def _ahead(gaps: npt.NDArray[np.int64]) -> float:
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


def _needed(chances: Sequence[float]) -> int | None:
    """Where a curve comes to 95 %, on a scale on which games double; to two digits."""
    if chances[0] >= SURE:
        return SIZES[0]
    for (games, chance), (more, then) in pairwise(zip(SIZES, chances, strict=True)):
        if chance < SURE <= then:
            share = (SURE - chance) / (then - chance)
            found = math.exp(math.log(games) + share * math.log(more / games))
            return int(float(f"{found:.2g}"))
    return None


def gap_words(least: float, most: float) -> str:
    """A range of differences."""
    if least == 0:
        return f"less than {most:g} points"
    return f"more than {least:g} points" if most >= 100 else f"{least:g} to {most:g} points"
