"""Compare two heuristics on the same openings, and test their difference against a range.

Results are one array per heuristic: row = opponent, column = opening, value = pair score (0, ½ or
1). The arrays are aligned: the same index is the same opponent and opening. Columns are taken as
independent; an opening that was played several times is one column, its average.
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
    """The differences that support a claim and those that contradict it.

    A claim is borne out if the difference is above `above` and below `below`, and refuted if it is
    below `too_low` or above `too_high`. With `advantage_first`, a difference that is significantly
    above 0 decides, however small.
    """

    above: float = -inf
    below: float = inf
    too_low: float = -inf
    too_high: float = inf
    advantage_first: bool = False


@dataclass(frozen=True)
class Comparison:
    """The lead of `a` over `b` in points, its 95 % interval, and its test against a `Range`.

    `p_for` is the p-value of the evidence for the claim (the chance of such a lead if the true one
    lies just outside the supporting range), `p_against` that of the evidence against it.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    p_for: float
    p_against: float


def pair_scores(measured: ScoresByHeuristic, heuristic: str, like: str | None = None) -> PairScores:
    """Return a heuristic's pair scores as an array: opponents × openings.

    Raise a KnightfallError if they are missing, or if the array of the heuristic `like` has another
    shape.
    """
    if heuristic not in measured:
        raise KnightfallError(
            f"no results of {heuristic!r}; there are results of {', '.join(measured) or 'none'}"
        )
    scores = np.asarray(measured[heuristic], float)
    if scores.ndim != 2 or not scores.shape[0]:
        raise KnightfallError(
            f"results of {heuristic!r} have the shape {scores.shape}, expected opponents × openings"
        )
    if like is not None and scores.shape != (other := pair_scores(measured, like)).shape:
        raise KnightfallError(
            f"results of {heuristic!r} and {like!r} have the shapes {scores.shape} and "
            f"{other.shape}, expected the same opponents and openings"
        )
    return scores


def compare_scores(
    measured: ScoresByHeuristic, a: str, b: str, wanted: Range, points: float = 100.0
) -> Comparison:
    """Compare the mean scores of `a` and `b`; the factor `points` converts scores to points."""
    mine, theirs = pair_scores(measured, a, like=b), pair_scores(measured, b)
    # Opponents may share openings, so the column is the independent unit, not the pair.
    return _held_against(a, b, difference(mine.mean(axis=0), theirs.mean(axis=0)), points, wanted)


def compare_growth(
    before: ScoresByHeuristic, after: ScoresByHeuristic, a: str, b: str, wanted: Range
) -> Comparison:
    """Test by how many points the lead of `a` over `b` grew from `before` to `after`.

    The two were measured independently, so their variances add up.
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
    """Compare how much the totals of `b` and `a` vary between tournaments, in points.

    The measure is the standard deviation in tournaments of `pairs` pairs per opponent. It comes
    from the squared deviations of pair scores from their opponent's mean, which are compared
    opening by opening.
    """
    squares = [_squares(pair_scores(measured, a, like=b)), _squares(pair_scores(measured, b))]
    mine, theirs = (each.mean(axis=0) for each in squares)
    # √v − √w = (v − w) / (√v + √w), where both may be 0
    both = sum(sqrt(float(each.mean())) for each in squares) if mine.size else 1.0
    points = 100 / sqrt(pairs * len(squares[0])) / max(both, 1e-3)
    return _held_against(a, b, difference(theirs, mine), points, wanted)


def _squares(scores: PairScores) -> PairScores:
    """Return the squared deviation of each pair score from the mean against its opponent."""
    return (scores - scores.mean(axis=1, keepdims=True)) ** 2 if scores.size else scores


def _held_against(a: str, b: str, found: Difference, points: float, wanted: Range) -> Comparison:
    """Return the comparison of `a` and `b` in points, with its p-values for the range `wanted`.

    `found` is their difference in any unit; `points` converts it to points.
    """
    p_for = max(
        chance(found, wanted.above / points, above=True),
        chance(found, wanted.below / points, above=False),
    )
    p_against = min(
        chance(found, wanted.too_low / points, above=False),
        chance(found, wanted.too_high / points, above=True),
    )
    if wanted.advantage_first and found.low > 0:
        # A proven advantage cannot refute "better", and cannot support "not better".
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
    """Return the two-sided p-value for the true difference being above (or below) a threshold.

    It is below 0.05 if the whole 95 % interval is on the side that `above` names, and 1 if the mean
    is on the opposite side.
    """
    if (found.mean > threshold) != above or found.mean == threshold:
        return 1.0
    # The standard error follows from the interval. The longer half is not cut off at −1 or 1,
    # unless both are; then nothing is known.
    if found.low <= -1 and found.high >= 1:
        return 0.0 if abs(threshold) == inf else 1.0
    freedom = found.pairs + 1
    reach = max(found.mean - found.low, found.high - found.mean)
    se = reach / float(stdtrit(freedom, 0.975))
    return min(1.0, 2 * float(stdtr(freedom, -abs(found.mean - threshold) / se)))


def signed_interval(low: float, high: float, digits: int = 1) -> str:
    """Return an interval as in "(−1.5 to +2.0)"."""
    return f"({signed(low, digits)} to {signed(high, digits)})"


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
    """The verdict on a claim, and the comparison that decided it.

    `difference`, `low` and `high` (in `unit`) are those of the deciding comparison; None where
    nothing was compared. `games` is the number of games of each heuristic, 0 where none were
    needed.
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
        """Return the verdict as text, preceded by its symbol."""
        return f"{MARKS[self.verdict]} {self.verdict}"

    def measured(self, digits: int = 1) -> str:
        """Return the deciding difference as text, with its interval and unit (none for points)."""
        if self.difference is None or self.low is None or self.high is None:
            return "" if self.verdict == "not a claim that can be tested" else "computed"
        if self.unit == "times the cost":
            return f"{self.difference:,.2g} times the cost ({self.low:,.2g} to {self.high:,.2g})"
        unit = "" if self.unit == "points" else f" {self.unit}"
        interval = signed_interval(self.low, self.high, digits)
        return f"{signed(self.difference, digits)}{unit} {interval}"


# -- claims that a study's own figures contradict ------------------------------------------


def contradictions(study: Study) -> list[Erratum]:
    """Return an erratum for every claim that the study's own figures contradict."""
    found = []
    for claim in study.claims:
        if claim.measure != "games" or claim.against is not None:
            continue  # no figure of the study covers such a claim
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
