"""The worth of a heuristic: its strength against another one at equal nodes and at equal time.

A slow heuristic may choose better moves and still lose, because its search visits fewer nodes in
the same time.  So both are measured: equal nodes show the quality of its scores alone, equal time
includes their cost.  Every budget is a match of its own, and all matches play the same openings.

Equal time means node budgets that take equally long.  They are measured once (see `node_costs`) and
are then part of the plan.  The report has a line per budget, and a verdict in two sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from knightfall.agents import Agent, DeepeningAgent, cached_agent, parse_agent
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import Match, Openings, PairTask, Plan, enter, files_of
from knightfall.arena.report_statistics import pair_statistics
from knightfall.arena.results import Effort, Results, RunReport
from knightfall.arena.snapshot import as_played
from knightfall.arena.store import Store
from knightfall.display.numbers import count, for_json, interval, mean, percent, plus_minus
from knightfall.display.report import Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.openings import shuffled
from knightfall.position import Position
from knightfall.search.budget import MOST_NODES, Budget, parse_budget
from knightfall.statistics import pairs as statistics
from knightfall.user_files import without_digits

if TYPE_CHECKING:
    from knightfall.arena.results import MatchResult
    from knightfall.arena.run_loop import Scoreboard

Measure = Literal["nodes", "time"]
"""The kind of budget that is equal for both agents."""

NODES = ("250", "500", "1000", "2500", "5000", "10000")
TIMES = ("0.02ms", "0.05ms", "0.1ms", "0.2ms", "0.5ms")
"""The default budgets.  A fast heuristic visits 1,000 to 30,000 nodes in these times; with more
nodes, 7×7 is played so well that only the opening decides."""


@dataclass(frozen=True, slots=True)
class Level:
    """A budget of a `worth` run, and the number of the match that is played with it."""

    match: int
    measure: Measure
    amount: int
    """Nodes or microseconds per move."""
    text: str


@dataclass(frozen=True, slots=True)
class OverallRate:
    """A's win rate over all node budgets, or over all times, with its 95 % interval.

    The unit is the opening: its pairs with different budgets are correlated, so their mean counts
    as one observation.
    """

    openings: int
    rate: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 if A is better, −1 if it is worse, 0 if the interval contains 50 %."""
        return (self.low > 0.5) - (self.high < 0.5)


# -- the plan ----------------------------------------------------------------------------------


def worth_plan(
    a: str,
    b: str = "improved",
    *,
    nodes: Sequence[str] = NODES,
    times: Sequence[str] = TIMES,
    known: Store | None = None,
    pairs: int = 100,
    **openings: Unpack[Openings],
) -> Plan:
    """Return a plan with one match per budget; a and b are heuristics, or agents such as id(open).

    The node budgets of equal time are taken from earlier runs in the store `known`, so that the
    same call gives the same plan.  Otherwise they are measured, which takes some seconds.
    """
    both = budgetless_agent(a), budgetless_agent(b)
    if both[0] == both[1]:
        raise KnightfallError(f"{a} cannot be compared with itself: name another heuristic")
    equal_nodes, equal_time = _budgets("nodes", nodes), _budgets("time", times)
    if not equal_nodes + equal_time:
        raise KnightfallError("no budgets are given: at least one node budget or time is needed")
    agents = [str(agent.absolute()) for agent in both]
    plan = Plan(
        kind="worth",
        entrants=(),
        matches=tuple(Match(2 * at, 2 * at + 1) for at in range(len(equal_nodes + equal_time))),
        pairs=pairs,
        files=files_of(enter(agents)),
        options={
            "a": _short_name(both[0]),
            "b": _short_name(both[1]),
            "agents": agents,
            "budgets": [str(budget) for budget in equal_nodes + equal_time],
        },
        **openings,
    )
    converted = _converted(plan, both, equal_time, known)
    entrants = [str(replace(agent, budget=budget)) for budget in equal_nodes for agent in both]
    for budget in equal_time:
        for agent, share in zip(both, converted[str(budget)], strict=True):
            entrants.append(str(replace(agent, budget=Budget(nodes=share))))
    return replace(plan, entrants=enter(entrants), options={**plan.options, "converted": converted})


