"""Estimates from the results of a match: score, Elo, and their errors.

The unit is the pair: one opening, played from both seats.  A pair is worth 0, ¼, ½, ¾ or 1, so a
match is five counts, LL, LD, WL (with DD), WD and WW.  Knight's Isolation has no draws and leaves
two of them empty, but the formulas hold for games with draws, too.

Few or one-sided results give finite or infinite numbers; never nan, and never an error of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.statistics.rates import Z, wilson

NELO = 800 / math.log(10)
"""Normalized Elo per standard deviation of a single game."""

PairCounts = tuple[int, int, int, int, int]
"""Pairs by class: LL, LD, WL (with DD), WD, WW."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
GAME_SCORES = (0.0, 0.5, 1.0)


def elo_of(score: float) -> float:
    """Return the Elo difference at which a score is expected; infinite outside of 0 to 1."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def score_of(elo: float) -> float:
    """Return the expected score at an Elo difference."""
    weaker = math.pow(10.0, -abs(elo) / 400.0)  # the odds of the weaker one; never overflows
    return 1.0 / (1.0 + weaker) if elo >= 0 else weaker / (1.0 + weaker)


# -- one match -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchEstimate:
    """Estimates for the agent whose wins were counted; errors are half-widths of 95 % intervals.

    If all units (pairs or games) have the same score, there is no variance to take an error from:
    `se` and `elo_error` are then taken from the interval `low` to `high`.

                        nothing played  one-sided   all ½            anything else
      score, elo        ½, 0            1, inf      ½, 0             finite
      se                0.255           above 0     above 0          above 0
      elo_error         inf             inf         finite           inf if score ± Z·se leaves 0–1
      nelo, nelo_error  0, inf          inf, inf    0, inf           finite
      los               ½               1 − ½^(units + 1)   ½        Φ((score − ½) / se)

    One-sided the other way has 0, −inf and ½^(units + 1) instead.  If all scored ¼, or all ¾, it
    is as if one-sided, but Elo and its error are finite.
    """

    units: int
    """Pairs or games, whichever were counted."""
    score: float
    """Points per game."""
    se: float
    """The standard error of the score."""
    low: float
    """The lower end of the 95 % interval for the score; see `rate_interval`."""
    high: float
    """The upper end of that interval."""
    elo: float
    elo_error: float
    nelo: float
    """Normalized Elo, in units of one game's standard deviation: it decides a test's length."""
    nelo_error: float
    los: float
    """Likelihood of superiority: the probability that this agent is the better one."""

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % interval in Elo: unlike elo ± elo_error it bounds one-sided results, too."""
        return elo_of(self.low), elo_of(self.high)


def of_pairs(counts: PairCounts) -> MatchEstimate:
    """Return the estimates from pairs."""
    return _estimate(checked_counts(counts, 5), PAIR_SCORES, games_per_unit=2)


def of_games(wins: int, losses: int, draws: int = 0) -> MatchEstimate:
    """Return the estimates from independent games, for results without pairs."""
    return _estimate(checked_counts((losses, draws, wins), 3), GAME_SCORES, games_per_unit=1)


def rate_interval(counts: PairCounts) -> tuple[float, float]:
    """Return a 95 % interval for the score from pair counts; 0 to 1 if there are none.

    It is Wilson's interval for as many independent games as would have the variance of these N
    pairs: n = m(1 − m)·N/v, but at least N, where m and v are the mean and the variance of the
    pairs played and two imagined ones, one won and one lost.  Without these two, a few pairs with
    equal scores would have no error at all.

    Coverage, counted exactly for 38 distributions from level to 99 % won and from independent
    games to openings that decide nearly everything: on average 98 % at 5 pairs, 97 % at 35 and 96 %
    at 200; at worst 90 % at 5 (an agent that wins 99 % of its games), 91 % at 10, 93 % at 20 and
    94 % from 35 on.  Limiting n to 8N instead of imagining pairs went down to 84 % at 5 and 89 %
    at 10.
    """
    return _interval(checked_counts(counts, 5), PAIR_SCORES)


