"""What a study's author wished for: what it brought, and how to run it."""

from __future__ import annotations

from collections.abc import Iterator

from knightfall.studies.judging.measured import Gap
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.report.markdown import bullets, command, fold, heading, table
from knightfall.studies.report.report import (
    StudiesReport,
    StudyReport,
    WishComparisonReport,
    WishReport,
)


def wishes_section(study: StudyReport, report: StudiesReport) -> Iterator[str]:
    """Heading, and each wish with what it brought; nothing where the author wished for nothing."""
    if not study.wishes:
        return
    yield heading(3, "Wishes", f"{study.id}-wishes")
    yield (
        "What the author would have tried, tried: points won more than by the other, in the "
        "study's own tournament."
    )
    for number, wish in enumerate(study.wishes, 1):
        yield f"**Wish {number}. {wish.wish}**"
        yield " ".join(_brought(wish, report))
        inside = [f"In the study: {wish.where}. To run it:", command("\n".join(wish.commands))]
        if any(one.gaps for one in wish.comparisons):
            inside.append(_games(wish, report))
        found = {one.who: one.found_by for one in wish.comparisons if one.found_by}
        if found:
            inside.append("These commands found the weights:")
            inside.append(bullets(f"`{who}`: `{line}`" for who, line in found.items()))
        yield fold("How to run it, and what it was compared with", "\n\n".join(inside))


def _brought(wish: WishReport, report: StudiesReport) -> Iterator[str]:
    """Sentences on what it brought: in games at equal time if that was played, then computed."""
    if not wish.measured:
        yield "Not measured: none of its games were played in this run."
    played = [
        budget for budget in report.budgets if any(budget in c.gaps for c in wish.comparisons)
    ]
    for budget in ["time"] if "time" in played else played[:1]:
        yield _in_games(wish.comparisons, budget)
    if wish.finding is not None:
        yield wish.finding.words


def _in_games(comparisons: tuple[WishComparisonReport, ...], budget: str) -> str:
    gaps = [one.gaps[budget] for one in comparisons]
    gains, losses = sum(gap.low > 0 for gap in gaps), sum(gap.high < 0 for gap in gaps)
    at = "Under" if budget == "course" else "At" if budget in ("time", "nodes") else "When"
    best = max(comparisons, key=lambda one: one.gaps[budget].points)
    worst = min(comparisons, key=lambda one: one.gaps[budget].points)
    ends = [best] if best is worst else [best, worst]
    told = "; ".join(f"`{c.who}` against `{c.than}` {_points(c.gaps[budget])}" for c in ends)
    return (
        f"{at} {TITLES[budget]} it gains in {gains} of {len(gaps)} comparisons, loses in {losses} "
        f"and cannot be told apart in {len(gaps) - gains - losses}: {told}."
    )


def _points(gap: Gap) -> str:
    return str(gap).replace(" (", " points (", 1)


def _games(wish: WishReport, report: StudiesReport) -> str:
    budgets = [budget for budget in report.budgets if budget in wish.comparisons[0].gaps]
    rows = []
    for one in wish.comparisons:
        cells = [f"{one.gaps[budget]}\nwins {one.rates[budget]} %" for budget in budgets]
        rows.append([f"`{one.who}`", f"`{one.than}`", *cells])
    games = {budget: wish.comparisons[0].rates[budget].games for budget in budgets}
    titles = [f"{TITLES[budget]}, {games[budget]:,} games" for budget in budgets]
    return table(["wished", "against", *titles], rows)
