"""Ratings of many agents at once, from who beat whom and who moved first.

Bradley and Terry's model: the first player wins with the odds e^(strength of the first − strength
of the second + seat), and strengths and seat are those that make the results likeliest.  A
strength of 1 is 400/ln 10 Elo.

**Every answer is finite.**  Where all games went one way, as with an agent that never lost, no
rating is high enough; half a game won and half a game lost are then imagined, so that 10 : 0 counts
like 10½ : ½ and the error is large.  And before any game each strength and the seat are normal
around 0 with a standard deviation of 10,000 Elo.  That moves nothing that games support (four games
by 0.03 %), but it is all there is to say of an agent that never played or of groups that never met:
errors are then in the ten thousands.  Within a `group` results limit a difference from both sides.

**The errors know of openings.**  Plain errors, from the curvature of the likelihood, take all games
for independent.  But both games of a pair share an opening, and what the opening decides is won
once and lost once: it adds to the doubt about the seat and takes from the doubt about strengths.
In 1,000 simulated leagues of 6 with 50 pairs for each couple, where equals split 70 to 85 % of
their pairs, plain 95 % errors of a difference were 20 to 75 % too wide and covered 98 to 100 %, and
those of the seat were 15 to 20 % too narrow and covered 88 to 92 %.  Those of `of_pairs` covered 94
to 97 % of both, and 93 to 95 % with only 5 pairs for each couple.

If all couples play the *same* openings, luck with these is common to all games: it stretches or
shrinks the whole table, and it moves the seat.  Errors by pairs then still cover 95 % of the
differences of neighbours, but only 64 to 87 % of that of the first and the last, and 27 to 62 % of
the seat.  Say which pair was played from which opening, and with 40 or 50 openings the errors cover
93 to 98 % of all of these; with 10 openings 85 % at worst.
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
"""Of one couple; beside more of them the prior is lost to rounding."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs between agents, which are numbers from 0 on; one item for each pair, or for many.

    `outcome` is LL, SECONDS, FIRSTS or WW from the view of `a`: twice whether a won moving first,
    plus whether a won moving second.  `count` is how many such pairs there are, 1 by default.
    `opening` names openings by number; without it each pair has one of its own.
    """

    a: Ints
    b: Ints
    outcome: Ints
    count: Floats | None = None
    opening: Ints | None = None

    @classmethod
    def counted(cls, counts: Mapping[tuple[int, int], Sequence[float]]) -> Pairs:
        """Pairs from their numbers for each couple (a, b).

        Four counts are LL, SECONDS, FIRSTS and WW.  Three are LL, WL and WW: who moved first in
        the games won is then unknown, the WL are halved, and seat_elo is 0 without meaning it.
        """
        rows = []
        for (a, b), given in counts.items():
            if len(given) not in (3, 4):
                raise KnightfallError(f"{len(given)} counts of pairs: three or four are accepted")
            half = given[1] / 2
            four = given if len(given) == 4 else (given[0], half, half, given[2])
            rows += [(a, b, outcome, count) for outcome, count in enumerate(four)]
        table = np.array(rows, float).reshape(-1, 4)
        who_and_how = table[:, :3].astype(np.int64)
        return cls(who_and_how[:, 0], who_and_how[:, 1], who_and_how[:, 2], table[:, 3])


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings in Elo; all errors are 95 % to either side.

    The mean rating is 0: the mean over the largest group of comparable agents if that is more
    than half of them, and over all otherwise.  So somebody who lost every game and may be anything
    from bad to hopeless blurs no rating but its own.
    """

    elo: Floats
    seat_elo: float
    """What moving first is worth."""
    covariance: Floats
    """Of the ratings and, in the last row and column, the seat; in Elo²."""
    group: Ints
    """Within a group everybody has beaten everybody, directly or through others."""

    def error(self, i: int) -> float:
        """The error of one rating, as a distance from the mean (or from the anchor)."""
        return Z * math.sqrt(max(0.0, self.covariance[i, i]))

    @property
    def seat_error(self) -> float:
        """The error of the seat's worth; 0 if it was left out."""
        return self.error(-1)

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """How much better i is than j, and the error of that: not the sum of their errors."""
        c = self.covariance
        variance = c[i, i] + c[j, j] - 2 * c[i, j]
        return float(self.elo[i] - self.elo[j]), Z * math.sqrt(max(0.0, variance))

    def los(self, i: int, j: int) -> float:
        """The likelihood that i is better than j; ½ for an agent and itself."""
        gap, error = self.difference(i, j)
        return 0.5 * math.erfc(-Z * gap / error / math.sqrt(2)) if error else 0.5

    def anchored(self, i: int) -> Ratings:
        """The same ratings seen from agent i, whose own is 0 and has no error."""
        shift = np.eye(len(self.covariance))
        shift[:-1, i] -= 1
        return replace(
            self,
            elo=self.elo - self.elo[i],
            covariance=shift @ self.covariance @ shift.T,
        )


