"""The report's section on one study: tables, games, claims, wishes and errata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from knightfall.display.numbers import count
from knightfall.studies.common_sections import conditions_of
from knightfall.studies.comparisons import MARKS
from knightfall.studies.markdown import bullets, chart, command, fold, heading, table
from knightfall.studies.node_costs import BASELINE
from knightfall.studies.plans import TITLES
from knightfall.studies.studies_report import (
    ClaimReport,
    HeuristicReport,
    PrintedExampleReport,
    PrintedTableReport,
    StudiesReport,
    StudyReport,
    WishComparisonReport,
    WishReport,
)

HOW = {
    "arithmetic": "found by recomputing",
    "claims": "found by holding the claim against the figures",
    "reading": "found by reading",
}


def study_section(
    study: StudyReport, report: StudiesReport, charts: Mapping[str, str]
) -> Iterator[str]:
    """Yield a study's printed results, conditions, claims, wishes and errata.

    Details are folded.
    """
    yield heading(2, f"{study.id}: {study.title}", study.id)
    yield f"**Printed.** {printed_counts(study)} Protocol {study.protocol}."
    yield _totals(study, report)
    for row in study.rows:
        if row.not_reproducible:
            yield f"`{row.heuristic}` is not reproducible: {row.not_reproducible}."
    yield fold("Everything that was printed", "\n\n".join(printed_section(study)))
    inside = [*chart(study.id, charts), _budgets(study, report), _order(study, report)]
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
    """Return the table of verdicts at the first budget, and of different ones at other budgets."""
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
    """Return the table of published win rates and those measured at the first budget."""
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
    """Return the table of the heuristics' measured win rates and nodes at every budget."""
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
    """Return the published win rate with the 95 % interval and the number of its games."""
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


