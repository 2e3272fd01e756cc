"""Nodes to solve random openings alone, by board size from 5×5 to 8×8.

Node counts are the same on every machine. docs/theory.md draws them.
"""

from __future__ import annotations

import random
from typing import Any

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver.atlas import position_of
from knightfall.solver.engine import Engine, Limits, OutOfBudget

from .measure import percentile
from .result import Ratio, Result

SUMMARY = "Nodes that win or loss of a random opening takes, by board; equal on every machine"
SEED = 5
MOST = 2_000_000_000
"""Node limit: a solve that needs more is abandoned."""

OPENINGS = {(5, 5): 10, (5, 6): 10, (6, 6): 10, (6, 7): 10, (7, 7): 10, (7, 8): 5, (8, 8): 3}
"""Openings on each board."""


def openings(board: Board, how_many: int) -> list[Position]:
    """Return random openings, always the same, without those that point reflection decides."""
    rng = random.Random(f"{SEED} {board.width}x{board.height}")
    found: list[Position] = []
    while len(found) < how_many:
        mover, waiter = rng.sample(range(board.cells), 2)
        if not _by_reflection(board, mover, waiter):
            found.append(position_of(board, mover, waiter))
    return found


def _by_reflection(board: Board, mover: int, waiter: int) -> bool:
    """Return whether point reflection decides the opening, at once or after one move."""
    last = board.cells - 1
    if board.cells % 2 == 0:
        return mover + waiter == last
    return mover == last // 2 and last - waiter in board.knight[mover]


def nodes_of(position: Position, most: int = MOST) -> int | None:
    """Return the solver's nodes with an empty table; None if it needs `most` or more."""
    engine = Engine(position.board)
    try:
        engine.wins(position, Limits(most))
    except OutOfBudget:
        return None
    return engine.nodes


def run(sizes: dict[tuple[int, int], int] | None = None, most: int = MOST) -> Result:
    """Solve every opening of every board, one row each."""
    rows: list[dict[str, Any]] = []
    medians: dict[int, float] = {}
    for (width, height), how_many in (sizes or OPENINGS).items():
        board = Board.of(width, height)
        spent = []
        for position in openings(board, how_many):
            nodes = nodes_of(position, most)
            spent.append(float(most if nodes is None else nodes))
            row = {"board": f"{width}×{height}", "cells": board.cells, "position": position.fen}
            rows.append({**row, "nodes": int(spent[-1]), "given up": nodes is None})
        medians[board.cells] = percentile(sorted(spent), 0.5)
    smallest, largest = min(medians), max(medians)
    growth = (medians[largest] / medians[smallest]) ** (1 / max(1, largest - smallest))
    return Result(
        ratios={"nodes for each cell more": Ratio(growth)},
        figures={"a solve is given up after": most},
        rows=rows,
    )