def of_pairs(agents: int, pairs: Pairs, *, seat: bool = True) -> Ratings:
    """Ratings from pairs, with errors that know which games share an opening (see above)."""
    counts = _tally(agents, pairs)
    model = BradleyTerryFit.of_counts(counts, seat)
    shared = of_one_pair(model, counts)
    if pairs.opening is not None:
        where = (pairs.a, pairs.b, pairs.outcome)
        shared += of_one_opening(model, counts, where, _count(pairs), _numbered(pairs.opening))
    return _ratings(model, model.inverse + model.inverse @ shared @ model.inverse)


def _ratings(model: BradleyTerryFit, covariance: Floats) -> Ratings:
    """In Elo, around their mean."""
    group = model.group
    sizes = np.bincount(group)
    members = group == sizes.argmax() if 2 * sizes.max() > len(group) else np.ones_like(group)
    around = np.eye(model.agents + 1)
    around[:-1, :-1] -= members / members.sum()
    return Ratings(
        elo=ELO * (around @ model.theta)[:-1],
        seat_elo=ELO * float(model.theta[-1]),
        # Beside agents of whom nothing is known, rounding makes it lopsided.
        covariance=ELO**2 / 2 * (around @ (covariance + covariance.T) @ around.T),
        group=group,
    )


# -- counting --------------------------------------------------------------------------------


def _tally(agents: int, pairs: Pairs) -> Floats:
    """The numbers of pairs by a, b and outcome."""
    _check(agents, np.concatenate([pairs.a, pairs.b]), _count(pairs))
    for outcome in pairs.outcome[(pairs.outcome < LL) | (pairs.outcome > WW)][:1]:
        raise KnightfallError(f"no outcome {outcome}: {LL} (LL) to {WW} (WW) are accepted")
    key = (pairs.a * agents + pairs.b) * 4 + pairs.outcome
    counts = np.asarray(np.bincount(key, _count(pairs), agents * agents * 4), float)
    return counts.reshape(agents, agents, 4)


def _count(pairs: Pairs) -> Floats:
    return np.ones(len(pairs.a)) if pairs.count is None else pairs.count


def _numbered(names: Ints) -> Ints:
    """The openings as numbers from 0 on."""
    return np.asarray(np.unique(names, return_inverse=True)[1], np.int64)


def _check(agents: int, numbers: Ints, counts: Floats) -> None:
    if agents < 1:
        raise KnightfallError(f"{agents} agents cannot be rated: 1 or more are accepted")
    for number in numbers[(numbers < 0) | (numbers >= agents)][:1]:
        raise KnightfallError(f"no agent {number}: 0 to {agents - 1} are accepted")
    for count in counts[~((counts >= 0) & (counts <= MOST_GAMES))][:1]:
        raise KnightfallError(f"{count:g} is not accepted as a count: 0 to {MOST_GAMES:g} is")
