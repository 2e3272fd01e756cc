"""One study's part of the document: printed, played, claimed, wished for, mistaken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knightfall.display.numbers import count
from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.judging.verdicts import MARKS
from knightfall.studies.report.fit_section import conditions_of
from knightfall.studies.report.markdown import bullets, chart, fold, heading, table
from knightfall.studies.report.printed_section import printed_counts, printed_section
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
    """Tell what a study printed, under which conditions, its claims and its errata.

    Whatever a first reading does not need is folded.
    """
    yield heading(2, f"{study.id}: {study.title}", study.id)
    yield f"**Printed.** {printed_counts(study)} Protocol {study.protocol}."
    yield _totals(study, report)
    for row in study.rows:
        if row.not_reproducible:
            yield f"`{row.heuristic}` is not reproducible: {row.not_reproducible}."
    yield fold("Everything that was printed", "\n\n".join(printed_section(study)))
    inside = [] if study.id not in charts else [chart(study.id, charts[study.id])]
    inside += [_budgets(study, report), *_order(study, report)]
    inside += [
        f"Opponent by opponent, {TITLES[budget]}:\n\n{_against(study, budget)}"
        for budget in report.budgets
    ]
    yield fold("Everything that was played", "\n\n".join(inside))
    yield from conditions_of(study)
    yield heading(3, "Claims", f"{study.id}-claims")
    yield _verdicts(study, report)
    yield fold(
        "Each claim: its place, what it is taken to mean, and the verdict at every budget",
        "\n\n".join(
            line
            for number, claim in enumerate(study.claims, 1)
            for line in _claim(number, claim, report)
        ),
    )
    yield from wishes_section(study, report)
    if study.errata:
        yield heading(3, "Errata", f"{study.id}-errata")
        yield fold(
            f"{count(len(study.errata), 'mistake')} in print or code: "
            + ", ".join(dict.fromkeys(one.where for one in study.errata)),
            bullets(f"**{one.where}**: {one.text} ({HOW[one.found_by]})" for one in study.errata),
        )


def _verdicts(study: StudyReport, report: StudiesReport) -> str:
    """Return the table of the verdicts: the first budget's, and where another one differs."""
    first, *others = report.budgets
    rows = []
    for claim in study.claims:
        if claim.once or not claim.verdicts:
            found = claim.once.measured() if claim.once else "not judged in this run"
            words = claim.once.words if claim.once and found == "computed" else found
            rows.append([claim.sentence, claim.once.mark if claim.once else "", words, ""])
            continue
        differs = [
            f"{MARKS[claim.verdicts[budget].verdict]} {TITLES[budget]}"
            for budget in others
            if budget in claim.verdicts and claim.mark(budget) != claim.mark(first)
        ]
        rows.append(
            [claim.sentence, claim.mark(first), claim.difference(first), ", ".join(differs)]
        )
    columns = ["claim", f"verdict, {TITLES[first]}", "found", "differs at"]
    return table(columns, rows, numbers=False)


def _totals(study: StudyReport, report: StudiesReport) -> str:
    """Return the table of published and measured totals at the first budget."""
    headline = report.headline
    rows = []
    for row in study.rows:
        found = row.measured.get(headline)
        ahead = "" if found is None or row.heuristic == BASELINE else str(found.ahead)
        measured = "not reproducible" if found is None else str(found.total)
        rows.append([f"`{row.heuristic}`", _published(row), measured, ahead])
    columns = ["games won in %", "published", TITLES[headline], f"ahead of {BASELINE}"]
    return table(columns, rows)


def _budgets(study: StudyReport, report: StudiesReport) -> str:
    """Return the table of measured totals and nodes at every budget."""
    rows = [
        [
            f"`{row.heuristic}`",
            *(
                f"{found.total}\n{found.nodes:,} nodes"
                if (found := row.measured.get(budget))
                else "not reproducible"
                for budget in report.budgets
            ),
        ]
        for row in study.rows
    ]
    return table(["games won in %", *(TITLES[budget] for budget in report.budgets)], rows)


def _published(row: HeuristicReport) -> str:
    """The printed figure, and the interval of its games."""
    shown, found = row.published, row.published.rate
    return f"**{shown.figure}** ({found.low:.1f}–{found.high:.1f}) in {found.games:,}"


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
