"""A study's printed tables and worked examples as the report holds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knightfall.studies.published.printed import PrintedTable
from knightfall.studies.published.published import Study


@dataclass(frozen=True)
class PrintedTableReport:
    """A table as a study printed it: cells "won|lost" and win rates in %, by heuristic.

    A "?" is an illegible number; a number alone is games won, where no losses are printed.
    """

    name: str
    place: str
    tournament: int
    """The distinct tournament it shows, counted from 1."""
    heuristics: tuple[str, ...]
    cells: dict[str, tuple[str, ...]]
    rates: dict[str, str]
    sums: dict[str, str]
    """Win rates that the cells make where no printed one is legible."""
    same_as: tuple[str, ...]
    """Other tables that show the same tournament."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PrintedExampleReport:
    """A worked example or figure as a study printed it."""

    name: str
    place: str
    grids: dict[str, tuple[str, ...]]
    numbers: dict[str, str]
    illegible: str


def printed_tables(study: Study) -> tuple[PrintedTableReport, ...]:
    """Return the study's tables as they were printed, and which tournament each shows."""
    return tuple(_printed_table(study, table) for table in study.tables)


def _printed_table(study: Study, table: PrintedTable) -> PrintedTableReport:
    number = next(n for n, one in enumerate(study.played, 1) if table in one.tables)
    played = study.played[number - 1]
    return PrintedTableReport(
        name=table.name,
        place=table.place,
        tournament=number,
        heuristics=tuple(id for id in study.entrants.values() if id in table.heuristics),
        cells={id: tuple(map(str, row)) for id, row in table.cells.items()},
        rates={id: str(rate) for id, rate in table.rates.items()},
        sums={
            id: str(played.total(id))
            for id in table.cells
            if played.printed_rate(id) is None and played.total(id) is not None
        },
        same_as=tuple(other.name for other in played.tables if other is not table),
        notes=tuple(_notes(table)),
    )


def _notes(table: PrintedTable) -> Iterator[str]:
    """What is not legible, and what else must be known of a table."""
    if table.cells_from:
        yield f"The cells are from {table.cells_from}"
    if table.illegible:
        yield f"Illegible: {table.illegible}"
    for heuristic, numbers in table.unplaced.items():
        shown = [
            f"{name} {', '.join(map(str, row))}"
            for name, row in (("won", numbers.won), ("lost", numbers.lost))
            if row
        ]
        yield f"Legible without an opponent, {heuristic}: {'; '.join(shown)}"
    if table.without_result:
        yield f"NA is printed for {' and '.join(table.without_result)}"


def printed_examples(study: Study) -> tuple[PrintedExampleReport, ...]:
    """Return the study's worked examples as they were printed."""
    return tuple(
        PrintedExampleReport(
            one.name,
            one.place,
            {name: tuple(rows) for name, rows in one.grids.items()},
            {name: str(number) for name, number in one.numbers.items()},
            one.illegible,
        )
        for one in study.examples
    )
