"""Judging the studies' claims by results that were measured anew.

A claim made of several comparisons *holds* if each of them is borne out at 95 %: all must be, so
none needs a correction for being many.  It *does not hold* if the opposite of at least one is,
after Holm's correction, for any would do.  Otherwise the results *cannot tell*.

What the words of a claim mean, in points (hundredths of the games played):

    better       the advantage is above 0.  Its opposite is shown by a disadvantage, and also by
                 results that leave room for an advantage of less than a point only
    not_better   the opposite of that
    better_by    the advantage is within the claim's range; outside of it is the opposite
    alike        the difference is within the claim's range, which reaches as far down as up
    steadier     the standard deviation of a tournament's total is smaller; as for better, with a
                 fifth of a point instead of a point
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from scipy.special import betaincinv, ndtr

from knightfall.board import Board
from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import holm
from knightfall.studies.judging.comparisons import (
    Comparison,
    Range,
    ScoresByHeuristic,
    compare_scores,
    compare_spreads,
    pair_scores,
)
from knightfall.studies.published.published import Claim

LEVEL = 0.05

NEGLIGIBLE = 1.0
"""Points: an advantage that is surely smaller than this counts as none, unless it surely exists."""

NEGLIGIBLE_SPREAD = 0.2
"""The same for the standard deviation of a tournament's total, which is some four points."""

ClaimVerdict = Literal["holds", "does not hold", "cannot be told apart"]


MARKS: Mapping[ClaimVerdict, str] = {
    "holds": "✓",
    "does not hold": "✗",
    "cannot be told apart": "?",
}


@dataclass(frozen=True)
class Judgement:
    """What the results say of a claim.

    `difference`, `low` and `high` (in points) are of the comparison that decided; None where no
    games were needed.  `games` is how many each heuristic played.
    """

    verdict: ClaimVerdict
    difference: float | None
    low: float | None
    high: float | None
    games: int
    words: str

    @property
    def mark(self) -> str:
        """The verdict and its sign."""
        return f"{MARKS[self.verdict]} {self.verdict}"

    def measured(self, digits: int = 1) -> str:
        """The difference that decided, with its interval."""
        if self.difference is None or self.low is None or self.high is None:
            return "solved exactly"
        ends = f"{signed(self.low, digits)} to {signed(self.high, digits)}"
        return f"{signed(self.difference, digits)} ({ends})"


def judge(claim: Claim, measured: ScoresByHeuristic) -> Judgement:
    """Hold a claim against measured pair scores (see `comparisons` for what they look like)."""
    if claim.form == "second_player_wins":
        from knightfall.solver.survey import survey

        return judge_placement(survey(Board.of(7, 7)).second_wins_from_the_empty_board)
    if claim.form == "won_tournaments":
        return _judge_tournaments(claim, measured)
    wanted = _range(claim)
    if claim.form == "steadier":
        pairs = claim.games_per_opponent // 2
        parts = [compare_spreads(measured, a, b, pairs, wanted) for a, b in claim.pairs]
    else:
        parts = [compare_scores(measured, a, b, wanted) for a, b in claim.pairs]
    return _judged(claim, parts, _games(measured, claim.who[0]))


def judge_placement(second_wins: bool) -> Judgement:
    """The claim that the second player wins from the empty board, by the solver's word."""
    if second_wins:
        words = "settled by exact solution: the second player can win against every placement"
    else:
        words = "settled by exact solution: the first player has a placement that wins"
    return Judgement("holds" if second_wins else "does not hold", None, None, None, 0, words)


def _games(measured: ScoresByHeuristic, heuristic: str) -> int:
    return 2 * pair_scores(measured, heuristic).size


def _range(claim: Claim) -> Range:
    match claim.form:
        case "better":
            return Range(above=0.0, too_low=NEGLIGIBLE, advantage_first=True)
        case "not_better":
            return Range(below=NEGLIGIBLE, too_high=0.0, advantage_first=True)
        case "steadier":
            return Range(above=0.0, too_low=NEGLIGIBLE_SPREAD, advantage_first=True)
    if claim.between is None:
        raise KnightfallError(f"claim {claim.sentence!r} has no range of points")
    least, most = claim.between
    return Range(above=least, below=most, too_low=least, too_high=most)


# -- comparisons ---------------------------------------------------------------------------


def _judged(claim: Claim, parts: Sequence[Comparison], games: int) -> Judgement:
    """The verdict on a claim that is made of comparisons."""
    against = min(holm([part.p_against for part in parts]))
    if all(part.p_for < LEVEL for part in parts):
        verdict: ClaimVerdict = "holds"
        parts = sorted(parts, key=lambda part: -part.p_for)
    elif against < LEVEL:
        verdict = "does not hold"
        parts = sorted(parts, key=lambda part: part.p_against)
    else:
        verdict = "cannot be told apart"
        parts = sorted(parts, key=lambda part: (-part.p_for, part.p_against))
    first = parts[0]
    return Judgement(
        verdict,
        first.difference,
        first.low,
        first.high,
        games,
        _words(claim, verdict, parts),
    )


