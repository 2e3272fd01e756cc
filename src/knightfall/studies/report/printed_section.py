"""Everything that a study printed: each table with its place and legibility, and the examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knightfall.display.numbers import count
from knightfall.studies.report.markdown import bullets, table
from knightfall.studies.report.printed_report import PrintedExampleReport, PrintedTableReport
from knightfall.studies.report.report import StudyReport

STATED = {
    "tournaments": "tournaments",
    "matches": "matches per opponent",
    "games": "games per opponent",
    "timer_threshold": "ms as the timer's threshold",
}


def printed_section(study: StudyReport) -> Iterator[str]:
    """The tables in the order of print, the averages, the worked examples."""
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
    """Tell how much a study printed, and what its text says of its tournaments."""
    tournaments = len({one.tournament for one in study.printed})
    cells = [key for one in study.printed for key in _known_cells(one)]
    known, distinct = len(cells), len(set(cells))
    told = f"{count(len(study.printed), 'table')}, {count(tournaments, 'distinct tournament')}"
    again = f" ({known:,} with those printed again)" if known > distinct else ""
    told += f" and {distinct:,} distinct legible cells{again}. "
    if study.stated:
        said = [f"{number} {STATED.get(name, name)}" for name, number in study.stated.items()]
        told += f"The text speaks of {', '.join(said)}. "
    return told.strip()


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
    """Tables of win rates alone, one row for each."""
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
    """The rows of a grid in columns; a dot is a square that print leaves empty."""
    rows = [["·" if cell == "-" else cell for cell in line.split()] for line in grid]
    width = max(len(cell) for row in rows for cell in row)
    return [" ".join(f"{cell:<{width}}" for cell in row).rstrip() for row in rows]
