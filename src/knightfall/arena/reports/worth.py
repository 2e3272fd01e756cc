"""The report of a heuristic's worth: a line per budget, and a verdict in two sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from knightfall.arena.report_statistics import pair_statistics
from knightfall.arena.results import RunReport
from knightfall.arena.worth import Level, OverallRate, levels, overall, price
from knightfall.display.numbers import count, for_json, interval, mean, percent, plus_minus
from knightfall.display.report import Part
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.arena.results import Effort, MatchResult
    from knightfall.arena.run_loop import Scoreboard


class WorthReport(RunReport):
    """The report of heuristic A against heuristic B, at equal nodes and at equal time."""

    kind = "worth"

    @property
    def a(self) -> str:
        """The heuristic that is measured."""
        return str(self.plan.options["a"])

    @property
    def b(self) -> str:
        """The heuristic that `a` is compared with."""
        return str(self.plan.options["b"])

    @cached_property
    def at_equal_nodes(self) -> OverallRate | None:
        """A's win rate over all node budgets; None if there are none."""
        return overall(self.results, "nodes")

    @cached_property
    def at_equal_time(self) -> OverallRate | None:
        """A's win rate over all time budgets; None if there are none."""
        return overall(self.results, "time")

    @cached_property
    def price(self) -> float | None:
        """A's time per node divided by B's; None if it is not known."""
        return price(self.results)

    def body(self) -> Iterator[Part]:
        """See `RunReport`."""
        yield f"{self.a} against {self.b}; of two numbers the first is that of {self.a}"
        figures = ("Won", "95 % interval", "Elo", "nodes a move", "depth", "µs a move")
        table = Table(["Equal", *figures])
        for level in levels(self.plan):
            table.add(*_line(level, self.results.matches[level.match]))
        yield table
        yield from self.unusual_losses()
        yield ""
        yield from self.words

    def body_dict(self) -> dict[str, Any]:
        """See `RunReport`."""
        return {
            "a": self.a,
            "b": self.b,
            "budgets": [self._level_dict(level) for level in levels(self.plan)],
            "equal_nodes": self.at_equal_nodes and asdict(self.at_equal_nodes),
            "equal_time": self.at_equal_time and asdict(self.at_equal_time),
            "price": self.price,
            "words": [self.nothing_measured()] if self.nothing_measured() else self.words,
        }

    def _level_dict(self, level: Level) -> dict[str, Any]:
        """Return the result with one budget as plain values."""
        match = self.results.matches[level.match]
        found = pair_statistics(match.pairs)
        return {
            "budget": level.text,
            "equal": level.measure,
            "amount": level.amount,
            "pairs": list(match.pairs),
            "rate": found.score,
            "low": found.low,
            "high": found.high,
            "elo": for_json(found.elo),
            "elo_error": for_json(found.elo_error),
            "agents": [
                {
                    "agent": self.plan.entrants[entrant].agent,
                    "mean_nodes": result.effort.mean_nodes,
                    "mean_depth": result.effort.mean_depth,
                    "mean_microseconds": result.effort.mean_microseconds,
                    "losses": dict(result.losses),
                }
                for entrant, result in ((match.a, match.of_a), (match.b, match.of_b))
            ],
        }

    @staticmethod
    def live(board: Scoreboard) -> list[Part]:
        """See `RunReport`."""
        table = Table(["Budget", "Won", "95 % interval"])
        for level in levels(board.plan):
            found = pair_statistics(board.counts[level.match])
            table.add(level.text, percent(found.score), interval(found.low, found.high))
        return [table]

    @property
    def words(self) -> list[str]:
        """The verdict in one or two sentences, from the intervals over all budgets."""
        at_nodes, at_time, cost = self.at_equal_nodes, self.at_equal_time, self.price
        played = at_nodes or at_time
        if played is None or not played.openings:
            return ["No opening has been played with every budget yet."]
        sentences = []
        if at_nodes is not None:
            judges = {1: "it judges better", -1: "it judges worse", 0: _open(at_nodes)}
            what = judges[at_nodes.sign]
            sentences.append(f"At equal nodes {self.a} wins {_rate(at_nodes)}: {what}.")
        node = "" if cost is None else f"A node costs {self.a} {_times(cost, self.b)}"
        if at_time is None:
            return [*sentences, f"{node}; equal time was not played."] if node else sentences
        value = _value(at_time, 0 if at_nodes is None else at_nodes.sign, cost)
        paid = ", after paying for that," if cost is not None and cost > ABOUT else ""
        sentences.append(f"{node}; at equal time{paid} it wins {_rate(at_time)}: {value}.")
        return sentences


def _line(level: Level, match: MatchResult) -> list[str]:
    """Return the texts of a table row: the figures of the match with one budget."""
    found = pair_statistics(match.pairs)

    def both(figure: Callable[[Effort], float | None]) -> str:
        efforts = match.of_a.effort, match.of_b.effort
        return " / ".join(mean(figure(effort)) for effort in efforts)

    return [
        level.text,
        percent(found.score),
        interval(found.low, found.high),
        plus_minus(found.elo, found.elo_error),
        both(lambda effort: effort.mean_nodes),
        both(lambda effort: effort.mean_depth),
        both(lambda effort: effort.mean_microseconds),
    ]


# -- the verdict -------------------------------------------------------------------------------


def _value(at_time: OverallRate, judgement: int, price: float | None) -> str:
    """Return the verdict at equal time; `judgement` is `OverallRate.sign` at equal nodes."""
    dearer = price is not None and price > ABOUT
    if at_time.sign > 0:
        return "it is worth its cost" if dearer else "it is better"
    if at_time.sign < 0:
        return "it is not worth its cost" if dearer and judgement >= 0 else "it is worse"
    return _open(at_time)


ABOUT = 1.05
"""Ratio of costs below which they are called about the same."""


def _times(price: float, other: str) -> str:
    """Return a ratio of costs in words: "2.5 times as much time as open"."""
    if 1 / ABOUT <= price <= ABOUT:
        return f"about as much time as {other}"
    digits = 0 if price >= 10 else 1 if price > 1 else 2
    return f"{price:,.{digits}f} times as much time as {other}"


def _rate(found: OverallRate) -> str:
    """Return a win rate with its interval."""
    return f"{percent(found.rate)} ({interval(found.low, found.high)})"


def _open(found: OverallRate) -> str:
    """Return the verdict for a win rate whose interval contains 50 %."""
    return f"{count(found.openings, 'opening')} cannot tell that from 50 %"
