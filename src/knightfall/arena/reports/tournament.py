"""A tournament's report: the course's table, and what the course never had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from knightfall.arena.reports.report import RunReport, entrant_dict, short_names
from knightfall.arena.results.standings import (
    Compared,
    Rated,
    Standing,
    compared,
    outcomes_of,
    rated,
    standings,
)
from knightfall.display.numbers import NOTHING, count, interval, mean, percent, plus_minus, signed
from knightfall.display.report import Part
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.arena.results.scoreboard import Scoreboard
    from knightfall.arena.results.tallies import Wins


class TournamentReport(RunReport):
    """Test agents against the same opponents; the first test agent is the baseline."""

    kind = "tournament"

    @property
    def tests(self) -> list[int]:
        """The numbers of the test agents."""
        return list(range(self.plan.options["tests"]))

    @property
    def opponents(self) -> list[int]:
        """The numbers of their opponents."""
        return list(range(len(self.tests), len(self.plan.entrants)))

    @cached_property
    def ratings(self) -> Rated:
        """Ratings with the baseline at 0."""
        return rated(self.plan, outcomes_of(self.run)).anchored(0)

    @cached_property
    def standings(self) -> list[Standing]:
        """What there is to say of each test agent."""
        return standings(self.results, self.tests, self.ratings)

    @cached_property
    def differences(self) -> list[Compared]:
        """Each other test agent against the baseline, opening by opening."""
        return compared(self.results, [(test, 0) for test in self.tests[1:]])

    @cached_property
    def names(self) -> list[str]:
        """What to call each test agent in a narrow column."""
        return short_names([self.plan.entrants[test] for test in self.tests])

    def wins(self, test: int, opponent: int) -> Wins:
        """A test agent's games against an opponent."""
        return next(
            match.of_a.total
            for match in self.results.matches
            if (match.a, match.b) == (test, opponent)
        )

    def body(self) -> Iterator[Part]:
        """See `RunReport`."""
        yield self._course_table()
        yield ""
        yield self._figures()
        yield ""
        found = self.ratings.ratings
        yield (
            f"{count(self.standings[0].fared.total.games, 'game')} each. Moving first is worth "
            f"{plus_minus(found.seat_elo, found.seat_error)} Elo."
        )
        yield from self.accidents()
        if self.no_verdict:
            yield ""
            yield self.no_verdict
        elif self.differences:
            yield ""
            yield from self._differences()

    def body_dict(self) -> dict[str, Any]:
        """See `RunReport`."""
        found = self.ratings.ratings
        return {
            "protocol": self.plan.options["protocol"],
            "tests": [entrant_dict(row) for row in self.standings],
            "opponents": [self.plan.entrants[number].name for number in self.opponents],
            "table": [
                [[wins.won, wins.lost] for wins in (self.wins(t, opponent) for t in self.tests)]
                for opponent in self.opponents
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
                for one in ([] if self.no_verdict else self.differences)
            ],
            "seat_elo": found.seat_elo,
            "seat_elo_error": found.seat_error,
        }

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        """Nothing: half a tournament says little, and its table is long."""
        return []

    def _course_table(self) -> Table:
        titles = ["Opponent\n", *(f"{name}\nWon | Lost" for name in self.names)]
        rates = [percent(row.rate) for row in self.standings]
        table = Table(titles, align="center", footer=["Win rate", *rates])
        for opponent in self.opponents:
            # Without the protocol that it is from.
            name = self.plan.entrants[opponent].name.rpartition(":")[2]
            cells = (self.wins(test, opponent) for test in self.tests)
            table.add(name, *(f"{wins.won:>3} | {wins.lost:<4}" for wins in cells))
        return table

    def _figures(self) -> Table:
        elo = f"Elo ({self.names[0]} = 0)"
        table = Table(
            [
                "Test agent",
                "Win rate",
                "95 % interval",
                elo,
                "as hunter",
                "as runner",
                "depth",
                "nodes a move",
            ]
        )
        for row, name in zip(self.standings, self.names, strict=True):
            effort = row.fared.effort
            table.add(
                name,
                percent(row.rate),
                interval(row.low, row.high),
                NOTHING
                if self.no_verdict
                else "0"
                if row.number == 0
                else plus_minus(row.elo, row.elo_error),
                percent(row.fared.hunter.share),
                percent(row.fared.runner.share),
                mean(effort.mean_depth),
                mean(effort.mean_nodes),
            )
        return table.where_known(elo, "depth", "nodes a move")

    def _differences(self) -> Iterator[str | Table]:
        """Which differences from the baseline are real, in plain words."""
        yield f"Against {self.names[0]}, from the same openings:"
        table = Table(["", "", "", ""], labels=1, align="left")
        for one, name in zip(self.differences, self.names[1:], strict=True):
            span = f"({signed(100 * one.low, 1)} to {signed(100 * one.high, 1)})"
            points = f"{signed(100 * one.difference, 1):>5} points"
            table.add(name, points, span, _word(one))
        yield table
        uncertain = [one for one in self.differences if one.uncertain]
        if uncertain:
            yield (
                f"Perhaps: of {len(self.differences)} comparisons one may look like that by chance."
            )
        if not any(one.real for one in self.differences):
            yield _more_games(self.differences)


def _word(one: Compared) -> str:
    word = "better" if one.difference > 0 else "worse"
    if one.real:
        return word
    return f"perhaps {word}" if one.uncertain else "cannot be told apart"


def _more_games(compared: Sequence[Compared]) -> str:
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
