"""A tournament's report: the course's table, and what the course never had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.agents import OtherDifferences, other_differences
from knightfall.arena.results import RunReport, Wins
from knightfall.arena.run_loop import Decided, verdict
from knightfall.arena.standings import (
    Compared,
    Rated,
    Standing,
    compared,
    entrant_dict,
    outcomes_of,
    rated,
    short_names,
    standings,
)
from knightfall.arena.tournament_plan import command_of, mixture
from knightfall.display.numbers import NOTHING, count, interval, percent, plus_minus, signed
from knightfall.display.report import Part
from knightfall.display.table import Table
from knightfall.display.terms import legend

if TYPE_CHECKING:
    from knightfall.arena.plan import Plan
    from knightfall.arena.run_loop import Scoreboard

Outcomes = npt.NDArray[np.int8]


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
        return list(range(self.plan.options["tests"], len(self.plan.entrants)))

    @cached_property
    def outcomes(self) -> Outcomes:
        """How each pair ended, see `outcomes_of`."""
        return outcomes_of(self.run)

    @property
    def course(self) -> Outcomes | None:
        """The pairs that the course would have played; None if the run has no more than those."""
        rounds = self.plan.stop.get("course")
        return None if rounds is None else self.outcomes[: rounds * len(self.plan.matches)]

    @cached_property
    def ratings(self) -> Rated:
        """Ratings with the baseline at 0."""
        return rated(self.plan, self.outcomes).anchored(self.tests[0])

    @cached_property
    def standings(self) -> list[Standing]:
        """What there is to say of each test agent."""
        return standings(self.results, self.tests, self.ratings)

    @cached_property
    def differences(self) -> list[Compared]:
        """Each other test agent against the baseline, opening by opening."""
        sequential = self.course is not None
        return compared(self.plan, self.outcomes, self.tests, sequential=sequential)

    @cached_property
    def names(self) -> list[str]:
        """What to call each test agent in a narrow column."""
        return short_names([self.plan.entrants[test] for test in self.tests])

    def wins(self, test: int, opponent: int) -> Wins:
        """A test agent's games against an opponent."""
        return _wins(self.plan, self.outcomes, test, opponent)

    def differs(self, test: int) -> OtherDifferences:
        """Return in what a test agent differs from the baseline beside the heuristic."""
        return other_differences(*(self.plan.entrants[at].agent for at in (test, self.tests[0])))

    # -- the report ------------------------------------------------------------------------

    def body(self) -> Iterator[Part]:
        """See `RunReport`."""
        games = self.standings[0].fared.total.games
        if self.course is not None:
            yield _caption(self.plan, self.course, games)
        yield _course_table(self.plan, self.tests, self.names, self.outcomes)
        yield ""
        yield self._figures()
        yield ""
        found = self.ratings.ratings
        yield (
            f"{count(games, 'game')} each. Moving first is worth "
            f"{plus_minus(found.seat_elo, found.seat_error)} Elo."
        )
        yield legend("pair", "hunter", "runner")
        yield from (f"Mixed protocols: {text}." for text in mixture(self.plan))
        yield from self.accidents()
        if self.no_verdict:
            yield ""
            yield self.no_verdict
        elif self.differences:
            yield ""
            yield from self._comparisons()

    def body_dict(self) -> dict[str, Any]:
        """See `RunReport`."""
        found = self.ratings.ratings
        course = self.course
        return {
            "protocol": self.plan.options["protocol"],
            "mixture": mixture(self.plan),
            "tests": [entrant_dict(row) for row in self.standings],
            "opponents": [self.plan.entrants[number].name for number in self.opponents],
            "table": self._table(self.outcomes),
            "course_table": None if course is None else self._table(course),
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
                    "same": one.same,
                    "differs": str(self.differs(test)),
                    "verdict": self._word(test, one),
                }
                for test, one in zip(
                    self.tests[1:], [] if self.no_verdict else self.differences, strict=False
                )
            ],
            "seat_elo": found.seat_elo,
            "seat_elo_error": found.seat_error,
        }

    def _table(self, outcomes: Outcomes) -> list[list[list[int]]]:
        """Return games won and lost, a row for each opponent with a cell for each test agent."""
        return [
            [
                [wins.won, wins.lost]
                for wins in (_wins(self.plan, outcomes, test, opponent) for test in self.tests)
            ]
            for opponent in self.opponents
        ]

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        """Show the course's table once its games are played, and how the comparisons stand."""
        plan, rule = board.plan, board.rule
        if not isinstance(rule, Decided):
            return []  # half a tournament says little, and its table is long
        course = plan.stop["course"] * len(plan.matches)
        if board.played < course:
            return [f"the course's own {2 * course:,} games …"]
        outcomes = np.frombuffer(board.outcomes.tobytes(), np.int8)
        tests = range(plan.options["tests"])
        names = short_names([plan.entrants[test] for test in tests])
        games = 2 * len(outcomes) // plan.options["tests"]
        parts: list[Part] = [_caption(plan, outcomes[:course], games)]
        parts += [_course_table(plan, tests, names, outcomes), ""]
        if rule.comparisons:
            parts += [f"Against {names[0]} so far:", _live_comparisons(rule, names[1:]), ""]
        return parts

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
            table.add(
                name,
                percent(row.rate),
                interval(row.low, row.high),
                NOTHING
                if self.no_verdict
                else "0"
                if row.number == self.tests[0]
                else plus_minus(row.elo, row.elo_error),
                *row.roles_and_effort(),
            )
        return table.where_known(elo, "depth", "nodes a move")

    # -- which differences are real --------------------------------------------------------

    def _comparisons(self) -> Iterator[Part]:
        """Compare each test agent with the baseline, and say what is certain."""
        yield f"Against {self.names[0]}, from the same openings, in points of the win rate:"
        course = self.course
        seen = [] if course is None else compared(self.plan, course, self.tests)
        titles = ["", "", "", ""]
        if course is not None:
            games = f"{_games_each(self.plan, course)} games"
            titles = ["", games, "the truth" if self._is_settled else "so far", "", ""]
        table = Table(titles, labels=1, align="left")
        for place, one in enumerate(self.differences, start=1):
            cells = [f"{_points(early):>5}" for early in seen[place - 1 : place]]
            cells += [f"{_points(one):>5}", _span(one), self._word(self.tests[place], one)]
            table.add(self.names[place], *cells)
        yield table
        if any(one.uncertain for one in self.differences):
            several = len(self.differences) > 1
            yield (
                f"Perhaps: of {len(self.differences)} comparisons one may look like that by chance."
                if several
                else "Perhaps: the interval is close to 0."
            )
        if course is not None:
            yield ""
            yield from self._conclusion(seen, course)
        elif not any(one.real or one.same for one in self.differences):
            yield _more_pairs(self.plan, self.differences, self.commands)

    @property
    def _is_settled(self) -> bool:
        """Whether every comparison is decided, or known as well as was asked for."""
        return all(one.settled(self.plan.stop["within"]) for one in self.differences)

    def _word(self, test: int, one: Compared) -> str:
        """Name the verdict on a test agent, and what else than the heuristic it may be due to."""
        differs = self.differs(test)
        return f"{verdict(one)}, differs {differs}" if differs else verdict(one)

    def _conclusion(self, seen: Sequence[Compared], course: Outcomes) -> Iterator[str]:
        """Say what the course's games would have shown, what is true, and how well it is known."""
        within = self.plan.stop["within"]
        if not self._is_settled:
            settled = sum(one.settled(within) for one in self.differences)
            yield f"{settled} of {count(len(self.differences), 'comparison')} settled. " + (
                "All openings are played." if self.finished else "The run is not finished."
            )
            return
        pairs = list(zip(seen, self.differences, strict=True))
        early, one = max(pairs, key=lambda pair: abs(pair[0].difference - pair[1].difference))
        name = self.names[1 + self.differences.index(one)]
        yield (
            f"In the course's {_games_each(self.plan, course)} games you would have seen {name} "
            f"{_ahead(early)} {self.names[0]}; the truth is {_points(one)} points {_span(one)}."
        )
        yield (
            f"Each comparison is decided, or its difference known to within {100 * within:g} "
            "points. The intervals hold although the run looked at them again and again."
        )


