"""Judge the studies' claims by newly measured results.

A claim of several comparisons *holds* if each is borne out at 95 %; since all must be, no
correction for their number is needed. It *does not hold* if the opposite of at least one is shown
after Holm's correction. Otherwise the results *cannot tell*.

The forms of a claim, in points (percent of the games played):

    better       the advantage is above 0.  Its opposite is a disadvantage, or results that
                 exclude an advantage of a point or more
    not_better   the opposite of better
    better_by    the advantage is within the claim's range; the opposite is outside
    alike        the difference is within the claim's range, which is symmetric about 0
    steadier     the standard deviation of a tournament's total is smaller; as for better, with
                 0.2 points instead of a point

The same forms are used for plies searched, the cost of an evaluation and won positions kept;
`published.toml` says what is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import holm
from knightfall.studies.comparisons import (
    ClaimVerdict,
    Comparison,
    Judgement,
    Range,
    ScoresByHeuristic,
    compare_growth,
    compare_scores,
    compare_spreads,
    pair_scores,
    signed_interval,
)
from knightfall.studies.computed_facts import FactInputs, judge_fact
from knightfall.studies.node_costs import compiled_costs, student_costs
from knightfall.studies.plans import PLIES, SIZES
from knightfall.studies.published import Claim, Measure

LEVEL = 0.05


class MeasureUnit(NamedTuple):
    """The unit in which a measure compares heuristics."""

    negligible: float
    """An advantage significantly below this counts as none, unless it is proven to be above 0."""
    name: str
    difference: str
    """The words after a difference in a verdict."""


_POINTS = MeasureUnit(1.0, "points", "points")
UNITS: Mapping[Measure, MeasureUnit] = {
    "games": _POINTS,
    "power": _POINTS,
    "ply": _POINTS,
    "board": MeasureUnit(1.0, "points", "points more on 8×8 than on 7×7"),
    "choices": MeasureUnit(1.0, "points", "points of won positions kept"),
    "depth": MeasureUnit(0.1, "plies", "plies a move"),
    "cost": MeasureUnit(10.0, "%", "%"),
}

NEGLIGIBLE_SPREAD = 0.2
"""As `negligible`, for the standard deviation of a tournament's total (about four points)."""

TEN_PLIES = 10.0
"""Unit of depths: tens of plies, so that differences stay between −1 and 1."""

ONCE = "once"
"""The key of a verdict that does not depend on a budget."""

COST_ERROR = 0.1
"""Relative error assumed for a ratio of two costs."""

TYPICAL_OPEN, TYPICAL_MOVES = 34, 8
"""Open cells, and moves of both players together, in the middle of an average game."""


@dataclass(frozen=True)
class Evidence:
    """All measurements that a study's claims are judged by; empty where not measured."""

    inputs: FactInputs
    games: Mapping[str, ScoresByHeuristic] = field(default_factory=dict)
    """Pair scores by budget."""
    depths: Mapping[str, ScoresByHeuristic] = field(default_factory=dict)
    """By budget: search depth per move in tens of plies, by opponent and opening."""
    power: ScoresByHeuristic = field(default_factory=dict)
    plies: ScoresByHeuristic = field(default_factory=dict)
    """Games between two agents: a row for each depth of the one that searches a ply less."""
    boards: Mapping[str, ScoresByHeuristic] = field(default_factory=dict)
    """By board: games between two agents at equal time."""
    choices: Mapping[str, ScoresByHeuristic] = field(default_factory=dict)
    """Choices by phase of the game."""


def judge_claim(claim: Claim, evidence: Evidence) -> dict[str, Judgement]:
    """Return the verdicts on a claim by budget, or one under `ONCE` if budgets do not matter.

    Empty if the required measurement is missing.
    """
    if claim.form == "untestable":
        verdict: ClaimVerdict = "not a claim that can be tested"
        return {ONCE: Judgement(verdict, None, None, None, 0, claim.reason)}
    if claim.form == "fact" and claim.fact is not None:
        found = judge_fact(claim.fact, evidence.inputs)
        return {ONCE: found} if found else {}
    match claim.measure:
        case "cost":
            return {ONCE: judge_cost(claim, evidence.inputs.board)}
        case "choices":
            measured = phase_choices(evidence.choices, claim.phase)
            return {ONCE: judge(claim, measured)} if measured else {}
        case "power":
            return {ONCE: judge(claim, evidence.power)} if evidence.power else {}
        case "ply":
            return {ONCE: judge_ply(claim, evidence.plies)} if evidence.plies else {}
        case "board":
            return {ONCE: judge_boards(claim, evidence)} if evidence.boards else {}
        case "depth":
            return {name: judge(claim, rows) for name, rows in evidence.depths.items()}
    return {name: judge(claim, rows) for name, rows in evidence.games.items()}