def budgetless_agent(text: str) -> Agent:
    """Return the agent of a heuristic, or of a string like id(main, plain), without a budget."""
    agent = parse_agent(text)
    if agent.reads_itself and ":" in text.partition("(")[0]:
        agent = parse_agent(f"id({text})")  # here it is a student's heuristic, not a player
    if not isinstance(agent, DeepeningAgent):
        raise KnightfallError(
            f"agent {text!r} has no budget to vary; accepted are heuristics and agents that "
            f"deepen, for example improved or {DeepeningAgent.example}"
        )
    return replace(agent, budget=Budget(), label="")


def _short_name(agent: Agent) -> str:
    """Return the heuristic if the agent has no other options, else the agent string."""
    alone = agent == DeepeningAgent(agent.heuristic)
    return without_digits(agent.heuristic if alone else str(agent))


def _budgets(measure: Measure, texts: Sequence[str]) -> list[Budget]:
    """Return the budgets for some texts, all in nodes or all in time, the smallest first."""
    budgets: dict[int, Budget] = {}
    for text in texts:
        budget = parse_budget({measure: text.strip()})
        amount = getattr(budget, measure)
        if amount in budgets:
            raise KnightfallError(f"budget {budget} is given twice; each must be different")
        budgets[amount] = budget
    return [budgets[amount] for amount in sorted(budgets)]


def _converted(
    plan: Plan, both: tuple[Agent, Agent], times: Sequence[Budget], known: Store | None
) -> dict[str, list[int]]:
    """Return the node budgets of A and B for each time, from earlier runs or measured now."""
    found = {} if known is None else _measured_before(plan, known)
    if new := [budget for budget in times if str(budget) not in found]:
        a, b = (cached_agent(as_played(str(agent.absolute()))) for agent in both)
        measured = nodes_within(a, b, [budget.time or 0 for budget in new], plan.starts)
        found |= {str(budget): list(nodes) for budget, nodes in zip(new, measured, strict=True)}
    return {text: found[text] for text in map(str, times)}


def _measured_before(plan: Plan, store: Store) -> dict[str, list[int]]:
    """Return the node budgets of A and B for each time that an earlier run has measured.

    Only runs with the same agents, board and engine are used.
    """
    found: dict[str, list[int]] = {}
    for info in store.runs(lambda *_: None):
        with suppress(KnightfallError):  # a damaged run is passed over
            run = store.run(info.id)
            same = info.kind == "worth" and all(
                getattr(run.plan, field) == getattr(plan, field)
                for field in ("board", "book", "files")
            )
            same = same and run.plan.options.get("agents") == plan.options["agents"]
            if same and run.versions.get("knightfall") == engine():
                found |= run.plan.options["converted"]
    return found


# -- results -----------------------------------------------------------------------------------


def levels(plan: Plan, measure: Measure | None = None) -> list[Level]:
    """Return the budgets of a plan; with `measure`, only its node budgets or only its times."""
    found = []
    for match, text in enumerate(plan.options["budgets"]):
        kind, _, amount = text.partition("=")
        value = getattr(parse_budget({kind: amount}), kind)
        if measure in (None, kind):
            found.append(Level(match, kind, value, text))
    return found


def overall(found: Results, measure: Measure) -> OverallRate | None:
    """Return A's win rate over all node budgets, or over all times; None if there are none."""
    means = _by_opening(found, measure)
    if means is None:
        return None
    means = means[~np.isnan(means)]
    gap = statistics.difference(list(means), [0.5] * len(means))
    return OverallRate(gap.pairs, 0.5 + gap.mean, max(0.0, 0.5 + gap.low), min(1.0, 0.5 + gap.high))


