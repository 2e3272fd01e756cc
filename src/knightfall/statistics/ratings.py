"""Ratings of many agents at once, from the results of their games and who moved first.

Bradley and Terry's model: the first player wins with the odds e^(strength of the first − strength
of the second + seat), where the seat is the advantage of moving first, and strengths and seat are
the maximum-likelihood estimates.  A strength of 1 is 400/ln 10 Elo.

**Every rating is finite.**  If all games went one way, as with an agent that never lost, the
likelihood has no maximum; half a game won and half a game lost are then imagined, so that 10 : 0
counts like 10½ : ½ and the error is large.  The prior of each strength and of the seat is normal
around 0 with a standard deviation of 10,000 Elo.  That hardly changes ratings based on games (with
four games by 0.03 %), but decides those of agents that never played and the differences of groups
that never met: their errors are in the ten thousands.  Within a `group` results limit a difference
from both sides.

**Errors take openings into account.**  Ordinary errors, from the curvature of the likelihood,
assume independent games.  But both games of a pair share an opening, and its effect is won once and
lost once: it increases the error of the seat and decreases the errors of strengths. In 1,000
simulated leagues of 6 with 50 pairs for each couple, where equals split 70 to 85 % of their pairs,
ordinary 95 % errors of a difference were 20 to 75 % too wide and covered 98 to 100 %, and those of
the seat were 15 to 20 % too narrow and covered 88 to 92 %.  Those of `of_pairs` covered 94 to 97 %
of both, and 93 to 95 % with only 5 pairs for each couple.

If all couples play the *same* openings, their effects are common to all games: they stretch or
shrink the whole table, and shift the seat.  Errors by pairs then still cover 95 % of the
differences of neighbours, but only 64 to 87 % of that of the first and the last, and 27 to 62 % of
the seat. With the `opening` of each pair given, and 40 or 50 openings, the errors cover 93 to 98 %
of all of these; with 10 openings 85 % at worst.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from knightfall.errors import KnightfallError
from knightfall.statistics.bradley_terry import (
    ELO,
    FIRSTS,
    LL,
    SECONDS,
    WW,
    BradleyTerryFit,
    Floats,
    Ints,
    of_one_opening,
    of_one_pair,
)
from knightfall.statistics.rates import Z

__all__ = ["FIRSTS", "LL", "SECONDS", "WW", "Pairs", "Ratings", "of_pairs"]

MOST_GAMES = 1e12
"""The most games of one couple: with more, rounding loses the prior."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Results of pairs of games, as arrays of equal length; an item may be several equal pairs.

    `a` and `b` are the numbers of the two agents, from 0.
    `outcome` is LL, SECONDS, FIRSTS or WW from the view of `a`: 2·(a won moving first) + (a won
    moving second).  `count` is the number of such pairs, 1 by default.  `opening` is the number of
    the opening; without it each pair counts as played from an opening of its own.
    """

    a: Ints
    b: Ints
    outcome: Ints
    count: Floats | None = None
    opening: Ints | None = None

    @classmethod
    def counted(cls, counts: Mapping[tuple[int, int], Sequence[float]]) -> Pairs:
        """Return pairs from the number of pairs with each outcome, by agents (a, b).

        Four counts are LL, SECONDS, FIRSTS and WW.  Three are LL, WL and WW: then it is unknown who
        moved first in the games won, WL is halved, and seat_elo is 0 without meaning.
        """
        rows = []
        for (a, b), given in counts.items():
            if len(given) not in (3, 4):
                raise KnightfallError(
                    f"{len(given)} counts of pairs were given: 3 (LL, WL, WW) are needed, or 4 (WL "
                    "divided by whether the second or the first player won both games)"
                )
            half = given[1] / 2
            four = given if len(given) == 4 else (given[0], half, half, given[2])
            rows += [(a, b, outcome, count) for outcome, count in enumerate(four)]
        table = np.array(rows, float).reshape(-1, 4)
        who_and_how = table[:, :3].astype(np.int64)
        return cls(who_and_how[:, 0], who_and_how[:, 1], who_and_how[:, 2], table[:, 3])


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings in Elo; errors are half-widths of 95 % intervals.

    The mean rating is 0: the mean over the largest group of comparable agents if that is more
    than half of them, and over all otherwise.  So an agent that lost every game, whose rating has a
    large error, does not increase the errors of the others.
    """

    elo: Floats
    seat_elo: float
    """The advantage of moving first, in Elo."""
    covariance: Floats
    """The covariance of the ratings and, in the last row and column, the seat; in Elo²."""
    group: Ints
    """Numbers of the agents' groups: within a group every agent has beaten every other, directly or
    through a chain of others."""

    def error(self, i: int) -> float:
        """Return the error of one rating, relative to the mean (or to the anchor)."""
        return Z * math.sqrt(max(0.0, self.covariance[i, i]))

    @property
    def seat_error(self) -> float:
        """The 95 % error of `seat_elo`; 0 if the advantage of moving first was not fitted."""
        return self.error(-1)

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """Return the difference of two ratings and its error (not the sum of their errors)."""
        c = self.covariance
        variance = c[i, i] + c[j, j] - 2 * c[i, j]
        return float(self.elo[i] - self.elo[j]), Z * math.sqrt(max(0.0, variance))

    def los(self, i: int, j: int) -> float:
        """Return the likelihood that i is better than j; ½ for an agent and itself."""
        gap, error = self.difference(i, j)
        return 0.5 * math.erfc(-Z * gap / error / math.sqrt(2)) if error else 0.5

    def anchored(self, i: int) -> Ratings:
        """Return the ratings relative to agent i, whose own is 0 without error."""
        shift = np.eye(len(self.covariance))
        shift[:-1, i] -= 1
        return replace(
            self,
            elo=self.elo - self.elo[i],
            covariance=shift @ self.covariance @ shift.T,
        )


