"""Tables as the studies printed them: cells, legible or not, and the tournaments they show.

Authors printed some tournaments more than once, with more columns or as a row of totals. Two tables
whose common numbers all agree show one tournament, which counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.untrusted_input import Between, Whole

Rates = Mapping[str, Decimal]
"""Win rates in % by heuristic, with the digits that were printed."""


LEAST_SHARED = 4
"""Equal numbers that two tables must share to count as one tournament."""


@dataclass(frozen=True)
class PrintedCell:
    """A table cell: games won and lost against one opponent; None where illegible.

    Some tables print no losses at all: `has_losses` is False.
    """

    won: int | None
    lost: int | None
    has_losses: bool = True

    def wins(self, games: int) -> int | None:
        """Return how many of `games` were won; if only the losses are legible, by subtraction."""
        if self.won is not None or self.lost is None:
            return self.won
        return games - self.lost

    def __str__(self) -> str:
        """Return the cell as `published.toml` writes it."""
        if not self.has_losses:
            return _shown(self.won)
        return f"{_shown(self.won)}|{_shown(self.lost)}"


def _shown(number: int | None) -> str:
    return "?" if number is None else str(number)


@dataclass(frozen=True)
class UnplacedNumbers:
    """Legible numbers of one agent whose table columns, and so opponents, are unknown."""

    won: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()


@dataclass(frozen=True)
class PrintedTable:
    """One table of a publication: cells by opponent, win rates, or both, by heuristic."""

    name: str
    place: str
    """Its place in the document."""
    cells: Mapping[str, tuple[PrintedCell, ...]]
    rates: Rates
    """The win rates that are legible."""
    cells_from: str = ""
    """The source of the cells, if they were not printed."""
    illegible: str = ""
    """What cannot be read."""
    unplaced: Mapping[str, UnplacedNumbers] = field(default_factory=dict)
    without_result: tuple[str, ...] = ()
    """Agents, by their printed names, for which the table says "NA"."""

    @property
    def heuristics(self) -> tuple[str, ...]:
        """Return the heuristics for which the table shows any number."""
        return tuple(dict.fromkeys([*self.cells, *self.rates, *self.unplaced]))

    def wins(self, heuristic: str, games: int) -> tuple[int | None, ...]:
        """Return the games won against each opponent; empty if the heuristic has no cells here."""
        return tuple(cell.wins(games) for cell in self.cells.get(heuristic, ()))


def same_tournament(one: PrintedTable, other: PrintedTable, games: int) -> bool:
    """Return whether two tables show the same tournament: enough shared numbers, all equal."""
    shared = list(_shared(one, other, games))
    return len(shared) >= LEAST_SHARED and all(a == b for a, b in shared)


def _shared(
    one: PrintedTable, other: PrintedTable, games: int
) -> Iterator[tuple[int | Decimal, int | Decimal]]:
    for heuristic in one.heuristics:
        pairs = zip(one.wins(heuristic, games), other.wins(heuristic, games), strict=False)
        yield from ((a, b) for a, b in pairs if a is not None and b is not None)
        if heuristic in one.rates and heuristic in other.rates:
            yield one.rates[heuristic], other.rates[heuristic]


@dataclass(frozen=True)
class PlayedTournament:
    """A tournament, combined from every table that shows it.

    A heuristic has `games` games against each opponent.
    """

    tables: tuple[PrintedTable, ...]
    games: int

    def wins(self, heuristic: str) -> tuple[int | None, ...]:
        """Return the games won against each opponent; empty if no table has such cells."""
        rows = [table.wins(heuristic, self.games) for table in self.tables]
        shown = [row for row in rows if row]
        return tuple(
            next((won for won in column if won is not None), None)
            for column in zip(*shown, strict=True)
        )

    def printed_rate(self, heuristic: str) -> Decimal | None:
        """Return the printed win rate in %; None if no table prints a legible one."""
        for table in self.tables:
            if heuristic in table.rates:
                return table.rates[heuristic]
        return None

    def rate_of_cells(self, heuristic: str) -> float | None:
        """Return the win rate (0 to 1) computed from the cells; None unless all are legible."""
        wins = self.wins(heuristic)
        won = [one for one in wins if one is not None]
        return sum(won) / (len(won) * self.games) if won and len(won) == len(wins) else None

    def rate(self, heuristic: str) -> float | None:
        """Return the win rate (0 to 1) computed from the cells, else the printed one, else None."""
        by_cells, printed = self.rate_of_cells(heuristic), self.printed_rate(heuristic)
        if by_cells is None and printed is not None:
            return float(printed) / 100
        return by_cells

    def total(self, heuristic: str) -> Decimal | None:
        """Return the printed win rate in %; if it is illegible, the one computed from the cells."""
        printed, by_cells = self.printed_rate(heuristic), self.rate_of_cells(heuristic)
        if printed is None and by_cells is not None:
            return Decimal(100 * by_cells).quantize(Decimal("0.1"))
        return printed


def played_tournaments(tables: Sequence[PrintedTable], games: int) -> tuple[PlayedTournament, ...]:
    """Return the distinct tournaments that some tables show, in the order of print."""
    found: list[list[PrintedTable]] = []
    for table in tables:
        for known in found:
            if any(same_tournament(table, other, games) for other in known):
                known.append(table)
                break
        else:
            found.append([table])
    return tuple(PlayedTournament(tuple(known), games) for known in found)


@dataclass(frozen=True)
class PrintedExample:
    """A worked example or figure: grids of squares, a text for each row, and numbers by name.

    In a grid "-" stands for a square that print leaves empty and "?" for an illegible one.
    """

    name: str
    place: str
    grids: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, Decimal]
    illegible: str = ""


# -- reading -------------------------------------------------------------------------------

MOST_GAMES = 10**6

TABLE = {
    "name": str,
    "place": str,
    "cells?": {str: [(Whole(0, MOST_GAMES), str)]},
    "cells_from?": str,
    "rates?": {str: Between(0, 100)},
    "illegible?": str,
    "unplaced?": {str: {"won?": [Whole(0, MOST_GAMES)], "lost?": [Whole(0, MOST_GAMES)]}},
    "without_result?": [str],
}
EXAMPLE = {
    "name": str,
    "place": str,
    "illegible?": str,
    "grids?": {str: [str]},
    "numbers?": {str: Between(-(10**6), 10**6)},
}
_CELL = re.compile(r"(\d{1,6}|\?)\|(\d{1,6}|\?)")


def read_cell(text: str | int) -> PrintedCell:
    """Return the cell that `published.toml` writes as "8|2", "8|?", "?|2" or 8."""
    if isinstance(text, int):
        return PrintedCell(text, None, has_losses=False)
    found = _CELL.fullmatch(text)
    if found is None:
        raise KnightfallError(
            f'invalid cell {text!r:.40} of a table; expected "wins|losses", with ? for an '
            'illegible number, or the wins alone: "8|2", "8|?", "?|2" or 8'
        )
    won, lost = (None if number == "?" else int(number) for number in found.groups())
    return PrintedCell(won, lost)


def read_table(table: dict[str, Any]) -> PrintedTable:
    """Return a printed table, read from a TOML table that has the fields of `TABLE`."""
    cells = {id: tuple(map(read_cell, row)) for id, row in table.get("cells", {}).items()}
    unplaced = {
        id: UnplacedNumbers(**{name: tuple(row) for name, row in rows.items()})
        for id, rows in table.get("unplaced", {}).items()
    }
    rates = {id: Decimal(rate) for id, rate in table.get("rates", {}).items()}
    converted = {
        "cells": MappingProxyType(cells),
        "rates": MappingProxyType(rates),
        "unplaced": MappingProxyType(unplaced),
        "without_result": tuple(table.get("without_result", ())),
    }
    return PrintedTable(**{**table, **converted})


def read_example(table: dict[str, Any]) -> PrintedExample:
    """Return a worked example, read from a TOML table that has the fields of `EXAMPLE`."""
    grids = {id: tuple(rows) for id, rows in table.get("grids", {}).items()}
    numbers = {id: Decimal(number) for id, number in table.get("numbers", {}).items()}
    converted = {"grids": MappingProxyType(grids), "numbers": MappingProxyType(numbers)}
    return PrintedExample(**{**table, **converted})
