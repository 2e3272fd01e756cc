"""The report of a league: ratings, differences with their errors, the crosstable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from knightfall.agents import other_differences
from knightfall.arena.report_statistics import Standing, entrant_dict, short_names, standings
from knightfall.arena.results import RunReport
from knightfall.arena.run_loop import LOOKING_FACTOR
from knightfall.display.numbers import for_json, interval, percent, plus_minus
from knightfall.display.report import Heading, Part, legend
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.arena.run_loop import Scoreboard

WIDEST = 12
"""Most entrants for which the tables of all against all are printed."""


class LeagueReport(RunReport):
    """The report of a league; the best agent comes first."""

    kind = "league"

    @cached_property
    def order(self) -> list[int]:
        """The numbers of the entrants, the best first."""
        return self.ratings.ranking(range(len(self.plan.entrants)))

    @cached_property
    def standings(self) -> list[Standing]:
        """The win rates and ratings of the entrants, the best first."""
        return standings(self.results, self.order, self.ratings)

    @cached_property
    def names(self) -> list[str]:
        """Short names of the entrants, by number."""
        return short_names(self.plan.entrants)

    def won_and_lost(self, a: int, b: int) -> list[int] | None:
        """Return the games that a won and lost against b; None if they did not meet."""
        if (a, b) not in self.results.pairs_between:
            return None
        lost, split, won = self.results.pairs_between[a, b]
        return [2 * won + split, 2 * lost + split]

    def body(self) -> Iterator[Part]:
        yield self._ratings()
        found = self.ratings.ratings
        yield ""
        yield (
            "Elo around the mean of those who both won and lost, ± 95 %. Moving first is worth "
            f"{plus_minus(found.seat_elo, found.seat_error)} Elo."
        )
        yield legend("hunter", "runner")
        if len(self.order) <= WIDEST:
            yield ""
            yield Heading("Elo differences (row less column), ± 95 %")
            yield self._crosstable(lambda a, b: plus_minus(*self.ratings.difference(a, b)))
            yield ""
            yield Heading("Won – lost (row against column)")
            yield self._crosstable(
                lambda a, b: " – ".join(map(str, self.won_and_lost(a, b) or ()))  # "12 – 8"
            )
        yield from self.unusual_losses()
        yield ""
        yield self.no_verdict or self._neighbours()
        first, *others = (entrant.agent for entrant in self.plan.entrants)
        if any(other_differences(first, other) for other in others):
            yield "Not all search alike: a rating is the agent's, not its heuristic's."

    def body_dict(self) -> dict[str, Any]:
        order, found = self.order, self.ratings
        return {
            "agents": [entrant_dict(row) for row in self.standings],
            "differences": [
                [None if a == b else [for_json(x) for x in found.difference(a, b)] for b in order]
                for a in order
            ],
            "crosstable": [[self.won_and_lost(a, b) for b in order] for a in order],
            "seat_elo": found.ratings.seat_elo,
            "seat_elo_error": found.ratings.seat_error,
        }

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        names, ratings = short_names(board.plan.entrants), board.ratings
        table = Table(["", "Agent", "Elo", "± 95 %"], labels=2)
        for place, entrant in enumerate(ratings.ranking(range(len(names))), start=1):
            elo = plus_minus(ratings.elo(entrant), ratings.error(entrant))
            table.add(str(place), names[entrant], *elo.split(" ± "))
        return [table]

    def _ratings(self) -> Table:
        """Return the table of ratings and win rates."""
        figures = ("Games", "Won", "95 % interval", "hunter", "runner", "depth", "nodes")
        table = Table(["", "Agent", "Elo", *figures], labels=2)
        for place, row in enumerate(self.standings, start=1):
            table.add(
                str(place),
                self.names[row.number],
                plus_minus(row.elo, row.elo_error),
                f"{row.result.total.games:,}",
                percent(row.rate),
                interval(row.low, row.high),
                *row.roles_and_effort(),
            )
        return table.drop_empty_columns("depth", "nodes")

    def _crosstable(self, cell: Callable[[int, int], str]) -> Table:
        """Return a table of all against all; `cell(a, b)` returns the text in row a, column b."""
        places = [str(place) for place in range(1, len(self.order) + 1)]
        table = Table(["", "", *places], labels=2)
        for place, a in zip(places, self.order, strict=True):
            table.add(place, self.names[a], *("" if a == b else cell(a, b) for b in self.order))
        return table

    def _neighbours(self) -> str:
        """Return a sentence on which neighbours in the ranking differ significantly."""
        # A rule that may end the league tests it repeatedly, so it needs larger differences.
        factor = LOOKING_FACTOR if self.plan.stop.get("rule") == "until" else 1.0
        open_questions = []
        for better, worse in pairwise(self.order):
            gap, error = self.ratings.difference(better, worse)
            if gap <= factor * error:
                open_questions.append(f"{self.names[better]} and {self.names[worse]}")
        if not open_questions:
            return "Every neighbour in the ranking is told apart."
        return f"Not told apart: {'; '.join(open_questions)}."
