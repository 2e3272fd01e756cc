"""Iterative deepening with all that helps against plain iterative deepening, to the same depth."""

from __future__ import annotations

from knightfall.agents import parse_agent

from .measure import fastest
from .positions import fixed_positions
from .result import Ratio, Result

SUMMARY = "`id(improved, depth=14)` ÷ `id(improved, depth=14, plain)` over twenty fixed positions"
NODES_GOAL = 1 / 3
TIME_GOAL = 1 / 2
DEPTH = 14
ROUNDS = 5


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Both must reach the depth, or know the end of the game."""
    ours = parse_agent(f"id(improved, depth={depth})")
    plain = parse_agent(f"id(improved, depth={depth}, plain)")
    rows = []
    for position in fixed_positions():
        reports = {"id": ours.analyse(position), "plain": plain.analyse(position)}
        for name, report in reports.items():
            if report.depth < depth and not report.proven:
                raise AssertionError(f"{position}: {name} stopped at depth {report.depth}")
        times = fastest(
            {
                "id": lambda position=position: ours.analyse(position),
                "plain": lambda position=position: plain.analyse(position),
            },
            rounds,
        )
        rows.append(
            {
                "position": position.fen,
                "open cells": len(position.open),
                "id nodes": reports["id"].nodes,
                "plain nodes": reports["plain"].nodes,
                "id ms": times["id"] * 1e3,
                "plain ms": times["plain"] * 1e3,
            }
        )
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key.endswith(("nodes", "ms"))}
    return Result(
        ratios={
            "nodes": Ratio(total["id nodes"] / total["plain nodes"], at_most=NODES_GOAL),
            "time": Ratio(total["id ms"] / total["plain ms"], at_most=TIME_GOAL),
        },
        figures={"depth": depth, "positions": len(rows), **total},
        rows=rows,
    )
