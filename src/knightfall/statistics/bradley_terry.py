"""The Bradley–Terry model with an advantage of moving first, fitted by maximum likelihood.

The unit of strength is the logarithm of odds.  The advantage of moving first (the *seat*) is the
last parameter.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ELO = 400 / math.log(10)
"""Elo per unit of strength."""

PRIOR = (ELO / 10_000) ** 2
"""One over the variance of the prior, which is normal around 0."""

LL, SECONDS, FIRSTS, WW = range(4)
"""The outcomes of a pair of a and b: b won both games, the second player won both times, the first
player did, a won both.  The number is 2·(a won moving first) + (a won moving second)."""


class BradleyTerryFit:
    """The maximum-likelihood strengths, and the advantage of moving first (the seat).

    `won` and `played` have the first player in the row and the second in the column.  `group` has
    the number of each agent's group: within a group every agent has beaten every other, directly or
    through a chain of others.
    """

    def __init__(self, won: Floats, played: Floats, seat: bool) -> None:
        self.group, imagined = _imagined(won, played, seat)
        self.agents, self.won, self.played = len(won), won + imagined, played + 2 * imagined
        self.fitted = self.agents + seat
        self.prior = PRIOR * np.eye(self.agents + 1)
        self.theta = np.zeros(self.agents + 1)
        value = self._value(self.theta)
        for _ in range(500):
            step = self.inverse @ self._slope()
            largest = float(np.abs(step).max())
            # Far from the maximum the likelihood is flat, and a full Newton step may be too long.
            step *= min(1.0, 4.0 / max(largest, 1e-300))
            while (reached := self._value(self.theta + step)) < value and largest > 1e-10:
                step, largest = step / 2, largest / 2
            if largest <= 1e-10:
                break
            self.theta, value = self.theta + step, reached

    @classmethod
    def of_counts(cls, counts: Floats, seat: bool) -> BradleyTerryFit:
        """Fit the model to counts of pairs (two games each) by agent a, agent b and outcome."""
        a_first = counts[..., FIRSTS] + counts[..., WW]
        b_first = counts[..., FIRSTS] + counts[..., LL]
        total = counts.sum(-1)
        return cls(a_first + b_first.T, total + total.T, seat)

    @property
    def chances(self) -> Floats:
        """The probability that the agent of the row, moving first, beats that of the column."""
        return np.asarray(np.exp(-np.logaddexp(0, -self._odds(self.theta))), float)

    @property
    def information(self) -> Floats:
        """The Fisher information, without the prior."""
        weight = self.played * self.chances * (1 - self.chances)
        return _spread(weight, weight, weight)

    @property
    def inverse(self) -> Floats:
        """The inverse of information and prior: the covariance if all games are independent."""
        k, whole = self.fitted, np.zeros_like(self.prior)
        values, vectors = np.linalg.eigh((self.information + self.prior)[:k, :k])
        # No eigenvalue is below the prior's, but with very many games rounding may make it so.
        whole[:k, :k] = (vectors / np.maximum(values, PRIOR)) @ vectors.T
        return whole

    def _odds(self, theta: Floats) -> Floats:
        return np.asarray(np.subtract.outer(theta[:-1], theta[:-1]) + theta[-1], float)

    def _value(self, theta: Floats) -> float:
        """Return the logarithm of the likelihood, prior included."""
        odds = self._odds(theta)
        lost = self.played - self.won
        unlikely = self.won * np.logaddexp(0, -odds) + lost * np.logaddexp(0, odds)
        return -float(unlikely.sum() + theta @ self.prior @ theta / 2)

    def _slope(self) -> Floats:
        rest = self.won - self.played * self.chances
        return np.append(rest.sum(1) - rest.sum(0), rest.sum()) - self.prior @ self.theta


def _imagined(won: Floats, played: Floats, seat: bool) -> tuple[Ints, Floats]:
    """Return the agents' groups, and pseudo-counts of wins that keep the estimates finite.

    As many losses are to be added.  Between groups all games were won by the same side, and the
    maximum-likelihood difference would be infinite.  Half a game won and half a game lost, divided
    among the games an agent played against other groups, make it finite but large.  The same is
    done for the seat.
    """
    group = _groups(won + (played - won).T > 0)
    between = np.where(np.not_equal.outer(group, group), played, 0.0)
    games = between.sum(0) + between.sum(1)
    imagined = between / (2 * np.maximum(np.maximum.outer(games, games), 1e-300))
    if seat and _seat_is_unlimited(won + imagined > 0, played - won + imagined > 0):
        imagined = imagined + played / (2 * max(played.sum(), 1e-300))
    return group, imagined


def _groups(beat: Bools) -> Ints:
    """Return the number of each agent's group, if `beat` tells whether the row beat the column.

    Two agents are in one group if each beat the other, directly or through a chain of others.
    """
    itself = np.eye(len(beat), dtype=np.bool_)
    reach, longer = itself, beat | itself
    while (longer != reach).any():
        reach, longer = longer, longer @ longer  # chains of twice the length
    first = (reach & reach.T).argmax(1)  # the first agent of the group
    return np.asarray(np.unique(first, return_inverse=True)[1], np.int64)


def _seat_is_unlimited(won: Bools, lost: Bools) -> bool:
    """Return whether the results leave the advantage of moving first unbounded.

    Let the advantage be 1.  An agent that won moving first may be weaker than the loser by 1; one
    that won moving second is stronger by 1 or more.  Such strengths exist unless some cycle of
    winners and losers makes an agent stronger than itself.
    """
    for first, second in ((won, lost.T), (lost.T, won)):
        weaker_by = np.where(second, -1.0, np.where(first, 1.0, np.inf))
        strength = np.zeros(len(won))
        for _ in range(len(won)):  # Bellman and Ford's algorithm
            lowered = np.minimum(strength, (strength[:, None] + weaker_by).min(0))
            if (lowered == strength).all():
                return True
            strength = lowered
    return False


# -- correlation of games from the same opening ----------------------------------------------
#
# The covariance of the estimate is inverse · spread · inverse, where spread is the covariance of
# the gradient (slope) of the log-likelihood.  For independent games that is the information, prior
# included, and the covariance is the inverse; the functions below return additions to the spread.
# The game of a (moving first) and b adds (its residual)·(d + s) to the slope, that of b and a (its
# residual)·(s − d), where d is +1 for agent a and −1 for agent b, and s is 1 for the seat.


def of_one_pair(model: BradleyTerryFit, counts: Floats) -> Floats:
    """Return what the correlation within pairs adds to the covariance of the gradient.

    If the residuals of a pair's two games have covariance c, this is 2c·(ssᵀ − ddᵀ): uncertainty
    moves from the strengths to the seat.  The c of each couple of agents is measured, with 4
    imagined pairs of the correlation of all couples together; and these include 2 imagined pairs
    that were not split, so that a few pairs that happen to be split leave some uncertainty.
    """
    first, second = _residuals(model)
    pairs = counts.sum(-1)
    measured = (counts * first * second).sum(-1)
    weight = model.chances * (1 - model.chances)
    most = np.sqrt(weight * weight.T)
    total = float((pairs * most).sum())
    if total <= 0:
        return np.zeros_like(model.prior)
    typical = total / float(pairs.sum())
    correlation = max(0.0, float(measured.sum()) - 2 * typical) / (total + 2 * typical)
    c = np.clip((measured + 4 * correlation * most) / (pairs + 4), 0, most)
    return _spread(-2 * pairs * c, np.zeros_like(c), 2 * pairs * c)


def of_one_opening(
    model: BradleyTerryFit,
    counts: Floats,
    where: tuple[Ints, Ints, Ints],
    count: Floats,
    opening: Ints,
) -> Floats:
    """Return what openings shared by different matches add to the covariance of the gradient.

    `where` has a, b and outcome of each pair, `opening` the number of its opening, from 0.  Only
    directions in which the spread grows count: errors are never smaller than those by pairs.
    """
    first, second = _residuals(model)
    strengths, seat = first - second, first + second
    within = _spread(
        (counts * strengths**2).sum(-1),
        (counts * strengths * seat).sum(-1),
        (counts * seat**2).sum(-1),
    )
    a, b, _ = where
    openings, width = int(opening.max(initial=0)) + 1, model.agents + 1
    slopes = np.zeros(openings * width)
    for column, part in ((a, strengths), (b, -strengths), (np.full_like(a, width - 1), seat)):
        slopes += np.bincount(opening * width + column, part[where] * count, len(slopes))
    by_opening = slopes.reshape(openings, width)
    between = (by_opening.T @ by_opening - within) * openings / max(1, openings - 1)
    values, vectors = np.linalg.eigh(between)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T, float)


def _residuals(model: BradleyTerryFit) -> tuple[Floats, Floats]:
    """Return the residuals of a pair's two games: wins of the first player minus expectation.

    Both arrays are indexed by a, b and outcome.  a moves first in the first game, b in the second.
    """
    there, back = model.chances[..., None], model.chances.T[..., None]
    return np.array([0, 0, 1, 1]) - there, np.array([1, 0, 1, 0]) - back


def _spread(strengths: Floats, both: Floats, seat: Floats) -> Floats:
    """Return the matrix Σ strengths·ddᵀ + both·(dsᵀ + sdᵀ) + seat·ssᵀ, summed over all agents.

    The arguments have a row for each a and a column for each b; d and s are explained above.
    """
    n = len(strengths)
    total = np.empty((n + 1, n + 1))
    total[:n, :n] = np.diag(strengths.sum(0) + strengths.sum(1)) - strengths - strengths.T
    total[:n, n] = total[n, :n] = both.sum(1) - both.sum(0)
    total[n, n] = seat.sum()
    return total
