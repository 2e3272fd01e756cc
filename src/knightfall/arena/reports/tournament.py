"""The report of a tournament: the course's table, intervals, ratings and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from knightfall.agents import OtherDifferences, other_differences
from knightfall.arena.report_statistics import (
    BaselineComparison,
    EntrantRatings,
    PairOutcomes,
    Standing,
    compare_with_baseline,
    entrant_dict,
    rate_entrants,
    scores_of,
    short_names,
    standings,
)
from knightfall.arena.results import RunReport, Wins
from knightfall.arena.run_loop import ComparisonRule, verdict
from knightfall.arena.tournament_plan import command_of, mixture
from knightfall.display.numbers import NOTHING, count, interval, percent, plus_minus, signed
from knightfall.display.report import Part, legend
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.arena.plan import Plan
    from knightfall.arena.run_loop import Scoreboard


class TournamentReport(RunReport):
    """The report of a tournament, in which the first test agent is the baseline."""

    kind = "tournament"

    @property
    def tests(self) -> list[int]:
        """The numbers of the test agents."""
        return list(range(self.plan.options["tests"]))

    @property
    def opponents(self) -> list[int]:
        """The numbers of the opponents."""
        return list(range(self.plan.options["tests"], len(self.plan.entrants)))

    @cached_property
    def outcomes(self) -> PairOutcomes:
        """The outcomes of the pairs that the report counts."""
        return self.results.outcomes

    @property
    def course(self) -> PairOutcomes | None:
        """The outcomes of the pairs of the course's tournament; None if the run plays no others."""
        rounds = self.plan.stop.get("course")
        return None if rounds is None else self.outcomes[: rounds * len(self.plan.matches)]

    @cached_property
    def ratings(self) -> EntrantRatings:
        """Bradley-Terry ratings with the baseline at 0."""
        return rate_entrants(self.plan, self.outcomes).anchored(self.tests[0])

    @cached_property
    def standings(self) -> list[Standing]:
        """The win rates and ratings of the test agents."""
        return standings(self.results, self.tests, self.ratings)

    @cached_property
    def differences(self) -> list[BaselineComparison]:
        """The comparisons of all other test agents with the baseline."""
        sequential = self.course is not None
        return compare_with_baseline(self.plan, self.outcomes, self.tests, sequential=sequential)

    @cached_property
    def names(self) -> list[str]:
        """Short names of the test agents."""
        return short_names([self.plan.entrants[test] for test in self.tests])

    def wins(self, test: int, opponent: int) -> Wins:
        """Return a test agent's wins against an opponent."""
        return _wins(self.plan, self.outcomes, test, opponent)

    def differs(self, test: int) -> OtherDifferences:
        """Return what differs between a test agent and the baseline, besides the heuristic."""
        return other_differences(*(self.plan.entrants[at].agent for at in (test, self.tests[0])))

    # -- the report ------------------------------------------------------------------------

    def body(self) -> Iterator[Part]:
        games = self.standings[0].result.total.games
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
        yield from self.unusual_losses()
        if self.no_verdict:
            yield ""
            yield self.no_verdict
        elif self.differences:
            yield ""
            yield from self._comparisons()

    def body_dict(self) -> dict[str, Any]:
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

    def _table(self, outcomes: PairOutcomes) -> list[list[list[int]]]:
        """Return [won, lost] games: a row for each opponent, in it an item for each test agent."""
        return [
            [
                [wins.won, wins.lost]
                for wins in (_wins(self.plan, outcomes, test, opponent) for test in self.tests)
            ]
            for opponent in self.opponents
        ]

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        """See `RunReport`: the course's table after its games, and how the comparisons stand."""
        plan, rule = board.plan, board.rule
        if not isinstance(rule, ComparisonRule):
            return []  # the table of half a tournament is long and says little
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
        """Return the table of win rates (overall and by role), ratings, depths and nodes."""
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
            rating = "0" if row.number == self.tests[0] else plus_minus(row.elo, row.elo_error)
            table.add(
                name,
                percent(row.rate),
                interval(row.low, row.high),
                NOTHING if self.no_verdict else rating,
                *row.roles_and_effort(),
            )
        return table.drop_empty_columns(elo, "depth", "nodes a move")

    # -- comparisons with the baseline -----------------------------------------------------

    def _comparisons(self) -> Iterator[Part]:
        """Yield the table of comparisons with the baseline, and sentences about it."""
        yield f"Against {self.names[0]}, from the same openings, in points of the win rate:"
        course = self.course
        seen = [] if course is None else compare_with_baseline(self.plan, course, self.tests)
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
        """Whether every comparison is settled as the plan's stop rule requires."""
        return all(one.settled(self.plan.stop["within"]) for one in self.differences)

    def _word(self, test: int, one: BaselineComparison) -> str:
        """Return the verdict on a test agent, and what differs besides the heuristic."""
        differs = self.differs(test)
        return f"{verdict(one)}, differs {differs}" if differs else verdict(one)

    def _conclusion(
        self, seen: Sequence[BaselineComparison], course: PairOutcomes
    ) -> Iterator[str]:
        """Yield sentences that compare the course's games with all games, and state the precision.

        `seen` are the comparisons by the course's games.
        """
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


