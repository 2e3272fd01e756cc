"""The search that imitates students against plain alpha-beta: nodes per second at a fixed depth.

Positions and depth are equal; the trees differ a little, because students value every loss alike.
"""

from __future__ import annotations

from typing import Any

from knightfall.agents import parse_agent

from .measure import fastest
from .positions import fixed_positions
from .result import Ratio, Result

SUMMARY = "Nodes a second of `student(improved, depth=11)` ÷ those of `alphabeta`"
GOAL = 0.8
DEPTH = 11
ROUNDS = 7


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure the imitation with moves in fixed order, and with moves shuffled at every node as on
    the course's later board.
    """
    agents = {
        "alphabeta": parse_agent(f"alphabeta(improved, depth={depth})"),
        "fixed": parse_agent(f"student(improved, depth={depth}, keeps, order=fixed)"),
        "shuffled": parse_agent(f"student(improved, depth={depth}, keeps)"),
    }
    rows: list[dict[str, Any]] = []
    for position in fixed_positions():
        nodes = {name: agent.analyse(position).nodes for name, agent in agents.items()}
        times = fastest(
            {
                name: lambda agent=agent, position=position: agent.analyse(position)
                for name, agent in agents.items()
            },
            rounds,
        )
        row: dict[str, Any] = {"position": position.fen}
        for name in agents:
            row |= {f"{name} nodes": nodes[name], f"{name} ms": times[name] * 1e3}
        rows.append(row)
    speed = {
        name: sum(row[f"{name} nodes"] for row in rows) / sum(row[f"{name} ms"] for row in rows)
        for name in agents
    }
    return Result(
        ratios={
            "moves in fixed order": Ratio(speed["fixed"] / speed["alphabeta"], at_least=GOAL),
            "moves shuffled": Ratio(speed["shuffled"] / speed["alphabeta"]),
        },
        figures={"depth": depth},
        rows=rows,
    )
