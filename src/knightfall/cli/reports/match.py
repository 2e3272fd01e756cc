"""A match's report: the block that engine authors read, and a verdict that everyone does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knightfall.cli.reports.report import (
    accidents,
    heading,
    losses,
    percent,
    plus_minus,
    row_json,
    searched,
    signed,
)
from knightfall.cli.screen.output import console, number

if TYPE_CHECKING:
    from knightfall.arena.plan.plan import Plan
    from knightfall.arena.results.tallies import Results
    from knightfall.statistics.pairs import Verdict
    from knightfall.statistics.sprt import Sprt


def test_of(plan: Plan) -> Sprt | None:
    """The sequential test of a match, if it has one."""
    from knightfall.statistics.sprt import Sprt

    stop = dict(plan.stop)
    return Sprt(**stop) if stop.pop("rule", None) == "sprt" else None


def _verdict(pairs: Sequence[int]) -> Verdict:
    from knightfall.statistics.pairs import of_pairs

    lost, split, won = pairs
    return of_pairs((lost, 0, split, 0, won))


def block(plan: Plan, pairs: Sequence[int]) -> list[str]:
    """The result so far, all numbers from the view of the first agent."""
    lost, split, won = pairs
    verdict, test = _verdict(pairs), test_of(plan)
    a, b = plan.entrants
    wins, games = 2 * won + split, 2 * sum(pairs)
    lines = [
        f"{a.name} against {b.name}",
        f"Elo   {plus_minus(verdict.elo, verdict.elo_error, 1)}   "
        f"nElo {plus_minus(verdict.nelo, verdict.nelo_error, 1)}   LOS {100 * verdict.los:.1f} %",
        f"Games {games:,}: {wins:,} won, {games - wins:,} lost, {percent(verdict.score)} "
        f"({100 * verdict.low:.1f}–{100 * verdict.high:.1f})",
        f"Pairs [LL, WL, WW] [{lost}, {split}, {won}]",
    ]
    if test is not None:
        lower, upper = test.bounds
        llr = test.llr((lost, 0, split, 0, won))
        lines.append(
            f"LLR   {signed(llr, 2).lstrip('+')} ({signed(lower, 2)}, {upper:.2f}) "
            f"[{test.elo0:g}, {test.elo1:g}] {test.model}"
        )
    return lines


def to_json(found: Results) -> dict[str, Any]:
    """The report for scripts."""
    from knightfall.arena.results import standings

    plan, match = found.run.plan, found.matches[0]
    lost, split, won = match.pairs
    verdict, test = _verdict(match.pairs), test_of(plan)
    llr = None if test is None else test.llr((lost, 0, split, 0, won))
    lower, upper = (None, None) if test is None else test.bounds
    ratings = standings.rated(plan, standings.outcomes_of(found.run)).anchored(1)
    return {
        "agents": [row_json(row) for row in standings.rows(found, [0, 1], ratings)],
        "counts": [lost, split, won],
        "score": verdict.score,
        "low": verdict.low,
        "high": verdict.high,
        "elo": number(verdict.elo),
        "elo_error": number(verdict.elo_error),
        "nelo": number(verdict.nelo),
        "nelo_error": number(verdict.nelo_error),
        "los": verdict.los,
        "llr": llr,
        "lower": lower,
        "upper": upper,
        "verdict": None if test is None or llr is None else test.verdict(llr),
        "words": words(found),
    }


def print_text(found: Results) -> None:
    """The report for people."""
    from knightfall.arena.results import standings

    plan, match = found.run.plan, found.matches[0]
    screen = console()
    screen.print(heading(found), soft_wrap=True)
    screen.print()
    for line in block(plan, match.pairs):
        screen.print(line, soft_wrap=True)
    screen.print()
    ratings = standings.rated(plan, standings.outcomes_of(found.run))
    for row in standings.rows(found, [0, 1], ratings):
        fared, effort = row.fared, row.fared.effort
        screen.print(
            f"{row.name}: {percent(fared.first.share)} as N, {percent(fared.second.share)} as n; "
            f"{percent(fared.hunter.share)} hunting, {percent(fared.runner.share)} running; "
            f"{searched(effort)}lost by {losses(row)}",
            soft_wrap=True,
        )
    for line in accidents(found):
        screen.print(line, soft_wrap=True)
    screen.print()
    screen.print(words(found), soft_wrap=True)


def words(found: Results) -> str:
    """The verdict in a sentence or two."""
    plan, match = found.run.plan, found.matches[0]
    a, b = (entrant.name for entrant in plan.entrants)
    pairs = sum(match.pairs)
    if not pairs:
        return "No pair has been played yet."
    verdict, test = _verdict(match.pairs), test_of(plan)
    if test is not None:
        lost, split, won = match.pairs
        accepted = test.verdict(test.llr((lost, 0, split, 0, won)))
        unit = "normalized Elo" if test.model == "normalized" else "Elo"
        if accepted == "H1":
            return (
                f"Passed after {pairs:,} pairs: that {a} is {test.elo1:g} {unit} better than {b} "
                f"explains the results, that it is {test.elo0:g} does not."
            )
        if accepted == "H0":
            return (
                f"Failed after {pairs:,} pairs: {a} is not {test.elo1:g} {unit} better than {b}; "
                f"{test.elo0:g} explains the results better."
            )
        if not found.run.finished:
            return f"Not decided after {pairs:,} pairs; the same command goes on."
        if found.played == len(plan.starts) * plan.repeats:
            return (
                f"Not decided after {pairs:,} pairs, and all openings are used up: bounds further "
                "apart need fewer."
            )
        return f"Not decided after {pairs:,} pairs."
    if plan.entrants[0].agent == plan.entrants[1].agent:
        return "The two are one agent: every pair is split, whoever it plays like."
    if verdict.low > 0.5:
        return f"{a} is better than {b}: the whole interval lies above 50 %."
    if verdict.high < 0.5:
        return f"{a} is worse than {b}: the whole interval lies below 50 %."
    return (
        f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} cannot tell {a} and {b} apart: "
        f"50 % lies within the interval."
    )