def of_pairs(agents: int, pairs: Pairs, *, seat: bool = True) -> Ratings:
    """Return ratings from pairs, with errors that take shared openings into account."""
    counts = _tally(agents, pairs)
    model = BradleyTerryFit.of_counts(counts, seat)
    shared = of_one_pair(model, counts)
    if pairs.opening is not None:
        where = (pairs.a, pairs.b, pairs.outcome)
        shared += of_one_opening(model, counts, where, _count(pairs), _numbered(pairs.opening))
    return _ratings(model, model.inverse + model.inverse @ shared @ model.inverse)


def _ratings(model: BradleyTerryFit, covariance: Floats) -> Ratings:
    """Return the ratings in Elo, relative to their mean."""
    group = model.group
    sizes = np.bincount(group)
    members = group == sizes.argmax() if 2 * sizes.max() > len(group) else np.ones_like(group)
    around = np.eye(model.agents + 1)
    around[:-1, :-1] -= members / members.sum()
    return Ratings(
        elo=ELO * (around @ model.theta)[:-1],
        seat_elo=ELO * float(model.theta[-1]),
        # Symmetrised, because rounding is large with agents that never played.
        covariance=ELO**2 / 2 * (around @ (covariance + covariance.T) @ around.T),
        group=group,
    )


# -- counting --------------------------------------------------------------------------------


def _tally(agents: int, pairs: Pairs) -> Floats:
    """Return the number of pairs by agent a, agent b and outcome."""
    _check(agents, np.concatenate([pairs.a, pairs.b]), _count(pairs))
    for outcome in pairs.outcome[(pairs.outcome < LL) | (pairs.outcome > WW)][:1]:
        raise KnightfallError(
            f"{outcome} is not the outcome of a pair: {LL} (LL) to {WW} (WW) are accepted"
        )
    key = (pairs.a * agents + pairs.b) * 4 + pairs.outcome
    counts = np.asarray(np.bincount(key, _count(pairs), agents * agents * 4), float)
    return counts.reshape(agents, agents, 4)


def _count(pairs: Pairs) -> Floats:
    return np.ones(len(pairs.a)) if pairs.count is None else pairs.count


def _numbered(names: Ints) -> Ints:
    """Return the openings renumbered from 0."""
    return np.asarray(np.unique(names, return_inverse=True)[1], np.int64)


def _check(agents: int, numbers: Ints, counts: Floats) -> None:
    if agents < 1:
        raise KnightfallError(f"{agents} agents cannot be rated: 1 or more are accepted")
    for number in numbers[(numbers < 0) | (numbers >= agents)][:1]:
        raise KnightfallError(f"there is no agent {number}: 0 to {agents - 1} are accepted")
    for count in counts[~((counts >= 0) & (counts <= MOST_GAMES))][:1]:
        raise KnightfallError(
            f"{count:g} is not a count of pairs: 0 to {MOST_GAMES:g} are accepted"
        )