def judge(claim: Claim, measured: ScoresByHeuristic) -> Judgement:
    """Judge a claim by measured pair scores (see `comparisons` for their format)."""
    if claim.against is not None:
        rows = list(claim.against)
        measured = {id: pair_scores(measured, id)[rows] for id in measured}
    if claim.form == "won_tournaments":
        return _judge_tournaments(claim, measured)
    wanted = _range(claim)
    if claim.form == "steadier":
        pairs = claim.games_per_opponent // 2
        parts = [compare_spreads(measured, a, b, pairs, wanted) for a, b in claim.pairs]
    else:
        worth = TEN_PLIES if claim.measure == "depth" else 100.0
        parts = [compare_scores(measured, a, b, wanted, worth) for a, b in claim.pairs]
    units = pair_scores(measured, claim.who[0]).size
    return _judged(claim, parts, 0 if claim.measure == "choices" else 2 * units)


def judge_ply(claim: Claim, measured: ScoresByHeuristic) -> Judgement:
    """Judge a claim by games in which `who` searches one ply deeper than `than`."""
    found = judge(claim, measured)
    (a,) = claim.who
    rates = [100 * float(row.mean()) for row in pair_scores(measured, a)]
    rates_by_depth = ", ".join(
        f"{rate:.1f} % at depth {depth + 1} against {depth}"
        for depth, rate in zip(PLIES, rates, strict=True)
    )
    return replace(found, words=f"{found.words}; of its games {a} wins {rates_by_depth}")


def judge_boards(claim: Claim, evidence: Evidence) -> Judgement:
    """Judge a claim by the advantage that `who` gains over `than` from 7×7 to 8×8.

    The verdict's words also report the claim's fact, which does not affect the verdict.
    """
    ((a, b),) = claim.pairs
    boards = [evidence.boards[size] for size in SIZES]
    parts = [compare_growth(boards[0], boards[1], a, b, _range(claim))]
    found = _judged(claim, parts, 2 * sum(pair_scores(one, a).size for one in boards))
    each = [compare_scores(one, a, b, Range()) for one in boards]
    leads = ", ".join(
        f"{signed(one.difference, 1)} on {size.replace('x', '×')} "
        + signed_interval(one.low, one.high)
        for size, one in zip(SIZES, each, strict=True)
    )
    fact = judge_fact(claim.fact, evidence.inputs) if claim.fact else None
    beside = f"; {fact.words}" if fact else ""
    return replace(found, words=f"{found.words}; points of {a}: {leads}{beside}")


def phase_choices(choices: Mapping[str, ScoresByHeuristic], phase: str | None) -> ScoresByHeuristic:
    """Return every heuristic's choices in one phase, or in all phases one after the other."""
    if phase is not None or not choices:
        return choices.get(phase or "", {})
    ids = next(iter(choices.values()))
    return {id: np.hstack([rows[id] for rows in choices.values()]) for id in ids}


def judge_cost(claim: Claim, board: str) -> Judgement:
    """Judge a claim by the cost of evaluations in plain Python on a course's board.

    The advantage is how much cheaper `who` is, in % of the cost of `than`; the verdict reports the
    ratio of the two costs.
    """
    wanted = _range(claim)
    parts: list[Comparison] = []
    for a, b in claim.pairs:
        ratio = evaluation_cost(board, a) / evaluation_cost(board, b)
        cheaper, low, high = (
            100 * (1 - ratio * error) for error in (1, 1 + COST_ERROR, 1 - COST_ERROR)
        )
        borne_out = wanted.above <= low and high <= wanted.below
        refuted = high < wanted.too_low or low > wanted.too_high
        parts.append(Comparison(a, b, cheaper, low, high, float(not borne_out), float(not refuted)))
    found = _judged(claim, parts, 0)
    first = next(part for part in parts if part.difference == found.difference)
    a, b, ratio = first.a, first.b, 1 - first.difference / 100
    compiled = compiled_costs().ratios
    low, high = ratio * (1 - COST_ERROR), ratio * (1 + COST_ERROR)
    many = f"{sum(not part.p_for for part in parts)} of {len(parts)} comparisons borne out; "
    costs = [f"{evaluation_cost(board, id) / 1000:,.1f} µs" for id in (a, b)]
    return replace(
        found,
        difference=ratio,
        low=low,
        high=high,
        unit="times the cost",
        words=f"{many if len(parts) > 1 else ''}an evaluation with {a} costs {costs[0]}, with {b} "
        f"{costs[1]}: {ratio:.2g} times as much ({low:.2g} to {high:.2g}); a node of our compiled "
        f"search costs {compiled[a] / compiled[b]:.2g} times as much",
    )