def _estimate(counts: Sequence[int], scores: Sequence[float], games_per_unit: int) -> MatchEstimate:
    units = sum(counts)
    low, high = _interval(counts, scores)
    score, variance = _moments(counts, scores) if units else (0.5, 0.0)
    if sum(count > 0 for count in counts) > 1:
        se = math.sqrt(variance / units)
        elo_error = _half_width(elo_of(score - Z * se), elo_of(score + Z * se))
        nelo = (score - 0.5) / math.sqrt(games_per_unit * variance) * NELO
        nelo_error = Z * NELO / math.sqrt(games_per_unit * units)
        los = 0.5 * math.erfc((0.5 - score) / se / math.sqrt(2))
    else:
        # As for a coin of unknown bias that has always fallen on the same side.
        doubt = 0.5 ** (units + 1)
        se = (high - low) / (2 * Z)
        elo_error = _half_width(elo_of(low), elo_of(high))
        nelo, nelo_error = math.inf * (score - 0.5) if score != 0.5 else 0.0, math.inf
        los = 0.5 if score == 0.5 else 1 - doubt if score > 0.5 else doubt
    return MatchEstimate(
        units=units,
        score=score,
        se=se,
        low=low,
        high=high,
        elo=elo_of(score),
        elo_error=elo_error,
        nelo=nelo,
        nelo_error=nelo_error,
        los=los,
    )


def _half_width(low: float, high: float) -> float:
    """Return half the width of an interval; infinite if one of its ends is."""
    # With very many games both may round to the same infinity.
    return (high - low) / 2 if math.isfinite(low) and math.isfinite(high) else math.inf


def _interval(counts: Sequence[int], scores: Sequence[float]) -> tuple[float, float]:
    units = sum(counts)
    if not units:
        return 0.0, 1.0
    score, _ = _moments(counts, scores)
    mean, variance = _moments([counts[0] + 1, *counts[1:-1], counts[-1] + 1], scores)
    games = max(units, mean * (1 - mean) * units / variance)
    return wilson(score, games)


def _moments(counts: Sequence[int], scores: Sequence[float]) -> tuple[float, float]:
    """Return mean and population variance."""
    units = sum(counts)
    mean = math.fsum(n * a for n, a in zip(counts, scores, strict=True)) / units
    spread = math.fsum(n * (a - mean) ** 2 for n, a in zip(counts, scores, strict=True))
    return mean, spread / units


def checked_counts(counts: Sequence[int], classes: int) -> list[int]:
    """Return the counts as ints.  Raise an error if one is negative or there are not `classes`."""
    if len(counts) != classes:
        raise KnightfallError(
            f"{len(counts)} counts of pairs were given: {classes} are needed, one for each result"
        )
    for count in counts:
        if not count >= 0:
            raise KnightfallError(f"{count} is not a count: whole numbers from 0 on are accepted")
    return [int(count) for count in counts]


# -- two agents on the same openings ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two agents' scores on the same openings against the same opponents."""

    pairs: int
    mean: float
    low: float
    """The lower end of the 95 % interval, which lies within −1 and 1; `high` is the upper end."""
    high: float
    p: float
    """The p-value against "no difference"; below 0.05 if 0 lies outside of the interval."""


ALPHA = 0.05

USUAL_DIFFERENCE = 0.03
"""The expected standard deviation of differences between heuristics, as a share of wins.

It decides where the sequential interval is narrowest (see `sequential_difference`), not whether it
is valid."""