def _words(claim: Claim, verdict: ClaimVerdict, parts: Sequence[Comparison]) -> str:
    first = parts[0]
    if claim.form == "steadier":
        what, digits = "points less standard deviation in a tournament's total", 2
    else:
        what, digits = "points", 1
    told = (
        f"{first.a} against {first.b}: {signed(first.difference, digits)} {what} "
        f"({signed(first.low, digits)} to {signed(first.high, digits)})"
    )
    if len(parts) > 1:
        borne_out = sum(part.p_for < LEVEL for part in parts)
        told = f"{borne_out} of {len(parts)} comparisons borne out; {_DECIDED[verdict]} {told}"
    return "; ".join([told, *_meaning(claim, verdict)])


_DECIDED: dict[ClaimVerdict, str] = {
    "holds": "the closest:",
    "does not hold": "refuted by",
    "cannot be told apart": "least clear:",
}


def _meaning(claim: Claim, verdict: ClaimVerdict) -> list[str]:
    """The definition that the verdict rests on, where it rests on one."""
    least, most = claim.between or (0.0, 0.0)
    match claim.form:
        case "alike":
            return [f"alike means at most {most:g} points apart"]
        case "better_by":
            return [f"taken to mean {least:g} to {most:g} points ahead"]
        case "better" | "steadier" if verdict == "holds":
            return []
        case "not_better" if verdict == "does not hold":
            return []
    least = NEGLIGIBLE_SPREAD if claim.form == "steadier" else NEGLIGIBLE
    small = f"{least:g} point" if least == 1 else f"{least:g} points"
    return [f"an advantage of less than {small} counts as none unless it is proven"]


# -- tournaments ---------------------------------------------------------------------------


def chance_to_win(measured: ScoresByHeuristic, a: str, b: str, pairs: int, ahead: float) -> float:
    """The chance that `a` wins more games than `b` in a tournament of so many pairs per opponent,
    were it `ahead` points stronger.

    Both play the same openings.  The difference in wins is taken for normal, with the variance
    measured for each opponent (two imagined differences added, as everywhere); being level, which
    is not winning, is cut off half a game above 0.
    """
    gaps = pair_scores(measured, a, like=b) - pair_scores(measured, b)
    imagined = np.tile([0.5, -0.5], (gaps.shape[0], 1))
    variance = float(np.hstack([gaps, imagined]).var(axis=1).sum()) * pairs * 2**2
    expected = ahead / 100 * 2 * pairs * gaps.shape[0]
    return float(ndtr((expected - 0.5) / sqrt(variance)))


def _judge_tournaments(claim: Claim, measured: ScoresByHeuristic) -> Judgement:
    """So many tournaments won of so many: luck as much as strength.

    The count is compared with the chance to win one tournament, which has an interval because the
    difference in strength has one.  A count of k in n is within the 95 % range of luck for all
    chances in the Clopper-Pearson interval of k and n.  The claim holds if that takes in the whole
    interval of the chance, and does not hold if the two have nothing in common.
    """
    ((a, b),) = claim.pairs
    if claim.tournaments is None:
        raise KnightfallError(f"claim {claim.sentence!r} has no number of tournaments")
    won, of = claim.tournaments
    part = compare_scores(measured, a, b, Range())
    chances = [
        chance_to_win(measured, a, b, claim.games_per_opponent // 2, ahead)
        for ahead in (part.low, part.difference, part.high)
    ]
    least = float(betaincinv(won, of - won + 1, 0.025)) if won else 0.0
    most = float(betaincinv(won + 1, of - won, 0.975)) if won < of else 1.0
    if least <= chances[0] and chances[2] <= most:
        verdict: ClaimVerdict = "holds"
    elif chances[2] < least or chances[0] > most:
        verdict = "does not hold"
    else:
        verdict = "cannot be told apart"
    games = claim.games_per_opponent * pair_scores(measured, a).shape[0]
    words = (
        f"{a} against {b}: {signed(part.difference, 1)} points "
        f"({signed(part.low, 1)} to {signed(part.high, 1)}), "
        f"so it wins a tournament of {games} games with a chance of {chances[1]:.0%} "
        f"({chances[0]:.0%} to {chances[2]:.0%}); {won} of {of} is ordinary luck for any chance "
        f"from {least:.0%} to {most:.0%}, so the count says little of strength"
    )
    return Judgement(verdict, part.difference, part.low, part.high, _games(measured, a), words)
