"""One study's part of the document: published against measured, claims, errata."""

from __future__ import annotations

from collections.abc import Iterator

from knightfall.studies.costs.course_conditions import BASELINE
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.report.blocks import (
    Block,
    Bullets,
    Chart,
    Fold,
    Heading,
    Table,
    Text,
    gap,
    mark,
    rate,
)
from knightfall.studies.report.report import ClaimReport, Report, Row, StudyReport

HOW = {
    "arithmetic": "found by recomputing",
    "claims": "found by holding the claim against the figures",
    "reading": "found by reading",
}


def study_section(study: StudyReport, report: Report, charts: set[str]) -> Iterator[Block]:
    """Heading, chart, totals, claims, details, errata."""
    yield Heading(2, f"{study.id}: {study.title}", study.id)
    yield Text(
        f"Protocol {study.protocol}, {study.games_per_opponent} games per opponent in one "
        "tournament of the study."
    )
    if study.id in charts:
        yield Chart(study.id)
    yield _totals(study, report)
    if any(row.not_reproducible for row in study.rows):
        for row in study.rows:
            if row.not_reproducible:
                yield Text(f"`{row.heuristic}` is not reproducible: {row.not_reproducible}.")
    yield Heading(3, "Claims", f"{study.id}-claims")
    for number, claim in enumerate(study.claims, 1):
        yield from _claim(number, claim, report)
    yield Heading(3, "Details", f"{study.id}-details")
    if any(row.published.tournaments for row in study.rows):
        yield Fold("Published tournaments", [_tournaments(study)])
    for budget in report.budgets:
        yield Fold(f"Opponent by opponent, {TITLES[budget]}", [_against(study, budget)])
    if study.errata:
        yield Heading(3, "Errata", f"{study.id}-errata")
        yield Bullets(
            [f"**{one.where}**: {one.text} ({HOW[one.found_by]})" for one in study.errata]
        )


def _totals(study: StudyReport, report: Report) -> Table:
    headline = report.headline
    columns = ["heuristic", "published"]
    columns += [TITLES[budget] for budget in report.budgets]
    columns += [f"ahead of {BASELINE}, {TITLES[headline]}"]
    rows = []
    for row in study.rows:
        cells = [f"`{row.heuristic}`", _published(row)]
        for budget in report.budgets:
            if budget in row.measured:
                found = row.measured[budget]
                cells.append(f"{rate(found.total)}\n{found.nodes:,} nodes")
            else:
                cells.append("not reproducible")
        ahead = row.measured[headline].ahead if row.measured else None
        cells.append(
            ""
            if ahead is None or row.heuristic == BASELINE
            else gap(ahead.points, ahead.low, ahead.high)
        )
        rows.append(cells)
    return Table(columns, rows)


def _published(row: Row) -> str:
    """The printed figure, and the interval of its games."""
    shown, found = row.published, row.published.rate
    return f"**{shown.figure}** ({found.low:.1f}–{found.high:.1f})\n{found.games:,} games"


def _tournaments(study: StudyReport) -> Table:
    most = max(len(row.published.tournaments) for row in study.rows)
    rows = []
    for row in study.rows:
        shown = [rate or "not shown" for rate in row.published.tournaments]
        rows.append([f"`{row.heuristic}` ({row.entrant})", *shown, row.published.average or ""])
    return Table(["in %", *map(str, range(1, most + 1)), "average"], rows)


def _against(study: StudyReport, budget: str) -> Table:
    rows = []
    for row in study.rows:
        if budget not in row.measured:
            continue
        cells = []
        for at, found in enumerate(row.measured[budget].against):
            text = rate(found)
            if row.published.wins:
                shown = row.published.against[at]
                text += (
                    f"\npublished {row.published.wins[at]}/{study.games_per_opponent} "
                    f"({shown.low:.0f}–{shown.high:.0f})"
                )
            cells.append(text)
        rows.append([f"`{row.heuristic}`", *cells, rate(row.measured[budget].total)])
    return Table(["games won in %", *study.opponents, "total"], rows)


def _claim(number: int, claim: ClaimReport, report: Report) -> Iterator[Block]:
    yield Text(f"**{number}. {claim.sentence}**")
    rows = []
    for budget in report.budgets:
        found = claim.verdicts[budget]
        games = f"{found.games:,}" if found.games else "none needed"
        difference = measured_words(claim, budget)
        rows.append([TITLES[budget], mark(found.verdict), difference, games, found.words])
    yield Table(["budget", "verdict", "difference", "games of each", "in words"], rows, False)


def measured_words(claim: ClaimReport, budget: str) -> str:
    """The difference that decided, with its interval."""
    found = claim.verdicts[budget]
    if found.difference is None or found.low is None or found.high is None:
        return "solved exactly"
    digits = 2 if claim.form == "steadier" else 1
    return gap(found.difference, found.low, found.high, digits)
