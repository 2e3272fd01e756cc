"""Rates and how sure they are: Wilson's interval, clustered standard errors, AUC, bins of scores.

Decisions of one game resemble each other, and so do games from openings that are mirror images.
A family is the set of games from openings that are mirror images; standard errors are clustered by
family.  Samples that are too small or one-sided give None, never nan.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Z = 1.959964
"""Standard errors to either side of a 95 % interval."""


def wilson(rate: float, of: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a rate in `of` independent cases; 0 to 1 if there are none.

    `of` need not be whole: it may be an effective number of cases.
    """
    if not of:
        return 0.0, 1.0
    whole = 1 + Z * Z / of
    middle = (rate + Z * Z / (2 * of)) / whole
    reach = Z * math.sqrt(rate * (1 - rate) / of + (Z / (2 * of)) ** 2) / whole
    # Rounding must not push the ends past their exact values.
    low = 0.0 if rate == 0 else max(0.0, min(rate, middle - reach))
    high = 1.0 if rate == 1 else min(1.0, max(rate, middle + reach))
    return low, high


@dataclass(frozen=True, slots=True)
class Share:
    """`count` out of `of` independent cases."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share itself; None if there are no cases."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; 0 to 1 if there are no cases."""
        return wilson(self.rate or 0.0, self.of)


def clustered_error(cases: Iterable[tuple[Hashable, int, int]]) -> float | None:
    """Return the standard error of the rate Σk / Σn over cases (family, k, n), clustered by family.

    A ratio estimator: with p the overall rate, a family contributes k − p·n to the error, and
    families are independent.  None for fewer than two families with n > 0.
    """
    families: dict[Hashable, list[int]] = {}
    for family, k, n in cases:
        if n:
            sums = families.setdefault(family, [0, 0])
            sums[0] += k
            sums[1] += n
    if len(families) < 2:
        return None
    total = sum(n for _, n in families.values())
    p = sum(k for k, _ in families.values()) / total
    return math.sqrt(math.fsum((k - p * n) ** 2 for k, n in families.values())) / total


# -- scores against truth --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scored:
    """A position with a player's score for the side to move, and whether that side really wins."""

    score: float
    won: bool
    family: Hashable


@dataclass(frozen=True, slots=True)
class Auc:
    """The probability that a won position scores above a lost one (a tie counts half)."""

    value: float
    error: float | None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, clipped to 0 … 1; all of 0 … 1 if the error is unknown."""
        if self.error is None:
            return 0.0, 1.0
        return max(0.0, self.value - Z * self.error), min(1.0, self.value + Z * self.error)


def auc(cases: Sequence[Scored]) -> Auc | None:
    """Return how well the scores separate won from lost positions; None unless there are both.

    The error is DeLong's, clustered by family as Obuchowski does: each position is replaced by the
    share of positions with the other result that it is ranked correctly against.
    """
    won = np.array([case.won for case in cases], bool)
    if won.all() or not won.any():
        return None
    scores = np.array([case.score for case in cases], float)
    numbers: dict[Hashable, int] = {}
    families = [numbers.setdefault(case.family, len(numbers)) for case in cases]
    distinct, place = np.unique(scores, return_inverse=True)
    wins = np.bincount(place[won], minlength=distinct.size)
    losses = np.bincount(place[~won], minlength=distinct.size)
    # Twice the number of losses below each score, and of wins above it; ties count once.
    below = 2 * np.cumsum(losses) - losses
    above = 2 * (wins.sum() - np.cumsum(wins)) + wins
    pairs = 2 * int(wins.sum()) * int(losses.sum())
    value = int((wins * below).sum()) / pairs
    right = np.where(
        won,
        below[place] / (2 * losses.sum()),
        above[place] / (2 * wins.sum()),
    )
    weight = np.where(won, 1 / wins.sum(), 1 / losses.sum())
    sums = np.bincount(families, weights=weight * (right - value))
    error = math.sqrt(math.fsum(sums**2)) if len(numbers) > 1 else None
    return Auc(value, error)


@dataclass(frozen=True, slots=True)
class Bin:
    """The positions with scores from `lowest` to `highest`, and the share of them that is won."""

    lowest: float
    highest: float
    won: Share


def quantile_bins(cases: Sequence[Scored], bins: int) -> list[Bin]:
    """Return at most `bins` bins of about equal size, from the lowest scores up.

    Equal scores stay in one bin, that of the middle one of them, so a score that half the positions
    share makes one large bin.
    """
    tally: dict[float, list[int]] = {}
    for case in cases:
        counts = tally.setdefault(case.score, [0, 0])
        counts[0] += case.won
        counts[1] += 1
    filled: dict[int, list[tuple[float, int, int]]] = {}
    before = 0
    for score in sorted(tally):
        won, of = tally[score]
        filled.setdefault((2 * before + of) * bins // (2 * len(cases)), []).append((score, won, of))
        before += of
    return [
        Bin(
            lowest=inside[0][0],
            highest=inside[-1][0],
            won=Share(sum(won for _, won, _ in inside), sum(of for _, _, of in inside)),
        )
        for _, inside in sorted(filled.items())
    ]
