"""Two heuristics on the same openings, held against a range of differences.

Measured results come as one array per heuristic: row = opponent, column = opening, value = pair
score (0, ½ or 1 for a game without draws).  The arrays of all heuristics are aligned: the same
place is the same opponent and the same opening.  Columns are taken for independent of each other;
an opening that was played several times is one column, its average.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import hypot, inf, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import Difference, difference
from knightfall.studies.published import Claim, Erratum, Study

PairScores = npt.NDArray[np.float64]
ScoresByHeuristic = Mapping[str, PairScores]


@dataclass(frozen=True)
class Range:
    """Which differences a claim wants, and which speak against it; in between lies doubt.

    It is borne out if the difference is above `above` and below `below`, and refuted if it is below
    `too_low` or above `too_high`.  `advantage_first`: a difference that is beyond doubt above 0
    settles the matter, however small.
    """

    above: float = -inf
    below: float = inf
    too_low: float = -inf
    too_high: float = inf
    advantage_first: bool = False


@dataclass(frozen=True)
class Comparison:
    """How far `a` is ahead of `b` in points, its 95 % interval, and what that says of a range.

    `p_for` is the chance of such results if the difference lies just outside the range, `p_against`
    if it lies just inside.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    p_for: float
    p_against: float


def pair_scores(measured: ScoresByHeuristic, heuristic: str, like: str | None = None) -> PairScores:
    """A heuristic's results; they must be there, and aligned with those of another."""
    if heuristic not in measured:
        raise KnightfallError(
            f"no results of {heuristic!r}: there are some of {', '.join(measured) or 'nothing'}"
        )
    scores = np.asarray(measured[heuristic], float)
    if scores.ndim != 2 or not scores.shape[0]:
        raise KnightfallError(
            f"results of {heuristic!r} have the shape {scores.shape}: opponents × openings is "
            "accepted"
        )
    if like is not None and scores.shape != (other := pair_scores(measured, like)).shape:
        raise KnightfallError(
            f"results of {heuristic!r} and {like!r} have the shapes {scores.shape} and "
            f"{other.shape}: the same opponents and openings are accepted"
        )
    return scores


def compare_scores(
    measured: ScoresByHeuristic, a: str, b: str, wanted: Range, points: float = 100.0
) -> Comparison:
    """How many points more `a` scores than `b`; `points` are what a difference of 1 is worth."""
    mine, theirs = pair_scores(measured, a, like=b), pair_scores(measured, b)
    # Opponents were perhaps met from the same openings: the column is the unit, not the pair.
    return _held_against(a, b, difference(mine.mean(axis=0), theirs.mean(axis=0)), points, wanted)


def compare_growth(
    before: ScoresByHeuristic, after: ScoresByHeuristic, a: str, b: str, wanted: Range
) -> Comparison:
    """How many points the advantage of `a` over `b` is larger `after` than `before`.

    The two were measured apart, so their variances add up.
    """
    small, large = (
        difference(pair_scores(one, a, like=b).mean(axis=0), pair_scores(one, b).mean(axis=0))
        for one in (before, after)
    )
    mean = large.mean - small.mean
    if not (small.pairs and large.pairs):
        return _held_against(a, b, Difference(0, mean, -1.0, 1.0, 1.0), 100.0, wanted)
    reach = hypot(*(max(one.mean - one.low, one.high - one.mean) for one in (small, large)))
    pairs = min(small.pairs, large.pairs)
    found = Difference(pairs, mean, max(-1.0, mean - reach), min(1.0, mean + reach), 1.0)
    return _held_against(a, b, found, 100.0, wanted)


def compare_spreads(
    measured: ScoresByHeuristic, a: str, b: str, pairs: int, wanted: Range
) -> Comparison:
    """How many points less the total of `a` varies from tournament to tournament than that of `b`.

    What varies is its standard deviation in tournaments of so many pairs per opponent.  It comes
    from the squared deviations of pair scores from their opponent's mean, which are compared
    opening by opening as scores are.
    """
    squares = [_squares(pair_scores(measured, a, like=b)), _squares(pair_scores(measured, b))]
    mine, theirs = (each.mean(axis=0) for each in squares)
    # √v − √w = (v − w) / (√v + √w), where both may be 0
    both = sum(sqrt(float(each.mean())) for each in squares) if mine.size else 1.0
    points = 100 / sqrt(pairs * len(squares[0])) / max(both, 1e-3)
    return _held_against(a, b, difference(theirs, mine), points, wanted)


def _squares(scores: PairScores) -> PairScores:
    """Squared deviations from each opponent's mean."""
    return (scores - scores.mean(axis=1, keepdims=True)) ** 2 if scores.size else scores