def _wins(plan: Plan, outcomes: PairOutcomes, test: int, opponent: int) -> Wins:
    """Return a test agent's wins against an opponent, from the outcomes of the first pairs."""
    number = next(
        at for at, match in enumerate(plan.matches) if (match.a, match.b) == (test, opponent)
    )
    scores = scores_of(outcomes[number :: len(plan.matches)])
    return Wins(int(np.nansum(scores)), 2 * int((~np.isnan(scores)).sum()))


def _games_each(plan: Plan, outcomes: PairOutcomes) -> int:
    """Return how many games each test agent plays in these pairs."""
    return 2 * len(outcomes) // int(plan.options["tests"])


def _caption(plan: Plan, course: PairOutcomes, games: int) -> str:
    """Return the sentence above the course's table."""
    pairs, few = count(plan.stop["course"], "pair"), _games_each(plan, course)
    return (
        f"The course's tournament, {pairs} against each opponent: {few} games won and lost. "
        f"Beside it the share won of all {games:,}."
    )


def _course_table(
    plan: Plan, tests: Sequence[int], names: Sequence[str], outcomes: PairOutcomes
) -> Table:
    """Return the course's table: games won and lost, by opponent and test agent.

    If a run goes beyond the course's own games, the table counts those, with the share won of all
    games beside them.
    """
    rounds = plan.stop.get("course")
    counted = outcomes if rounds is None else outcomes[: rounds * len(plan.matches)]
    baseline = plan.entrants[tests[0]].agent
    differs = [other_differences(plan.entrants[test].agent, baseline) for test in tests]
    columns = "Won | Lost" if rounds is None else "Won | Lost    all"
    titles = ["Opponent\n"]
    titles += [f"{name}\n{columns}" for name in names]
    if any(differs):  # a line marks columns that differ in more than the heuristic
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
        # The name without its protocol.
        table.add(plan.entrants[opponent].name.rpartition(":")[2], *cells)
    footer += [f"{percent(few.rate)}{share(every)}" for few, every in totals]
    return table


def _live_comparisons(rule: ComparisonRule, names: Sequence[str]) -> Table:
    """Return the table of comparisons so far."""
    table = Table(["", "", "", ""], labels=1, align="left")
    for name, one in zip(names, rule.comparisons, strict=True):
        word = verdict(one) if one.settled(rule.within) else "…"
        table.add(name, f"{_points(one):>5}", _span(one), word)
    return table


def _points(one: BaselineComparison) -> str:
    """Return a difference in percentage points, with its sign."""
    return signed(100 * one.difference, 1)


def _span(one: BaselineComparison) -> str:
    """Return the interval in points, with two decimals if one decimal would round an end to 0."""
    nearest = min(abs(one.low), abs(one.high))
    digits = 2 if one.low * one.high > 0 and round(100 * nearest, 1) == 0 else 1
    return f"({signed(100 * one.low, digits)} to {signed(100 * one.high, digits)})"


def _ahead(one: BaselineComparison) -> str:
    """Return a difference in words: "3.2 points ahead of", "level with"."""
    points = f"{abs(100 * one.difference):.1f}"
    if points == "0.0":
        return "level with"
    return f"{points} points {'ahead of' if one.difference > 0 else 'behind'}"


def _more_pairs(plan: Plan, comparisons: Sequence[BaselineComparison], commands: bool) -> str:
    """Return a sentence on how many pairs would show a difference of five points."""
    pairs = comparisons[0].pairs
    opponents = len(plan.entrants) - plan.options["tests"]
    needed = 100
    if pairs >= 2:
        half = max((one.high - one.low) / 2 for one in comparisons)
        # The interval shrinks with the square root of the pairs; the power is 80 %.
        needed = round(pairs / opponents * (half / 0.05 * (1.96 + 0.84) / 1.96) ** 2)
    return (
        f"No difference is certain. To see one of 5 points takes about {needed:,} pairs against "
        f"each opponent{f': {command_of(plan, pairs=needed)}' if commands else '.'}"
    )
