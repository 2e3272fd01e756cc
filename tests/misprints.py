"""Recomputing what the studies printed: which figures do not follow from the others.

Only contradictions within one publication are found here; what a figure should have been if the
games were played again is another matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from knightfall.studies.published.published import Study


@dataclass(frozen=True)
class Slip:
    """Something printed that cannot be: where, and why."""

    study: str
    where: str
    text: str


def misprints(study: Study) -> list[Slip]:
    """What does not agree with the rest of a study's figures, in the order of its tables.

    Looked at: whether wins are within the games played; whether every printed rate is so many
    games of those played; whether totals and the tournament that is shown whole follow from the
    wins; whether averages follow from the tournaments; and whether a tournament appears twice.
    """
    checks = (_wins, _possible_rates, _totals, _shown_whole, _averages, _repeated)
    found = [(where, text) for check in checks for where, text in check(study)]
    return [Slip(study.id, where, text) for where, text in found]


_Found = Iterator[tuple[str, str]]


def _wins(study: Study) -> _Found:
    for id, row in study.wins.items():
        if len(row) != len(study.opponents):
            yield f"{id}, wins", f"{len(row)} opponents instead of {len(study.opponents)}"
        for wins in row:
            if not 0 <= wins <= study.games_per_opponent:
                yield f"{id}, wins", f"{wins} wins in {study.games_per_opponent} games"


def _possible_rates(study: Study) -> _Found:
    games = study.games_per_tournament
    rates = [(f"{id}, total", rate) for id, rate in study.totals.items()]
    for id, row in study.tournaments.items():
        rates += [
            (f"{id}, tournament {n}", rate) for n, rate in enumerate(row, 1) if rate is not None
        ]
    for where, rate in rates:
        if not _agree(_played(rate, games), rate):
            yield where, f"{rate} % is no number of wins in {games} games"


def _totals(study: Study) -> _Found:
    for id, printed in study.totals.items():
        if id in study.wins:
            yield from _compared(f"{id}, total", printed, _rate(study, id))


def _shown_whole(study: Study) -> _Found:
    if study.shown_whole is None:
        return
    for id in study.wins:
        printed = study.tournaments[id][study.shown_whole - 1]
        if printed is not None:
            where = f"{id}, tournament {study.shown_whole}"
            yield from _compared(where, printed, _rate(study, id))


def _averages(study: Study) -> _Found:
    games = study.games_per_tournament
    for id, printed in study.averages.items():
        shown = [_played(rate, games) for rate in study.tournaments[id] if rate is not None]
        yield from _compared(f"{id}, average", printed, sum(shown, Fraction(0)) / len(shown))


def _repeated(study: Study) -> _Found:
    tournaments = list(zip(*study.tournaments.values(), strict=True))
    for results, times in Counter(tournaments).items():
        # A row with gaps may be another in what is not shown.
        if times > 1 and None not in results:
            numbers = [n for n, row in enumerate(tournaments, 1) if row == results]
            where = f"tournaments {' and '.join(map(str, numbers))}"
            yield where, f"the same {len(results)} results: {_listed(results)}"


def _rate(study: Study, id: str) -> Fraction:
    """The win rate in % that the wins make."""
    return Fraction(100 * sum(study.wins[id]), study.games_per_tournament)


def _played(rate: Decimal, games: int) -> Fraction:
    """The rate of the whole number of wins that is nearest to a printed one."""
    return Fraction(100 * round(Fraction(rate) * games / 100), games)


def _agree(exact: Fraction, printed: Decimal) -> bool:
    """Whether a number, rounded to as many digits as were printed, may be printed so."""
    unit = Fraction(Decimal(1).scaleb(int(printed.as_tuple().exponent)))
    return abs(exact - Fraction(printed)) <= unit / 2


def _compared(where: str, printed: Decimal, exact: Fraction) -> _Found:
    if not _agree(exact, printed):
        yield where, f"{printed} % is printed, {float(exact):.2f} % follows from the table"


def _listed(rates: Sequence[Decimal | None]) -> str:
    return ", ".join(f"{rate} %" for rate in rates)