def evaluation_cost(board: str, heuristic: str) -> float:
    """Return the nanoseconds of an evaluation in plain Python in the middle of an average game."""
    cost = student_costs(board, heuristic)
    return cost.score + cost.score_open * TYPICAL_OPEN + cost.score_move * TYPICAL_MOVES


def _range(claim: Claim) -> Range:
    small = UNITS[claim.measure].negligible
    match claim.form:
        case "better":
            return Range(above=0.0, too_low=small, advantage_first=True)
        case "not_better":
            return Range(below=small, too_high=0.0, advantage_first=True)
        case "steadier":
            return Range(above=0.0, too_low=NEGLIGIBLE_SPREAD, advantage_first=True)
    if claim.between is None:
        raise KnightfallError(
            f"claim {claim.sentence!r} lacks 'between', its range in {UNITS[claim.measure].name}"
        )
    least, most = claim.between
    return Range(above=least, below=most, too_low=least, too_high=most)


# -- comparisons ---------------------------------------------------------------------------


def _judged(claim: Claim, parts: Sequence[Comparison], games: int) -> Judgement:
    """Return the verdict on a claim that consists of comparisons."""
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
    first, unit = parts[0], UNITS[claim.measure]
    return Judgement(
        verdict,
        first.difference,
        first.low,
        first.high,
        games,
        _words(claim, verdict, parts),
        unit.difference if claim.measure in ("choices", "board") else unit.name,
    )


def _words(claim: Claim, verdict: ClaimVerdict, parts: Sequence[Comparison]) -> str:
    first = parts[0]
    what, digits = UNITS[claim.measure].difference, 1
    if claim.form == "steadier":
        what, digits = "points less standard deviation in a tournament's total", 2
    interval = signed_interval(first.low, first.high, digits)
    words = f"{first.a} against {first.b}: {signed(first.difference, digits)} {what} {interval}"
    if len(parts) > 1:
        borne_out = sum(part.p_for < LEVEL for part in parts)
        words = f"{borne_out} of {len(parts)} comparisons borne out; {_DECIDED[verdict]} {words}"
    return words


_DECIDED: dict[ClaimVerdict, str] = {
    "holds": "the closest:",
    "does not hold": "refuted by",
    "cannot be told apart": "least clear:",
}


def meaning(claim: Claim) -> str:
    """Return how the claim is interpreted and by which measurement it is judged."""
    if claim.form == "untestable":
        return "an opinion, or too vague to be wrong"
    if claim.fact == "prevents_forfeits":
        return (
            "fewer games given up than by the same agents without it, and surely less than 1 % "
            "left; by games as the author's agents played them"
        )
    if claim.form == "fact":
        return "a statement of fact; it is computed"
    return f"{_demand(claim)}; by {_compared(claim)}"


def _demand(claim: Claim) -> str:
    """Return in words which result the claim's form requires."""
    negligible, unit, _ = UNITS[claim.measure]
    least, most = claim.between or (0.0, 0.0)
    small = f"{negligible:g} {unit}".replace("1 points", "1 point")
    if claim.measure == "cost" and claim.form == "alike":
        return f"{1 - most / 100:g} to {1 + most / 100:g} times the cost"
    match claim.form:
        case "better":
            return f"an advantage (surely less than {small} counts as none unless it is proven)"
        case "not_better":
            return f"no advantage (surely less than {small} counts as none unless it is proven)"
        case "alike":
            return f"at most {most:g} {unit} apart"
        case "steadier":
            return (
                "a smaller standard deviation of a tournament's total (surely less than "
                f"{NEGLIGIBLE_SPREAD:g} points counts as none unless it is proven)"
            )
        case "won_tournaments":
            return "a count that is ordinary luck for the measured strength"
    if least < 0:
        return f"at most {-least:g} {unit} less"
    return f"{least:g} to {most:g} {unit} ahead"


