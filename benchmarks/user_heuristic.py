"""A heuristic from a user's file against the same built-in heuristic, in the same searches."""

from __future__ import annotations

import tempfile
from pathlib import Path

from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import REGISTRY
from knightfall.search.alphabeta import alphabeta
from knightfall.search.deepening import deepening

from .measure import fastest
from .positions import fixed_positions
from .result import Ratio, Result
from .searching import Call

SUMMARY = "Time per node with a user's twin of `improved` (file.py:function) ÷ with the built-in"
GOAL = 2.0
DEPTH = 12
ROUNDS = 5
SEARCHES = {"alphabeta": alphabeta, "id": deepening}
NAME = "benchmark_twin"
TEXT = f"""\
from knightfall.heuristics import heuristic, mobility

@heuristic(symmetric=True)
def {NAME}(board, open, me, opp, to_move):
    return mobility(board, open, me) - mobility(board, open, opp)
"""


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure both on the same trees (checked: nodes, scores, principal variations)."""
    built_in = evaluator("improved")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.py"
        path.write_text(TEXT)
        try:
            users = evaluator(f"{path}:{NAME}")
        finally:
            REGISTRY.pop(NAME, None)
    if not users.compiled:
        raise AssertionError("the user's twin of improved was not compiled")
    ratios, figures = {}, {"depth": depth, "positions": len(fixed_positions())}
    for name, search in SEARCHES.items():
        nodes, spent = 0, {"built-in": 0.0, "user's": 0.0}
        for position in fixed_positions():
            calls = {"built-in": Call(position, depth), "user's": Call(position, depth)}
            sides = {
                "built-in": lambda call=calls["built-in"], search=search: call.compiled(
                    search, built_in
                ),
                "user's": lambda call=calls["user's"], search=search: call.compiled(search, users),
            }
            for side, seconds in fastest(sides, rounds).items():
                spent[side] += seconds
            if calls["built-in"].found != calls["user's"].found:
                raise AssertionError(f"{position}: {[call.found for call in calls.values()]}")
            nodes += calls["built-in"].found.nodes
        ratios[f"time per node in {name}"] = Ratio(
            spent["user's"] / spent["built-in"], at_most=GOAL
        )
        for side, seconds in spent.items():
            figures[f"{name}, {side}: ns per node"] = seconds / nodes * 1e9
    return Result(ratios=ratios, figures=figures)
