"""How likely a study's published results are if its agents were as we think.

A published cell is so many games won of so many against one opponent.  Under a condition the
chance to win one is known from games of ours, of which there are finitely many, too; so a cell's
deviation is measured in the standard deviation of both together::

    z = (published − predicted) / √( p(1 − p)/n + v )

with n the published games, p the predicted rate and v the variance of p.  The squares add up to a
chi-square; the log-likelihood is that of normal deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt

from knightfall.studies.published.published import Study

LEAST_VARIANCE = 0.02
"""Of a pair's score: where all of ours went the same way, the next one need not."""


@dataclass(frozen=True)
class Cell:
    """One published number and what a condition predicts: rates from 0 to 1.

    `games` were published; `variance` is that of the prediction.  An empty opponent means the
    total of a whole tournament.  `tournament` counts the study's distinct ones from 1; 0 means
    all of them.
    """

    heuristic: str
    opponent: str
    tournament: int
    published: float
    games: int
    predicted: float
    variance: float

    @property
    def spread(self) -> float:
        """The standard deviation of published less predicted."""
        return sqrt(self.predicted * (1 - self.predicted) / self.games + self.variance)

    @property
    def z(self) -> float:
        """The deviation, in standard deviations."""
        return (self.published - self.predicted) / self.spread

    @property
    def loglikelihood(self) -> float:
        """The logarithm of the density of such a deviation."""
        return -0.5 * (self.z**2 + log(2 * pi * self.spread**2))


@dataclass(frozen=True)
class Prediction:
    """Rates and their variances, a row for each heuristic and a column for each opponent."""

    heuristics: tuple[str, ...]
    opponents: tuple[str, ...]
    rates: npt.NDArray[np.float64]
    variances: npt.NDArray[np.float64]

    def cells(self, study: Study) -> list[Cell]:
        """Return every cell that a study published, of all its distinct tournaments."""
        return [
            Cell(
                heuristic,
                self.opponents[column],
                number,
                won / study.games_per_opponent,
                study.games_per_opponent,
                float(self.rates[row, column]),
                float(self.variances[row, column]),
            )
            for row, heuristic in enumerate(self.heuristics)
            for number, played in enumerate(study.played, 1)
            for column, won in enumerate(played.wins(heuristic))
            if won is not None
        ]

    def tournaments(self, study: Study) -> list[Cell]:
        """Return the published totals of distinct tournaments without cells."""
        found = []
        for row, heuristic in enumerate(self.heuristics):
            for rate in study.other_tournaments(heuristic):
                found.append(self._total(row, heuristic, rate, study.games_per_tournament))
        return found

    def totals(self, study: Study) -> list[Cell]:
        """Each heuristic's win rate over all games that were published."""
        return [
            self._total(row, id, *study.told_once(id)) for row, id in enumerate(self.heuristics)
        ]

    def _total(self, row: int, heuristic: str, rate: float, games: int) -> Cell:
        """A total: the mean over the opponents, and a variance no larger than a binomial's."""
        mean = float(self.rates[row].mean())
        own = float(self.variances[row].sum()) / len(self.opponents) ** 2
        # Opponents differ, so the total of their games varies less than that of equal ones.
        within = float((self.rates[row] * (1 - self.rates[row])).mean()) / games
        return Cell(heuristic, "", 0, rate, games, mean, own + within - mean * (1 - mean) / games)


def predicted(
    heuristics: Sequence[str], opponents: Sequence[str], scores: npt.NDArray[np.int8]
) -> Prediction:
    """The prediction of games of ours: pair scores 0, 1, 2 by heuristic, opponent and opening.

    Half a pair won and half a pair lost are added to each cell, so that no rate is 0 or 1.
    """
    pairs = scores.shape[2]
    share = scores / 2
    rates = (share.sum(axis=2) + 0.5) / (pairs + 1)
    variances = np.maximum(share.var(axis=2), LEAST_VARIANCE) / pairs
    return Prediction(tuple(heuristics), tuple(opponents), rates, variances)