def _compared(claim: Claim) -> str:
    match claim.measure:
        case "power":
            return "games as the author's agents played them, all with ten times the time"
        case "ply":
            return (
                f"games between the two, {claim.who[0]} at depth {PLIES[0] + 1} to "
                f"{PLIES[-1] + 1} and {claim.than[0]} a ply less deep (points: games won less "
                "games lost)"
            )
        case "board":
            return (
                "what it gains from 7×7 to 8×8 in games between the two at equal time, by what a "
                "node costs on each board (points: games won less games lost)"
            )
        case "depth":
            return "the plies searched for a move"
        case "cost":
            return "the time of an evaluation in plain Python on the course's board"
        case "choices":
            phase = {"opening": " in the opening", "middle": " in the middle game"}
            where = "" if claim.phase is None else phase.get(claim.phase, " near the end")
            return f"the won positions{where} that the heuristic's choice after one ply keeps won"
    if claim.against is not None:
        return "games against the opponents named"
    return "games in the study's tournament"


# -- tournaments ---------------------------------------------------------------------------


def chance_to_win(measured: ScoresByHeuristic, a: str, b: str, pairs: int, ahead: float) -> float:
    """Return the chance that `a` wins more games than `b` in a tournament of `pairs` pairs per
    opponent, if `a` is `ahead` points stronger.

    Both play the same openings. The difference in wins is taken as normal, with the variance
    measured for each opponent (plus two imagined differences). A tie does not count as winning, so
    the limit is half a game above 0.
    """
    gaps = pair_scores(measured, a, like=b) - pair_scores(measured, b)
    imagined = np.tile([0.5, -0.5], (gaps.shape[0], 1))
    variance = float(np.hstack([gaps, imagined]).var(axis=1).sum()) * pairs * 2**2
    expected = ahead / 100 * 2 * pairs * gaps.shape[0]
    return float(ndtr((expected - 0.5) / sqrt(variance)))


def _judge_tournaments(claim: Claim, measured: ScoresByHeuristic) -> Judgement:
    """Judge a claim that a heuristic won k of n tournaments, given its measured strength.

    The count is compared with the chance to win one tournament, whose interval follows from that of
    the strength difference. A count of k in n is within the 95 % range of luck for all chances in
    the Clopper-Pearson interval of k and n. The claim holds if that interval contains the whole
    interval of the chance, and does not hold if the two are disjoint.
    """
    ((a, b),) = claim.pairs
    if claim.tournaments is None:
        raise KnightfallError(
            f"claim {claim.sentence!r} lacks 'tournaments', the numbers won and played"
        )
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
        f"{signed_interval(part.low, part.high)}, so it wins a tournament of {games} games with a "
        f"chance of {chances[1]:.0%} "
        f"({chances[0]:.0%} to {chances[2]:.0%}); {won} of {of} is ordinary luck for any chance "
        f"from {least:.0%} to {most:.0%}, so the count says little of strength"
    )
    played = 2 * pair_scores(measured, a).size
    return Judgement(verdict, part.difference, part.low, part.high, played, words)


# -- tables --------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableOrder:
    """How many pairs of heuristics our games rank in the same order as a study's table.

    At 95 %, games confirm the order of some pairs, reverse that of others and leave the rest open.
    """

    confirmed: int
    reversed: int
    open: int


def judge_order(figures: Mapping[str, float], measured: ScoresByHeuristic) -> TableOrder:
    """Compare the order of a table's figures with measured pair scores, pair by pair.

    No sentence of the study needs to claim the order; pairs with equal figures are left out.
    """
    ids = sorted(figures, key=lambda id: -figures[id])
    couples = [(a, b) for a, b in combinations(ids, 2) if figures[a] > figures[b]]
    parts = [compare_scores(measured, a, b, Range(above=0.0, too_low=0.0)) for a, b in couples]
    confirmed = sum(part.p_for < LEVEL for part in parts)
    reversed = sum(part.p_against < LEVEL for part in parts)
    return TableOrder(confirmed, reversed, len(parts) - confirmed - reversed)
