"""One study's part of the document: published against measured, claims, errata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.report.fit_section import conditions_of
from knightfall.studies.report.markdown import bullets, chart, fold, heading, table
from knightfall.studies.report.printed_section import printed_section
from knightfall.studies.report.report import (
    ClaimReport,
    HeuristicReport,
    StudiesReport,
    StudyReport,
)
from knightfall.studies.report.wishes_section import wishes_section

HOW = {
    "arithmetic": "found by recomputing",
    "claims": "found by holding the claim against the figures",
    "reading": "found by reading",
}


def study_section(
    study: StudyReport, report: StudiesReport, charts: Mapping[str, str]
) -> Iterator[str]:
    """Heading, chart, totals, claims, details, errata."""
    yield heading(2, f"{study.id}: {study.title}", study.id)
    yield (
        f"Protocol {study.protocol}, {study.games_per_opponent} games per opponent in one "
        "tournament of the study."
    )
    yield from conditions_of(study)
    if study.id in charts:
        yield chart(study.id, charts[study.id])
    yield _totals(study, report)
    for row in study.rows:
        if row.not_reproducible:
            yield f"`{row.heuristic}` is not reproducible: {row.not_reproducible}."
    yield from _order(study, report)
    yield heading(3, "Claims", f"{study.id}-claims")
    for number, claim in enumerate(study.claims, 1):
        yield from _claim(number, claim, report)
    yield from wishes_section(study, report)
    yield heading(3, "Details", f"{study.id}-details")
    yield fold("Everything that was printed", "\n\n".join(printed_section(study)))
    for budget in report.budgets:
        yield fold(f"Opponent by opponent, {TITLES[budget]}", _against(study, budget))
    if study.errata:
        yield heading(3, "Errata", f"{study.id}-errata")
        yield bullets(f"**{one.where}**: {one.text} ({HOW[one.found_by]})" for one in study.errata)


def _totals(study: StudyReport, report: StudiesReport) -> str:
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
                cells.append(f"{found.total}\n{found.nodes:,} nodes")
            else:
                cells.append("not reproducible")
        ahead = row.measured[headline].ahead if row.measured else None
        cells.append("" if ahead is None or row.heuristic == BASELINE else str(ahead))
        rows.append(cells)
    return table(columns, rows)


def _published(row: HeuristicReport) -> str:
    """The printed figure, and the interval of its games."""
    shown, found = row.published, row.published.rate
    return f"**{shown.figure}** ({found.low:.1f}–{found.high:.1f})\n{found.games:,} games"


def _against(study: StudyReport, budget: str) -> str:
    rows = []
    for row in study.rows:
        if budget not in row.measured:
            continue
        cells = []
        for at, found in enumerate(row.measured[budget].against):
            text = str(found)
            if row.published.wins:
                shown = row.published.against[at]
                text += (
                    f"\npublished {row.published.wins[at]}/{row.published.games_against} "
                    f"({shown.low:.0f}–{shown.high:.0f})"
                )
            cells.append(text)
        rows.append([f"`{row.heuristic}`", *cells, str(row.measured[budget].total)])
    return table(["games won in %", *study.opponents, "total"], rows)


def _order(study: StudyReport, report: StudiesReport) -> Iterator[str]:
    """How much of the table's order is borne out, whether or not a sentence says so."""
    told = []
    for budget in report.budgets:
        found = study.order[budget]
        told.append(
            f"{TITLES[budget]} {found.confirmed} borne out, {found.reversed} reversed, "
            f"{found.open} open"
        )
    first = study.order[report.headline]
    couples = first.confirmed + first.reversed + first.open
    yield (
        f"The order of the published table, {couples} couples of heuristics with different figures "
        f"(each at 95 %): {'; '.join(told)}."
    )


def _claim(number: int, claim: ClaimReport, report: StudiesReport) -> Iterator[str]:
    yield f"**{number}. {claim.sentence}**"
    yield f"In the study: {claim.where}. Taken to mean: {claim.meaning}."
    if claim.once:
        yield f"{claim.once.mark}: {claim.once.words}."
        return
    if not claim.verdicts:
        yield "Not judged: what it takes was not played or computed in this run."
        return
    rows = []
    for budget, found in claim.verdicts.items():
        games = f"{found.games:,}" if found.games else "none needed"
        rows.append([TITLES[budget], found.mark, claim.difference(budget), games, found.words])
    columns = ["budget", "verdict", "difference", "games of each", "in words"]
    yield table(columns, rows, numbers=False)