def _by_opening(found: Results, measure: Measure) -> npt.NDArray[np.float64] | None:
    """Return A's mean score in each round, over all node budgets or all times.

    Only rounds that all matches have played are returned.  The mean is nan if every pair of the
    round repeats an earlier one.  Return None if there are no such budgets.
    """
    matches = [level.match for level in levels(found.run.plan, measure)]
    if not matches:
        return None
    rounds = found.played // len(found.matches)
    scores = np.array([found.pair_scores(match)[:rounds] / 2 for match in matches])
    counts = (~np.isnan(scores)).sum(0)
    sums = np.nansum(scores, 0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def price(found: Results) -> float | None:
    """Return A's time per node divided by B's; None if it is not known."""
    plan = found.run.plan
    if longest := levels(plan, "time")[-1:]:
        of_a, of_b = plan.options["converted"][longest[0].text]
        return float(of_b / of_a)
    efforts = Effort(), Effort()
    for match in found.matches:
        efforts = efforts[0] + match.of_a.effort, efforts[1] + match.of_b.effort
    if not all(effort.nodes and effort.microseconds for effort in efforts):
        return None
    costs = [effort.microseconds / effort.nodes for effort in efforts]
    return costs[0] / costs[1]


# -- nodes of equal time -------------------------------------------------------------------------

OPENINGS, REPEATS = 3, 6
"""The openings whose pairs are timed, and how often each.  The shortest time of each move counts,
because other processes can only make it longer."""

FIRST_TRY, LEAST = 250, 50
"""The nodes of the first measurement, and the least nodes of the second.  A node of a longer search
costs a little more, because its table is larger; so the first estimate is measured again.  With
fewer nodes the overhead of a search would dominate."""

Couple = tuple[str, str]
Ints = npt.NDArray[np.int64]


def nodes_within(
    a: Agent, b: Agent, microseconds: Sequence[int], openings: Sequence[str]
) -> list[tuple[int, int]]:
    """Return, for each time, the node budgets with which a and b take that time for a move."""
    if not microseconds:
        return []
    ((usual_a, usual_b),) = node_costs([(_with(a, FIRST_TRY), _with(b, FIRST_TRY))], openings)
    tries = [
        (_with(a, max(LEAST, _nodes(time, usual_a))), _with(b, max(LEAST, _nodes(time, usual_b))))
        for time in microseconds
    ]
    costs = node_costs(tries, openings)
    return [
        (_nodes(time, cost_a), _nodes(time, cost_b))
        for time, (cost_a, cost_b) in zip(microseconds, costs, strict=True)
    ]


def node_costs(couples: Sequence[Couple], openings: Sequence[str]) -> list[tuple[float, float]]:
    """Play games between the two agents of each couple; return their microseconds per node."""
    from knightfall.arena.runner import InProcess  # needs the compiler

    chosen = shuffled(list(dict.fromkeys(openings)), seed=0)[:OPENINGS]
    # The couples alternate, so that a busy moment of the machine does not hit only one.
    pairs = [(a, b, opening) for a, b in couples for opening in chosen]
    tasks = (
        PairTask(number, a, b, opening, seed=1)
        for number, (a, b, opening) in enumerate(pairs * REPEATS)
    )
    quickest: dict[tuple[int, int], Ints] = {}
    nodes: dict[tuple[int, int], Ints] = {}
    with InProcess([agent for couple in couples for agent in couple]) as runner:
        for record in runner.play(tasks):
            for number, game in enumerate(record.games):
                key = record.task.number % len(pairs), number
                times = game.column("microseconds").astype(np.int64)
                before = quickest.get(key, times)
                if len(before) == len(times):  # a user's heuristic may play other moves
                    quickest[key] = np.minimum(times, before)
                    nodes[key] = game.column("nodes").astype(np.int64)
    spent, visited = np.zeros((2, len(couples), 2), np.int64)
    for (pair, number), times in quickest.items():
        # In game 0, a has the first player's knight, N.
        a_begins = (Position.from_fen(pairs[pair][2]).to_move == "w") == (number == 0)
        for who in (0, 1):
            moves = slice(int(a_begins == (who == 1)), None, 2)
            spent[pair // len(chosen), who] += times[moves].sum()
            visited[pair // len(chosen), who] += nodes[pair, number][moves].sum()
    for couple, row in zip(couples, visited, strict=True):
        for agent, searched in zip(couple, row, strict=True):
            if not searched:
                raise KnightfallError(f"{agent} searched no nodes, so its speed cannot be measured")
    costs = np.maximum(spent, 1) / visited
    return [(float(cost_a), float(cost_b)) for cost_a, cost_b in costs]


def _with(agent: Agent, nodes: int) -> str:
    """Return the string of an agent with a node budget."""
    return str(replace(agent, budget=Budget(nodes=nodes)))


def _nodes(time: int, cost: float) -> int:
    """Return the nodes that fit into a time, to three digits: the cost is only a measurement."""
    return max(1, min(int(float(f"{time / cost:.3g}")), MOST_NODES))


# -- the report ----------------------------------------------------------------------------------


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
"""Ratio of two costs below which the report calls them about the same."""


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
