"""How many nodes two agents get for the same time: measured in games between them.

Games by the clock at compiled speed are decided by the machine: a millisecond is soon missed, and
whoever misses it has lost.  Nodes are always the same.  So time is turned into nodes, once, and
the games are played with these: to the same end on every machine, however busy it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from knightfall.agents import Agent
from knightfall.arena.game.records import PairTask
from knightfall.arena.runners.runner import InProcess
from knightfall.errors import KnightfallError
from knightfall.openings import shuffled
from knightfall.position import Position
from knightfall.search.budget import MOST_NODES, Budget

OPENINGS, REPEATS = 3, 6
"""Pairs from so many openings are timed so many times each.  Of each move the quickest time
counts: whatever else the machine does can only make it longer."""

FIRST_TRY, LEAST = 250, 50
"""Nodes to begin with.  A node of a longer search costs a little more (its table is larger), so
what comes out is tried in turn; but with hardly any nodes a search costs like no search at all."""

Couple = tuple[str, str]
Ints = npt.NDArray[np.int64]


def nodes_within(
    a: Agent, b: Agent, microseconds: Sequence[int], openings: Sequence[str]
) -> list[tuple[int, int]]:
    """For each time, the node budgets with which a and b spend about as much on a move."""
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
    """Microseconds for a node that both of each couple take in games against each other."""
    chosen = shuffled(list(dict.fromkeys(openings)), seed=0)[:OPENINGS]
    # All take turns, so that a busy moment of the machine does not fall on one alone.
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
                if len(before) == len(times):  # a user's heuristic may play another game each time
                    quickest[key] = np.minimum(times, before)
                    nodes[key] = game.column("nodes").astype(np.int64)
    spent, visited = np.zeros((2, len(couples), 2), np.int64)
    for (pair, number), times in quickest.items():
        # Game 0 is the one in which a has the first player's knight, N.
        a_begins = (Position.from_fen(pairs[pair][2]).to_move == "w") == (number == 0)
        for who in (0, 1):
            moves = slice(int(a_begins == (who == 1)), None, 2)
            spent[pair // len(chosen), who] += times[moves].sum()
            visited[pair // len(chosen), who] += nodes[pair, number][moves].sum()
    for couple, row in zip(couples, visited, strict=True):
        for agent, count in zip(couple, row, strict=True):
            if not count:
                raise KnightfallError(f"{agent} made no move that could be timed")
    costs = np.maximum(spent, 1) / visited
    return [(float(cost_a), float(cost_b)) for cost_a, cost_b in costs]


def _with(agent: Agent, nodes: int) -> str:
    return str(replace(agent, budget=Budget(nodes=nodes)))


def _nodes(time: int, cost: float) -> int:
    """A budget, no more exact than it is known."""
    return max(1, min(int(float(f"{time / cost:.3g}")), MOST_NODES))