def difference(scores_a: Sequence[float], scores_b: Sequence[float]) -> Difference:
    """Compare two agents that met the same opponents from the same openings, pair by pair.

    `scores_a[k]` and `scores_b[k]` are pair scores from 0 to 1 against the same opponent from the
    same opening.  An opening's effect on both cancels out, so this is more precise than two
    separate scores.  Differences are assumed to be independent: average over the opponents first
    if several were met from each opening.

    It is Student's test, but the variance includes two imagined differences, +½ and −½, so that
    equal differences leave some error.  Measured over 27 distributions the interval covers at
    least 96 % at 5 pairs and typically 95 to 97 % from 20 on; only where nine differences in ten
    are the same and the tenth a whole point away is it 87 % at 20 and 93 % at 100.  No pairs: no
    difference, −1 to 1, p = 1.
    """
    gaps = _gaps(scores_a, scores_b)
    if not gaps.size:
        return Difference(0, 0.0, -1.0, 1.0, 1.0)
    from scipy.special import stdtr, stdtrit  # here, because it takes half a second to import

    mean, se = _mean_and_error(gaps)
    freedom = gaps.size + 1
    reach = float(stdtrit(freedom, 1 - ALPHA / 2)) * se
    p = min(1.0, 2 * float(stdtr(freedom, -abs(mean) / se)))
    return Difference(gaps.size, mean, max(-1.0, mean - reach), min(1.0, mean + reach), p)


def sequential_difference(scores_a: Sequence[float], scores_b: Sequence[float]) -> Difference:
    """Compare two agents like `difference`, but validly at any time (a sequential test).

    With 95 % probability the interval covers the truth after every pair at once, and p is ever
    below α in at most a share α of all comparisons of equals.  So it is valid to stop as soon as
    the answer is clear.  It is Robbins' normal mixture: the likelihood of the mean gap if the true
    one is drawn from N(0, `USUAL_DIFFERENCE`²), over that if it is 0, is a martingale between
    equals, and seldom large.  The interval is about 1.6 times as wide as that of `difference`.

    The variance is estimated as there.  In simulations of eight distributions of equals' gaps, from
    nearly always 0 to gaps of −½ and half as many of +1, tested after 20 rounds and after each 5 %
    more up to 2,352 rounds of one or of seven pairs, p was ever below 0.05 in 0.5 to 3.3 % of 1,500
    to 3,000 comparisons each.
    """
    gaps = _gaps(scores_a, scores_b)
    if not gaps.size:
        return Difference(0, 0.0, -1.0, 1.0, 1.0)
    mean, se = _mean_and_error(gaps)
    ratio = (USUAL_DIFFERENCE / se) ** 2
    evidence = ((mean / se) ** 2 * ratio / (1 + ratio) - math.log1p(ratio)) / 2
    reach = se * math.sqrt((1 + 1 / ratio) * (math.log1p(ratio) - 2 * math.log(ALPHA)))
    p = math.exp(-max(0.0, evidence))
    return Difference(gaps.size, mean, max(-1.0, mean - reach), min(1.0, mean + reach), p)


def _gaps(scores_a: Sequence[float], scores_b: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the differences of pair scores.  Raise an error if they are not scores from 0 to 1."""
    a, b = np.asarray(scores_a, float), np.asarray(scores_b, float)
    if a.ndim != 1 or a.shape != b.shape:
        raise KnightfallError(
            f"scores of shapes {a.shape} and {b.shape}: two lists of the same length are accepted"
        )
    scores = np.concatenate([a, b])
    wrong = scores[~((scores >= 0) & (scores <= 1))]
    if wrong.size:
        raise KnightfallError(f"{wrong[0]} is not a pair score: 0 to 1 is accepted")
    gaps: npt.NDArray[np.float64] = a - b
    return gaps


def _mean_and_error(gaps: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean gap, and its standard error with two imagined gaps, +½ and −½, added."""
    return float(gaps.mean()), math.sqrt(float(np.append(gaps, [0.5, -0.5]).var()) / gaps.size)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple comparisons by Holm's method, in the order given.

    If those below 0.05 are called significant, at most 5 % of all such families of comparisons have
    a false one, for any dependence between the comparisons.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise KnightfallError(f"{p} is not a p-value: 0 to 1 is accepted")
    adjusted = [1.0] * len(p_values)
    worst = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        # A larger p-value is never adjusted below a smaller one.
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = worst
    return adjusted