def _order(study: StudyReport, report: StudiesReport) -> str:
    """Return how much of the order of the study's table our games confirm, by budget."""
    counts = []
    for budget in report.budgets:
        found = study.order[budget]
        counts.append(
            f"{TITLES[budget]} {found.confirmed} borne out, {found.reversed} reversed, "
            f"{found.open} open"
        )
    first = study.order[report.headline]
    couples = first.confirmed + first.reversed + first.open
    return (
        f"The order of the published table, {couples} couples of heuristics with different figures "
        f"(each at 95 %): {'; '.join(counts)}."
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


# -- everything that was printed -----------------------------------------------------------


STATED = {
    "tournaments": "tournaments",
    "matches": "matches per opponent",
    "games": "games per opponent",
    "timer_threshold": "ms as the timer's threshold",
}


def printed_section(study: StudyReport) -> Iterator[str]:
    """Yield what the study printed: its tables in order, the averages, and the worked examples."""
    cells = [cell for one in study.printed for row in one.cells.values() for cell in row]
    if any("|" in cell for cell in cells):
        yield "A cell is games won–lost, and ? a number that is illegible."
    elif cells:
        yield f"A cell is games won of {study.games_per_opponent}."
    bare: list[PrintedTableReport] = []
    for one in study.printed:
        if one.cells:
            yield from _rates(study, bare)
            bare = []
            yield from _cells(study, one)
        else:
            bare.append(one)
    yield from _rates(study, bare)
    for example in study.examples:
        yield from _example(example)


def printed_counts(study: StudyReport) -> str:
    """Return in words how many tables and cells a study printed, and what its text says of them."""
    tournaments = len({one.tournament for one in study.printed})
    cells = [key for one in study.printed for key in _known_cells(one)]
    known, distinct = len(cells), len(set(cells))
    text = f"{count(len(study.printed), 'table')}, {count(tournaments, 'distinct tournament')}"
    again = f" ({known:,} with those printed again)" if known > distinct else ""
    text += f" and {distinct:,} distinct legible cells{again}."
    if study.stated:
        stated = [f"{number} {STATED.get(name, name)}" for name, number in study.stated.items()]
        text += f" The text speaks of {', '.join(stated)}."
    return text


def _known_cells(one: PrintedTableReport) -> Iterator[tuple[int, str, int]]:
    for heuristic, row in one.cells.items():
        for column, cell in enumerate(row):
            if cell != "?|?":
                yield one.tournament, heuristic, column


def _cells(study: StudyReport, one: PrintedTableReport) -> Iterator[str]:
    yield f"**{one.name}** ({one.place}), tournament {one.tournament}"
    names = {row.heuristic: row.entrant for row in study.rows}
    rows = []
    for heuristic in one.heuristics:
        cells = one.cells.get(heuristic) or ("",) * len(study.opponents)
        scores = [cell.replace("|", "–") for cell in cells]
        printed = "" if names[heuristic] == heuristic else f" ({names[heuristic]})"
        rows.append([f"`{heuristic}`{printed}", *scores, _rate(one, heuristic)])
    yield table(["games", *study.opponents, "win rate in %"], rows)
    if notes := list(_notes(one)):
        yield bullets(notes)


def _rate(one: PrintedTableReport, heuristic: str) -> str:
    if heuristic in one.rates:
        return one.rates[heuristic]
    return f"{one.sums[heuristic]} (sum of the cells)" if heuristic in one.sums else "illegible"


def _rates(study: StudyReport, tables: Sequence[PrintedTableReport]) -> Iterator[str]:
    """Yield one table that combines several printed tables of win rates, a row for each."""
    if not tables:
        return
    names = list(dict.fromkeys(id for one in tables for id in one.heuristics))
    rows = [
        [f"{one.name} ({one.place})", *(one.rates.get(id, "illegible") for id in names)]
        for one in tables
    ]
    averages = {row.heuristic: row.published.average for row in study.rows}
    if any(averages.values()):
        rows.append(["average", *(averages[id] or "" for id in names)])
    yield table(["win rates in %", *(f"`{id}`" for id in names)], rows)
    notes = [f"{one.name}: {note}" for one in tables for note in _notes(one)]
    if notes:
        yield bullets(notes)


def _notes(one: PrintedTableReport) -> Iterator[str]:
    if one.same_as:
        yield f"The same tournament as {' and '.join(one.same_as)}: it counts once"
    yield from one.notes


def _example(example: PrintedExampleReport) -> Iterator[str]:
    numbers = "; ".join(f"{name}: {number}" for name, number in example.numbers.items())
    yield f"**Example: {example.name}** ({example.place}). {numbers}".strip()
    for name, grid in example.grids.items():
        yield f"{name}:"
        yield "```text\n" + "\n".join(_aligned(grid)) + "\n```"
    if example.illegible:
        yield f"Illegible: {example.illegible}"


def _aligned(grid: Sequence[str]) -> list[str]:
    """Return the rows of a printed grid with aligned columns; an empty square becomes a dot."""
    rows = [["·" if cell == "-" else cell for cell in line.split()] for line in grid]
    width = max(len(cell) for row in rows for cell in row)
    return [" ".join(f"{cell:<{width}}" for cell in row).rstrip() for row in rows]


# -- wishes --------------------------------------------------------------------------------


def wishes_section(study: StudyReport, report: StudiesReport) -> Iterator[str]:
    """Yield a heading and each wish with its result; nothing if there are no wishes."""
    if not study.wishes:
        return
    yield heading(3, "Wishes", f"{study.id}-wishes")
    yield (
        "Ideas that the author did not try, tried here. A lead is in points of the win rate, in "
        "the study's own tournament."
    )
    for number, wish in enumerate(study.wishes, 1):
        yield f"**Wish {number}. {wish.wish}**"
        yield " ".join(_results_of(wish, report))
        inside = [f"In the study: {wish.where}. To run it:", command("\n".join(wish.commands))]
        if any(one.gaps for one in wish.comparisons):
            inside.append(_games(wish, report))
        found = {one.who: one.found_by for one in wish.comparisons if one.found_by}
        if found:
            inside.append("These commands found the weights:")
            inside.append(bullets(f"`{who}`: `{line}`" for who, line in found.items()))
        yield fold("How to run it, and what it was compared with", "\n\n".join(inside))


def _results_of(wish: WishReport, report: StudiesReport) -> Iterator[str]:
    """Yield the result of a wish's games (at equal time, if played), then of its computation."""
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
    extremes = []
    for one in ends:
        points = str(one.gaps[budget]).replace(" (", " points (", 1)
        extremes.append(f"`{one.who}` against `{one.than}` {points}")
    return (
        f"{at} {TITLES[budget]} it gains in {gains} of {len(gaps)} comparisons, loses in {losses} "
        f"and cannot be told apart in {len(gaps) - gains - losses}: {'; '.join(extremes)}."
    )


def _games(wish: WishReport, report: StudiesReport) -> str:
    budgets = [budget for budget in report.budgets if budget in wish.comparisons[0].gaps]
    rows = []
    for one in wish.comparisons:
        cells = [f"{one.gaps[budget]}\nwins {one.rates[budget]} %" for budget in budgets]
        rows.append([f"`{one.who}`", f"`{one.than}`", *cells])
    games = {budget: wish.comparisons[0].rates[budget].games for budget in budgets}
    titles = [f"{TITLES[budget]}, {games[budget]:,} games" for budget in budgets]
    return table(["wished", "against", *titles], rows)
