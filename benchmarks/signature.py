"""The signature of the searches: total nodes on a fixed workload, the same on every machine.

A functional change of a search (pruning, move order, table) changes the signature; nothing else
may. After an intended change, update `SIGNATURE` (``python -m benchmarks --only signature`` prints
the new one, agent by agent) and say why in the commit.
"""

from __future__ import annotations

from knightfall.agents import parse_agent
from knightfall.position import Position

from .positions import FENS
from .result import Result

SIGNATURE = 2_934_726

SUMMARY = "Nodes of every kind of search over a fixed workload; equal on every machine"

AGENTS = (
    "greedy(improved)",
    "minimax(open, depth=4)",
    "alphabeta(improved, depth=8)",
    "alphabeta(bfs_reach, depth=6, seed=7)",
    "id(improved, depth=10, plain)",
    "id(improved, depth=12)",
    "id(center, depth=9)",
    "id(static_reach(1/3), depth=8, seed=7)",
    "id(main, depth=6)",
)
POSITIONS = (
    *FENS,
    "7/7/7/3N3/7/7/7[n] b",  # a placement
    "5/5/1N3/3n1/5 w",  # other boards
    "8/8/2N5/8/8/5n2/8/8 b",
    "1**2*1/*2*1**/*N**1*1/2*1**1/**2*2/*1*1n**/2***1* w",  # late, the knights nearly separated
)


def nodes_by_agent() -> dict[str, int]:
    """Return the nodes of each agent over all positions."""
    positions = [Position.from_fen(fen) for fen in POSITIONS]
    return {
        text: sum(parse_agent(text).analyse(position).nodes for position in positions)
        for text in AGENTS
    }


def run() -> Result:
    """Count the nodes and compare the total with the recorded signature."""
    spent = nodes_by_agent()
    total = sum(spent.values())
    notes = []
    if total != SIGNATURE:
        notes.append(
            f"The signature has changed from {SIGNATURE} to {total}: if that is meant, "
            "write the new one into benchmarks/signature.py"
        )
    return Result(
        figures={"signature": total, "recorded": SIGNATURE},
        rows=[{"agent": agent, "nodes": nodes} for agent, nodes in spent.items()],
        notes=notes,
    )
