"""A league's report: ratings, differences with their errors, the crosstable."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from knightfall.cli.reports.report import (
    accidents,
    between,
    heading,
    one_decimal,
    percent,
    plus_minus,
    row_json,
    short_names,
)
from knightfall.cli.screen.output import columns, console, keep_numbers_whole, number, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from knightfall.arena.conduct import Standing
    from knightfall.arena.results.standings import Rated, Row
    from knightfall.arena.results.tallies import Results

WIDEST = 12
"""Entrants up to which the tables of everyone against everyone are printed."""


def ranking(standing: Standing) -> Table:
    """The ratings so far, while the league goes on."""
    plan, ratings = standing.plan, standing.rated
    table = columns("", "Agent", "Elo", "± 95 %")
    names = short_names([e.agent for e in plan.entrants], [e.name for e in plan.entrants])
    for place, entrant in enumerate(ratings.ranking(range(len(names))), start=1):
        elo, error = ratings.elo(entrant), ratings.error(entrant)
        table.add_row(str(place), names[entrant], *plus_minus(elo, error).split(" ± "))
    return table


class _Report:
    def __init__(self, found: Results) -> None:
        from knightfall.arena.results import standings

        plan = found.run.plan
        self.found = found
        self.rated: Rated = standings.rated(plan, standings.outcomes_of(found.run))
        self.order = self.rated.ranking(range(len(plan.entrants)))
        self.rows: list[Row] = standings.rows(found, self.order, self.rated)
        every = [entrant.name for entrant in plan.entrants]
        self.names = short_names([entrant.agent for entrant in plan.entrants], every)

    def met(self, a: int, b: int) -> tuple[int, int] | None:
        """Games that a won and lost against b; None if they did not meet."""
        won = lost = 0
        for match in self.found.matches:
            if (match.a, match.b) == (a, b):
                won += match.of_a.total.won
                lost += match.of_a.total.lost
            elif (match.a, match.b) == (b, a):
                won += match.of_b.total.won
                lost += match.of_b.total.lost
        return (won, lost) if won + lost else None


def to_json(found: Results) -> dict[str, Any]:
    """The report for scripts, the best agent first."""
    report = _Report(found)
    order = report.order
    return {
        "agents": [row_json(row) for row in report.rows],
        "differences": [
            [None if a == b else [number(x) for x in report.rated.difference(a, b)] for b in order]
            for a in order
        ],
        "crosstable": [
            [None if (met := report.met(a, b)) is None else list(met) for b in order] for a in order
        ],
        "seat_elo": report.rated.ratings.seat_elo,
        "seat_elo_error": report.rated.ratings.seat_error,
    }


def print_text(found: Results) -> None:
    """The report for people."""
    report = _Report(found)
    screen = console()
    screen.print(heading(found), soft_wrap=True)
    screen.print()
    print_table(_ratings(report))
    ratings = report.rated.ratings
    screen.print(
        f"\nElo around the mean of those who both won and lost, ± 95 %. Moving first is worth "
        f"{plus_minus(ratings.seat_elo, ratings.seat_error)} Elo.",
        soft_wrap=True,
    )
    if len(report.order) <= WIDEST:
        screen.print("\nElo differences (row less column), ± 95 %", style="bold")
        print_table(_differences(report))
        screen.print("\nWon – lost (row against column)", style="bold")
        print_table(_crosstable(report))
    for line in accidents(found):
        screen.print(line, soft_wrap=True)
    screen.print()
    screen.print(_neighbours(report), soft_wrap=True)


def _ratings(report: _Report) -> Table:
    table = columns(
        "", "Agent", "Elo", "Games", "Won", "95 % interval", "hunter", "runner", "depth", "nodes"
    )
    for place, row in enumerate(report.rows, start=1):
        fared, effort = row.fared, row.fared.effort
        table.add_row(
            str(place),
            report.names[row.number],
            plus_minus(row.elo, row.elo_error),
            f"{fared.total.games:,}",
            percent(row.rate),
            between(row.low, row.high),
            percent(fared.hunter.share),
            percent(fared.runner.share),
            one_decimal(effort.mean_depth),
            one_decimal(effort.mean_nodes),
        )
    keep_numbers_whole(table, 2, drop=("Games", "hunter", "runner", "depth", "nodes"))
    return table


def _square(report: _Report) -> Table:
    table = columns("", "", *(str(place) for place in range(1, len(report.order) + 1)))
    keep_numbers_whole(table, 2)
    return table


def _differences(report: _Report) -> Table:
    table = _square(report)
    for place, a in enumerate(report.order, start=1):
        cells = ["" if a == b else plus_minus(*report.rated.difference(a, b)) for b in report.order]
        table.add_row(str(place), report.names[a], *cells)
    return table


def _crosstable(report: _Report) -> Table:
    table = _square(report)
    for place, a in enumerate(report.order, start=1):
        cells = []
        for b in report.order:
            met = report.met(a, b)
            cells.append("" if met is None or a == b else f"{met[0]} – {met[1]}")
        table.add_row(str(place), report.names[a], *cells)
    return table


def _neighbours(report: _Report) -> str:
    """Which neighbours in the ranking are told apart."""
    from knightfall.arena.results.stopping import SURELY

    # A league that may stop when it likes what it sees has to see it the more clearly.
    factor = SURELY if report.found.run.plan.stop.get("rule") == "until" else 1.0
    open_questions = []
    for better, worse in pairwise(report.order):
        gap, error = report.rated.difference(better, worse)
        if gap <= factor * error:
            open_questions.append(f"{report.names[better]} and {report.names[worse]}")
    if not open_questions:
        return "Every neighbour in the ranking is told apart."
    return f"Not told apart: {'; '.join(open_questions)}."
