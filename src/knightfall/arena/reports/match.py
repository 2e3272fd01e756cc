"""A match's report: the block that engine authors read, and a verdict that everyone does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from knightfall.agents import other_differences
from knightfall.arena.results import RunReport
from knightfall.arena.run_loop import test_of
from knightfall.arena.standings import entrant_dict, losses, pair_counts, pair_statistics, standings
from knightfall.display.numbers import count, for_json, interval, mean, percent, plus_minus, signed
from knightfall.display.report import Part
from knightfall.display.terms import legend

if TYPE_CHECKING:
    from knightfall.arena.plan import Plan
    from knightfall.arena.results import Effort, MatchResult
    from knightfall.arena.run_loop import Scoreboard
    from knightfall.statistics.pairs import MatchEstimate
    from knightfall.statistics.sprt import Sprt


class MatchReport(RunReport):
    """Two agents; every number is the first one's."""

    kind = "match"

    @property
    def match(self) -> MatchResult:
        """What came of it."""
        return self.results.matches[0]

    @property
    def pairs(self) -> tuple[int, int, int]:
        """How many pairs ended LL, WL and WW."""
        return self.match.pairs

    @cached_property
    def statistics(self) -> MatchEstimate:
        """Score, Elo, normalized Elo and likelihood of superiority, with their errors."""
        return pair_statistics(self.pairs)

    @cached_property
    def test(self) -> Sprt | None:
        """The sequential test, if the match has one."""
        return test_of(self.plan)

    @property
    def llr(self) -> float | None:
        """The log-likelihood ratio of that test."""
        return None if self.test is None else self.test.llr(pair_counts(self.pairs))

    @property
    def accepted(self) -> str | None:
        """Return the hypothesis that the test accepts, H0 or H1; None while it cannot tell."""
        if self.test is None or self.llr is None or self.no_verdict:
            return None
        return self.test.verdict(self.llr)

    def body(self) -> Iterator[Part]:
        """See `RunReport`."""
        yield from _block(self.plan, self.pairs)
        yield ""
        for row in standings(self.results, [0, 1], self.ratings):
            fared, effort = row.fared, row.fared.effort
            yield (
                f"{row.name}: {percent(fared.first.rate)} as N, "
                f"{percent(fared.second.rate)} as n; "
                f"{percent(fared.hunter.rate)} hunting, {percent(fared.runner.rate)} running; "
                f"{_searched(effort)}lost by {losses(row)}"
            )
        yield from self.accidents()
        yield ""
        test = () if self.test is None else ("LLR",)
        yield legend("pair", "nElo", "LOS", *test, "hunter", "runner")
        yield ""
        yield self.words

    def body_dict(self) -> dict[str, Any]:
        """See `RunReport`."""
        found = self.statistics
        lower, upper = (None, None) if self.test is None else self.test.bounds
        rows = standings(self.results, [0, 1], self.ratings.anchored(1))
        agents = [entrant_dict(row) for row in rows]
        # One match, one Elo: the ratings of two agents are its difference, seen from the second.
        agents[0] |= {"elo": for_json(found.elo), "elo_error": for_json(found.elo_error)}
        return {
            "agents": agents,
            "counts": list(self.pairs),
            "score": found.score,
            "low": found.low,
            "high": found.high,
            "elo": for_json(found.elo),
            "elo_error": for_json(found.elo_error),
            "nelo": for_json(found.nelo),
            "nelo_error": for_json(found.nelo_error),
            "los": found.los,
            "llr": self.llr,
            "lower": lower,
            "upper": upper,
            "verdict": self.accepted,
            "words": self.nothing_measured() or self.words,
        }

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        """See `RunReport`."""
        return [*_block(board.plan, board.counts[0]), ""]

    @property
    def words(self) -> str:
        """The verdict in a sentence or two."""
        plan, pairs = self.plan, sum(self.pairs)
        a, b = (entrant.name for entrant in plan.entrants)
        if not pairs:
            return "No pair has been played yet."
        if self.no_verdict:
            return self.no_verdict
        if self.test is not None:
            return self._sequential_words(self.test, a, b)
        if plan.entrants[0].agent == plan.entrants[1].agent:
            return "The two are one agent: every pair is split, whoever it plays like."
        if self.statistics.low > 0.5:
            words = f"{a} is better than {b}: the whole interval lies above 50 %."
        elif self.statistics.high < 0.5:
            words = f"{a} is worse than {b}: the whole interval lies below 50 %."
        else:
            words = f"{count(pairs, 'pair')} cannot tell {a} and {b} apart: "
            words += "50 % lies within the interval."
        return words + self._other_differences()

    def _other_differences(self) -> str:
        """Return a sentence if more than the heuristic was compared."""
        differs = other_differences(*(entrant.agent for entrant in self.plan.entrants))
        return f" They differ {differs}." if differs else ""

    def _sequential_words(self, test: Sprt, a: str, b: str) -> str:
        after = f"after {count(sum(self.pairs), 'pair')}"
        unit = "normalized Elo" if test.model == "normalized" else "Elo"
        if self.accepted == "H1":
            return (
                f"Passed {after}: that {a} is {test.elo1:g} {unit} better than {b} "
                f"explains the results, that it is {test.elo0:g} does not."
                f"{self._other_differences()}"
            )
        if self.accepted == "H0":
            return (
                f"Failed {after}: {a} is not {test.elo1:g} {unit} better than {b}; "
                f"{test.elo0:g} explains the results better.{self._other_differences()}"
            )
        if not self.finished:
            return f"Not decided yet, {after}."
        if self.results.played == len(self.plan.starts) * self.plan.repeats:
            return (
                f"Not decided {after}, and all openings are used up: bounds further apart need "
                "fewer."
            )
        return f"Not decided {after}."


def _searched(effort: Effort) -> str:
    """How deep and how much, for those who search at all."""
    if not effort.nodes:
        return ""
    return f"depth {mean(effort.mean_depth)}, {mean(effort.mean_nodes)} nodes a move; "


def _block(plan: Plan, pairs: Sequence[int]) -> list[str]:
    """The result so far, all numbers from the view of the first agent."""
    lost, split, won = pairs
    found, test = pair_statistics(pairs), test_of(plan)
    a, b = plan.entrants
    wins, games = 2 * won + split, 2 * sum(pairs)
    lines = [
        f"{a.name} against {b.name}",
        f"Elo   {plus_minus(found.elo, found.elo_error, 1)}   "
        f"nElo {plus_minus(found.nelo, found.nelo_error, 1)}   LOS {percent(found.los)}",
        f"Games {games:,}: {wins:,} won, {games - wins:,} lost, {percent(found.score)} "
        f"({interval(found.low, found.high)})",
        f"Pairs [LL, WL, WW] [{lost}, {split}, {won}]",
    ]
    if test is not None:
        lower, upper = test.bounds
        llr = test.llr(pair_counts(pairs))
        lines.append(
            f"LLR   {signed(llr, 2).lstrip('+')} ({signed(lower, 2)}, {upper:.2f}) "
            f"[{test.elo0:g}, {test.elo1:g}] {test.model}"
        )
    return lines