def _wins(plan: Plan, outcomes: Outcomes, test: int, opponent: int) -> Wins:
    """Return a test agent's games against an opponent among the first pairs of a schedule."""
    number = next(
        at for at, match in enumerate(plan.matches) if (match.a, match.b) == (test, opponent)
    )
    ended = outcomes[number :: len(plan.matches)]
    ended = ended[ended >= 0]
    return Wins(int((ended // 2 + ended % 2).sum()), 2 * len(ended))


def _games_each(plan: Plan, outcomes: Outcomes) -> int:
    """Return how many games of each test agent are among these pairs."""
    return 2 * len(outcomes) // int(plan.options["tests"])


def _caption(plan: Plan, course: Outcomes, games: int) -> str:
    pairs, few = count(plan.stop["course"], "pair"), _games_each(plan, course)
    return (
        f"The course's tournament, {pairs} against each opponent: {few} games won and lost. "
        f"Beside it the share won of all {games:,}."
    )


def _course_table(
    plan: Plan, tests: Sequence[int], names: Sequence[str], outcomes: Outcomes
) -> Table:
    """Return the course's table: games won and lost, by opponent and test agent.

    Where a run goes beyond the course's own games, these are counted, and the share of all games
    stands beside them.
    """
    rounds = plan.stop.get("course")
    counted = outcomes if rounds is None else outcomes[: rounds * len(plan.matches)]
    baseline = plan.entrants[tests[0]].agent
    differs = [other_differences(plan.entrants[test].agent, baseline) for test in tests]
    columns = "Won | Lost" if rounds is None else "Won | Lost    all"
    titles = ["Opponent\n"]
    titles += [f"{name}\n{columns}" for name in names]
    if any(differs):  # then a line says which column is not to be compared heuristic by heuristic
        notes = ["", *(f"other {what.named}" if what else "" for what in differs)]
        titles = [
            title.replace("\n", f"\n{note}\n") for title, note in zip(titles, notes, strict=True)
        ]
    footer = ["Win rate"]
    table = Table(titles, align="center", footer=footer)

    def share(wins: Wins) -> str:
        return "" if rounds is None else f"  {percent(wins.rate):>7}"

    totals = [(Wins(), Wins()) for _ in tests]
    for opponent in range(plan.options["tests"], len(plan.entrants)):
        cells = []
        for place, test in enumerate(tests):
            few, every = (_wins(plan, some, test, opponent) for some in (counted, outcomes))
            totals[place] = totals[place][0] + few, totals[place][1] + every
            cells.append(f"{few.won:>3} | {few.lost:<4}{share(every)}")
        # Without the protocol that it is from.
        table.add(plan.entrants[opponent].name.rpartition(":")[2], *cells)
    footer += [f"{percent(few.rate)}{share(every)}" for few, every in totals]
    return table


def _live_comparisons(rule: Decided, names: Sequence[str]) -> Table:
    table = Table(["", "", "", ""], labels=1, align="left")
    for name, one in zip(names, rule.comparisons, strict=True):
        word = verdict(one) if one.settled(rule.within) else "…"
        table.add(name, f"{_points(one):>5}", _span(one), word)
    return table


def _points(one: Compared) -> str:
    return signed(100 * one.difference, 1)


def _span(one: Compared) -> str:
    """Return the interval in points; with two digits if rounding to one would make an end 0."""
    nearest = min(abs(one.low), abs(one.high))
    digits = 2 if one.low * one.high > 0 and round(100 * nearest, 1) == 0 else 1
    return f"({signed(100 * one.low, digits)} to {signed(100 * one.high, digits)})"


def _ahead(one: Compared) -> str:
    points = f"{abs(100 * one.difference):.1f}"
    if points == "0.0":
        return "level with"
    return f"{points} points {'ahead of' if one.difference > 0 else 'behind'}"


def _more_pairs(plan: Plan, comparisons: Sequence[Compared], commands: bool) -> str:
    """Say how many pairs it would take to see five points, at the spread that was seen."""
    pairs = comparisons[0].pairs
    opponents = len(plan.entrants) - plan.options["tests"]
    needed = 100
    if pairs >= 2:
        half = max((one.high - one.low) / 2 for one in comparisons)
        # The interval shrinks with the root of the pairs; see 5 points in four cases of five.
        needed = round(pairs / opponents * (half / 0.05 * (1.96 + 0.84) / 1.96) ** 2)
    return (
        f"No difference is certain. To see one of 5 points it takes about {needed:,} pairs against "
        f"each opponent{f': {command_of(plan, pairs=needed)}' if commands else '.'}"
    )
