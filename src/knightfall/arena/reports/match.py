"""The report of a match: Elo, score, pairs and SPRT as in chess engine tests, and a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from knightfall.agents import other_differences
from knightfall.arena.report_statistics import (
    entrant_dict,
    losses,
    pair_counts,
    pair_statistics,
    standings,
)
from knightfall.arena.results import RunReport
from knightfall.arena.run_loop import test_of
from knightfall.display.numbers import count, for_json, interval, mean, percent, plus_minus, signed
from knightfall.display.report import Part, legend

if TYPE_CHECKING:
    from knightfall.arena.plan import Plan
    from knightfall.arena.results import Effort, MatchResult
    from knightfall.arena.run_loop import Scoreboard
    from knightfall.statistics.pairs import MatchEstimate
    from knightfall.statistics.sprt import Sprt


ESTIMATES = ("score", "low", "high", "elo", "elo_error", "nelo", "nelo_error", "los")
"""The fields of `MatchEstimate` that the report's values include."""


class MatchReport(RunReport):
    """The report of a match of two agents; every number is from the view of the first."""

    kind = "match"

    @property
    def match(self) -> MatchResult:
        """The result of the match."""
        return self.results.matches[0]

    @property
    def pairs(self) -> tuple[int, int, int]:
        """The pairs that ended LL, WL and WW for the first agent."""
        return self.match.pairs

    @cached_property
    def statistics(self) -> MatchEstimate:
        """Score, Elo, normalized Elo and likelihood of superiority, with their errors."""
        return pair_statistics(self.pairs)

    @cached_property
    def test(self) -> Sprt | None:
        """The sequential test; None if the match has none."""
        return test_of(self.plan)

    @property
    def llr(self) -> float | None:
        """The log-likelihood ratio of the test; None if there is no test."""
        return None if self.test is None else self.test.llr(pair_counts(self.pairs))

    @property
    def accepted(self) -> str | None:
        """The hypothesis that the test accepts, H0 or H1; None while it is undecided."""
        if self.test is None or self.llr is None or self.no_verdict:
            return None
        return self.test.verdict(self.llr)

    def in_one_line(self) -> str:
        between, elo, games, *_ = _block(self.plan, self.pairs)
        return f"{between} · {games} · {elo.partition('   nElo')[0].replace('   ', ' ')}"

    def body(self) -> Iterator[Part]:
        yield from _block(self.plan, self.pairs)
        yield ""
        for row in standings(self.results, [0, 1], self.ratings):
            result, effort = row.result, row.result.effort
            yield (
                f"{row.name}: {percent(result.first.rate)} as N, "
                f"{percent(result.second.rate)} as n; "
                f"{percent(result.hunter.rate)} hunting, {percent(result.runner.rate)} running; "
                f"{_searched(effort)}lost by {losses(row)}"
            )
        yield from self.unusual_losses()
        yield ""
        test = () if self.test is None else ("LLR",)
        yield legend("pair", "nElo", "LOS", *test, "hunter", "runner")
        yield ""
        yield self.words

    def body_dict(self) -> dict[str, Any]:
        found = self.statistics
        lower, upper = (None, None) if self.test is None else self.test.bounds
        rows = standings(self.results, [0, 1], self.ratings.anchored(1))
        agents = [entrant_dict(row) for row in rows]
        # With two agents, the first one's rating above the second is the Elo of the match.
        agents[0] |= {"elo": for_json(found.elo), "elo_error": for_json(found.elo_error)}
        return {
            "agents": agents,
            "counts": list(self.pairs),
            **{name: for_json(getattr(found, name)) for name in ESTIMATES},
            "llr": self.llr,
            "lower": lower,
            "upper": upper,
            "verdict": self.accepted,
            "words": self.nothing_measured() or self.words,
        }

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
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
            return "Both are the same agent, so every pair is split."
        if self.statistics.low > 0.5:
            words = f"{a} is better than {b}: the whole interval lies above 50 %."
        elif self.statistics.high < 0.5:
            words = f"{a} is worse than {b}: the whole interval lies below 50 %."
        else:
            words = f"{count(pairs, 'pair')} cannot tell {a} and {b} apart: "
            words += "50 % lies within the interval."
        return words + self._other_differences()

    def _other_differences(self) -> str:
        """Return a sentence if the agents differ in more than the heuristic; else ""."""
        differs = other_differences(*(entrant.agent for entrant in self.plan.entrants))
        return f" They differ {differs}." if differs else ""

    def _sequential_words(self, test: Sprt, a: str, b: str) -> str:
        """Return the verdict of the sequential test."""
        after = f"after {count(sum(self.pairs), 'pair')}"
        unit = "normalized Elo" if test.model == "normalized" else "Elo"
        if self.accepted == "H1":
            return (
                f"Passed {after}: H1 is accepted. A strength of {test.elo1:g} {unit} above {b} "
                f"explains the results of {a}, {test.elo0:g} does not.{self._other_differences()}"
            )
        if self.accepted == "H0":
            return (
                f"Failed {after}: H0 is accepted. A strength of {test.elo0:g} {unit} above {b} "
                f"explains the results of {a}, {test.elo1:g} does not.{self._other_differences()}"
            )
        if not self.finished:
            return f"Not decided yet, {after}."
        if self.results.played == len(self.plan.starts) * self.plan.repeats:
            return (
                f"Not decided {after}, and all openings are used up: a test whose hypotheses are "
                "further apart needs fewer pairs."
            )
        return f"Not decided {after}."


def _searched(effort: Effort) -> str:
    """Return mean depth and nodes as text; "" for an agent that does not search."""
    if not effort.nodes:
        return ""
    return f"depth {mean(effort.mean_depth)}, {mean(effort.mean_nodes)} nodes a move; "


def _block(plan: Plan, pairs: Sequence[int]) -> list[str]:
    """Return the lines with Elo, games, pairs and log-likelihood ratio, for the first agent."""
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
