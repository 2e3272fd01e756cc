"""Recompute the studies' printed figures: find those that contradict the others.

This finds only contradictions within one publication; it does not replay games.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from knightfall.studies.published import Study


@dataclass(frozen=True)
class Slip:
    """A printed figure that is impossible: where, and why."""

    study: str
    where: str
    text: str


def misprints(study: Study) -> list[Slip]:
    """Return the figures of a study that contradict its other figures, in the order of its tables.

    Checked: wins and losses of a cell add up to the games played; every printed rate is a whole
    number of the games played; rates follow from the cells beside them; averages follow from the
    rates; no tournament is printed twice.
    """
    checks = (_cells, _possible_rates, _totals, _averages, _repeated)
    found = [(where, text) for check in checks for where, text in check(study)]
    return [Slip(study.id, where, text) for where, text in found]


_Found = Iterator[tuple[str, str]]


def _cells(study: Study) -> _Found:
    games = study.games_per_opponent
    for table in study.tables:
        for id, row in table.cells.items():
            where = f"{table.name}, {id}"
            if len(row) != len(study.opponents):
                yield where, f"{len(row)} opponents instead of {len(study.opponents)}"
            for cell in row:
                won, lost = cell.won, cell.lost
                both = won is not None and lost is not None
                if max(won or 0, lost or 0) > games or (both and won + lost != games):
                    yield where, f"{cell} in {games} games"


def _possible_rates(study: Study) -> _Found:
    games = study.games_per_tournament
    for table in study.tables:
        for id, rate in table.rates.items():
            if not _agree(_played(rate, games), rate):
                yield f"{table.name}, {id}", f"{rate} % is no number of wins in {games} games"


def _totals(study: Study) -> _Found:
    games = study.games_per_opponent
    for table in study.tables:
        for id, printed in table.rates.items():
            won = [
                cell.won if cell.won is not None else games - cell.lost
                for cell in table.cells.get(id, ())
                if cell.won is not None or cell.lost is not None
            ]
            if len(won) == len(study.opponents):
                exact = Fraction(100 * sum(won), games * len(won))
                yield from _compared(f"{id}, total", printed, exact)


def _averages(study: Study) -> _Found:
    games = study.games_per_tournament
    tables = [study.tables[number - 1] for number in study.average_of]
    for id, printed in study.averages.items():
        shown = [_played(table.rates[id], games) for table in tables]
        yield from _compared(f"{id}, average", printed, sum(shown, Fraction(0)) / len(shown))


def _repeated(study: Study) -> _Found:
    """Yield the pairs of tables of the same kind that agree in every number that both have."""
    games = study.games_per_opponent
    for one, other in combinations(study.tables, 2):
        if bool(one.cells) != bool(other.cells):
            continue  # a total beside its table is not a repetition
        shared = []
        for id in {*one.heuristics} & {*other.heuristics}:
            cells = zip(one.wins(id, games), other.wins(id, games), strict=False)
            shared += [(a, b) for a, b in cells if None not in (a, b)]
            if not one.cells:
                shared += [(one.rates[id], other.rates[id])]
        if shared and all(a == b for a, b in shared):
            yield f"{one.name} and {other.name}", f"the same {len(shared)} numbers"


def _played(rate: Decimal, games: int) -> Fraction:
    """Return the rate, possible with a whole number of wins, that is nearest to a printed one."""
    return Fraction(100 * round(Fraction(rate) * games / 100), games)


def _agree(exact: Fraction, printed: Decimal) -> bool:
    """Return whether a number, rounded to the printed digits, gives the printed one."""
    unit = Fraction(Decimal(1).scaleb(int(printed.as_tuple().exponent)))
    return abs(exact - Fraction(printed)) <= unit / 2


def _compared(where: str, printed: Decimal, exact: Fraction) -> _Found:
    if not _agree(exact, printed):
        yield where, f"{printed} % is printed, {float(exact):.2f} % follows from the table"
