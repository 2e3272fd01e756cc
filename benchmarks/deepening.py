"""Iterative deepening with all improvements against plain deepening, to the same depth."""

from __future__ import annotations

from typing import Any

from knightfall.agents import parse_agent
from knightfall.position import Position

from .measure import fastest
from .positions import fixed_positions, held_out_positions
from .result import Ratio, Result

SUMMARY = "`id(improved, depth=14)` ÷ `id(improved, depth=14, plain)` over twenty positions, twice"
NODES_GOAL = 1 / 3
TIME_GOAL = 1 / 2
DEPTH = 14
ROUNDS = 15
SETS = {"fixed positions": fixed_positions, "held-out positions": held_out_positions}
COLUMNS = ("id nodes", "plain nodes", "id ms", "plain ms")


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure both; each must reach the depth or prove the result."""
    ratios, figures, rows = {}, {"depth": depth}, []
    for which, positions in SETS.items():
        here = _rows(positions(), depth, rounds)
        total = {key: sum(row[key] for row in here) for key in COLUMNS}
        nodes, time = total["id nodes"] / total["plain nodes"], total["id ms"] / total["plain ms"]
        ratios[f"nodes, {which}"] = Ratio(nodes, at_most=NODES_GOAL)
        ratios[f"time, {which}"] = Ratio(time, at_most=TIME_GOAL)
        figures.update({f"{which}: {key}": value for key, value in total.items()})
        rows += here
    return Result(ratios=ratios, figures=figures, rows=rows)


def _rows(positions: list[Position], depth: int, rounds: int) -> list[dict[str, Any]]:
    ours = parse_agent(f"id(improved, depth={depth})")
    plain = parse_agent(f"id(improved, depth={depth}, plain)")
    rows = []
    for position in positions:
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
    return rows