def _held_against(a: str, b: str, found: Difference, points: float, wanted: Range) -> Comparison:
    """The comparison; a difference of 1 is so many points."""
    p_for = max(
        chance(found, wanted.above / points, above=True),
        chance(found, wanted.below / points, above=False),
    )
    p_against = min(
        chance(found, wanted.too_low / points, above=False),
        chance(found, wanted.too_high / points, above=True),
    )
    if wanted.advantage_first and found.low > 0:
        # Wanted: then nothing speaks against it.  Not wanted: then nothing speaks for it.
        p_for, p_against = (p_for, 1.0) if wanted.above == 0 else (1.0, p_against)
    return Comparison(
        a,
        b,
        difference=points * found.mean,
        low=points * found.low,
        high=points * found.high,
        p_for=p_for,
        p_against=p_against,
    )


def chance(found: Difference, threshold: float, *, above: bool) -> float:
    """The two-sided p-value of a difference that is above (or below) a threshold; 1 if it is not.

    Below 0.05 when the whole 95 % interval lies on that side.
    """
    if (found.mean > threshold) != above or found.mean == threshold:
        return 1.0
    # The standard error, from the interval: the longer half is not cut off at −1 or 1 unless both
    # are, and then nothing is known.
    if found.low <= -1 and found.high >= 1:
        return 0.0 if abs(threshold) == inf else 1.0
    freedom = found.pairs + 1
    reach = max(found.mean - found.low, found.high - found.mean)
    se = reach / float(stdtrit(freedom, 0.975))
    return min(1.0, 2 * float(stdtr(freedom, -abs(found.mean - threshold) / se)))


# -- verdicts ------------------------------------------------------------------------------


ClaimVerdict = Literal[
    "holds", "does not hold", "cannot be told apart", "not a claim that can be tested"
]

MARKS: Mapping[ClaimVerdict, str] = {
    "holds": "✓",
    "does not hold": "✗",
    "cannot be told apart": "?",
    "not a claim that can be tested": "–",
}


@dataclass(frozen=True)
class Judgement:
    """What the results say of a claim.

    `difference`, `low` and `high` (in `unit`) are of the comparison that decided; None where
    nothing was compared.  `games` is how many each heuristic played, 0 where none were needed.
    """

    verdict: ClaimVerdict
    difference: float | None
    low: float | None
    high: float | None
    games: int
    words: str
    unit: str = "points"

    @property
    def mark(self) -> str:
        """The verdict and its sign."""
        return f"{MARKS[self.verdict]} {self.verdict}"

    def measured(self, digits: int = 1) -> str:
        """The difference that decided, with its interval and, unless it is points, its unit."""
        if self.difference is None or self.low is None or self.high is None:
            return "" if self.verdict == "not a claim that can be tested" else "computed"
        if self.unit == "times the cost":
            return f"{self.difference:,.2g} times the cost ({self.low:,.2g} to {self.high:,.2g})"
        ends = f"{signed(self.low, digits)} to {signed(self.high, digits)}"
        unit = "" if self.unit == "points" else f" {self.unit}"
        return f"{signed(self.difference, digits)}{unit} ({ends})"


def settled(holds: bool, words: str) -> Judgement:
    """The verdict on a statement that was computed."""
    return Judgement("holds" if holds else "does not hold", None, None, None, 0, words)


# -- what a study's own figures say --------------------------------------------------------


def contradictions(study: Study) -> list[Erratum]:
    """The figures behind every claim that they speak against, taken at their face value."""
    found = []
    for claim in study.claims:
        if claim.measure != "games" or claim.against is not None:
            continue  # no figure of the study is about that alone
        against = [text for a, b in claim.pairs for text in _against(study, claim, a, b)]
        if against:
            text = f"The study's own figures: {'; '.join(against)}."
            found.append(Erratum(f"“{claim.sentence}”", text, "claims"))
    return found


def _against(study: Study, claim: Claim, a: str, b: str) -> Iterator[str]:
    mine, theirs = claim.published[a], claim.published[b]
    ahead = mine - theirs
    least, most = claim.between or (-inf, inf)
    if (
        (claim.form == "better" and ahead <= 0)
        or (claim.form == "not_better" and ahead > 0)
        or not least <= ahead <= most
    ):
        yield f"{a} {mine} %, {b} {theirs} %"
    if claim.tournaments:
        won, of = claim.tournaments
        rows = zip(study.tournaments[a], study.tournaments[b], strict=True)
        readable = [one > two for one, two in rows if one is not None and two is not None]
        if sum(readable) > won or len(readable) - sum(readable) > of - won:
            yield f"{a} is ahead of {b} in {sum(readable)} of {len(readable)} readable tournaments"
