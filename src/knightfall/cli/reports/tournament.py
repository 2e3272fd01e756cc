"""A tournament's report: the course's table, and what the course never had."""

from __future__ import annotations

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
    signed,
)
from knightfall.cli.screen.output import columns, console, keep_numbers_whole, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from knightfall.arena.results.standings import Compared
    from knightfall.arena.results.tallies import Results


class _Report:
    """The numbers of a tournament, computed once."""

    def __init__(self, found: Results) -> None:
        from knightfall.arena.results import standings

        plan = found.run.plan
        self.found = found
        self.tests = list(range(plan.options["tests"]))
        self.opponents = list(range(len(self.tests), len(plan.entrants)))
        self.rated = standings.rated(plan, standings.outcomes_of(found.run)).anchored(0)
        self.rows = standings.rows(found, self.tests, self.rated)
        self.against = [(test, 0) for test in self.tests[1:]]
        self.compared = standings.compared(found, self.against)
        agents = [found.entrants[number].agent for number in self.tests]
        self.names = short_names(agents, [row.name for row in self.rows])
        self.cells = {(match.a, match.b): match for match in found.matches}

    def opponent(self, number: int) -> str:
        """An opponent's name, without the protocol it is from."""
        return self.found.entrants[number].name.rpartition(":")[2]


def to_json(found: Results) -> dict[str, Any]:
    """The report for scripts."""
    report = _Report(found)
    return {
        "protocol": found.run.plan.options["protocol"],
        "tests": [row_json(row) for row in report.rows],
        "opponents": [found.entrants[number].name for number in report.opponents],
        "table": [
            [[cell.of_a.total.won, cell.of_a.total.lost] for cell in line]
            for line in (
                [report.cells[test, opponent] for test in report.tests]
                for opponent in report.opponents
            )
        ],
        "differences": [
            {
                "a": one.a,
                "b": one.b,
                "pairs": one.pairs,
                "points": 100 * one.difference,
                "low": 100 * one.low,
                "high": 100 * one.high,
                "p": one.p,
                "real": one.real,
            }
            for one in report.compared
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
    print_table(_course_table(report))
    screen.print()
    print_table(_figures(report))
    screen.print()
    screen.print(_seat(report), soft_wrap=True)
    for line in accidents(found):
        screen.print(line, soft_wrap=True)
    if report.compared:
        screen.print()
        for line in _differences(report):
            screen.print(line, soft_wrap=True)


def _course_table(report: _Report) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), show_footer=True)
    table.add_column("Opponent\n", footer="\nWin rate", overflow="fold")
    for row, name in zip(report.rows, report.names, strict=True):
        table.add_column(
            Text(f"{name}\nWon | Lost", justify="center"),
            footer=Text(f"\n{percent(row.rate)}", "bold"),
            justify="center",
            overflow="fold",
            min_width=len("Won | Lost"),
        )
    for opponent in report.opponents:
        cells = []
        for test in report.tests:
            wins = report.cells[test, opponent].of_a.total
            cells.append(f"{wins.won:>3} | {wins.lost:<4}")
        table.add_row(report.opponent(opponent), *cells)
    return table


def _figures(report: _Report) -> Table:
    baseline = report.names[0]
    table = columns(
        "Test agent",
        "Win rate",
        "95 % interval",
        f"Elo ({baseline} = 0)",
        "as hunter",
        "as runner",
        "depth",
        "nodes a move",
    )
    for row, name in zip(report.rows, report.names, strict=True):
        effort = row.fared.effort
        elo = "0" if row.number == 0 else plus_minus(row.elo, row.elo_error)
        table.add_row(
            name,
            percent(row.rate),
            between(row.low, row.high),
            elo,
            percent(row.fared.hunter.share),
            percent(row.fared.runner.share),
            one_decimal(effort.mean_depth),
            one_decimal(effort.mean_nodes),
        )
    keep_numbers_whole(table, drop=("as hunter", "as runner", "depth", "nodes a move"))
    return table


def _seat(report: _Report) -> str:
    ratings = report.rated.ratings
    games = report.rows[0].fared.total.games
    return (
        f"{games:,} games each. Moving first is worth "
        f"{plus_minus(ratings.seat_elo, ratings.seat_error)} Elo."
    )


def _differences(report: _Report) -> list[str]:
    """Which differences from the baseline are real, in plain words."""
    lines = [f"Against {report.names[0]}, from the same openings:"]
    width = max(len(name) for name in report.names)
    for one, name in zip(report.compared, report.names[1:], strict=True):
        span = f"{signed(100 * one.low, 1)} to {signed(100 * one.high, 1)}"
        lines.append(
            f"  {name:<{width}}  {signed(100 * one.difference, 1):>5} points ({span}): "
            f"{_word(one, len(report.compared))}"
        )
    if not any(one.real for one in report.compared):
        lines.append(_more_games(report.compared))
    return lines


def _word(one: Compared, comparisons: int) -> str:
    if one.real:
        return "better" if one.difference > 0 else "worse"
    if one.low > 0 or one.high < 0:
        return (
            f"perhaps {'better' if one.difference > 0 else 'worse'}, but not surely: of "
            f"{comparisons} comparisons one may look like that by chance"
        )
    return "cannot be told apart"


def _more_games(compared: list[Compared]) -> str:
    """How many pairs it would take to see five points, at the spread that was seen."""
    pairs = compared[0].pairs
    if pairs < 2:
        return "So few pairs tell nothing: --pairs 100 plays more."
    half = max((one.high - one.low) / 2 for one in compared)
    # The interval shrinks with the root of the pairs; see 5 points in four cases of five.
    needed = pairs * (half / 0.05 * (1.96 + 0.84) / 1.96) ** 2
    return (
        f"No difference is certain. To see one of 5 points it takes about {needed:,.0f} pairs an "
        f"agent; these are {pairs:,}."
    )
