"""knightfall: the laboratory for Knight's Isolation.

>>> import knightfall as kf
>>> position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
>>> position.legal_moves
('a7', 'c7', 'd6', 'd4', 'a3', 'c3')
>>> kf.agent("alphabeta(improved, depth=3)").choose(position) in position.legal_moves
True
"""

from __future__ import annotations

# This file imports nothing, not even `typing`: every command starts with it, and Ctrl-C shows a
# traceback until the command line has installed its signal handler.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from knightfall.agents import Agent, agent
    from knightfall.arena.api import league, match, run, runs, tournament, user_store, worth
    from knightfall.board import Board
    from knightfall.errors import KnightfallError
    from knightfall.heuristics import heuristic
    from knightfall.heuristics.evaluator import Evaluator, evaluator
    from knightfall.oracle.annotate import Annotation, annotate
    from knightfall.oracle.check import Check, check
    from knightfall.oracle.grade import Grade, grade
    from knightfall.position import Position
    from knightfall.search.budget import Report
    from knightfall.solver.solve import Solution, solve

__version__ = "0.2.0"

# Names are imported on first use, so that `import knightfall` and the rules in plain Python
# start at once.
_PLACES = {
    "knightfall.agents": "Agent agent",
    "knightfall.arena.api": "league match run runs tournament user_store worth",
    "knightfall.board": "Board",
    "knightfall.errors": "KnightfallError",
    "knightfall.heuristics": "heuristic",
    "knightfall.heuristics.evaluator": "Evaluator evaluator",
    "knightfall.oracle.annotate": "Annotation annotate",
    "knightfall.oracle.check": "Check check",
    "knightfall.oracle.grade": "Grade grade",
    "knightfall.position": "Position",
    "knightfall.search.budget": "Report",
    "knightfall.solver.solve": "Solution solve",
}
_LAZY_IMPORTS = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = [
    "Agent",
    "Annotation",
    "Board",
    "Check",
    "Evaluator",
    "Grade",
    "KnightfallError",
    "Position",
    "Report",
    "Solution",
    "agent",
    "annotate",
    "check",
    "evaluator",
    "grade",
    "heuristic",
    "league",
    "match",
    "run",
    "runs",
    "solve",
    "tournament",
    "user_store",
    "worth",
]


def __getattr__(name: str) -> object:
    if name in _LAZY_IMPORTS:
        from importlib import import_module

        value: object = getattr(import_module(_LAZY_IMPORTS[name]), name)
        if not isinstance(value, type):
            _show_types(value)
        globals()[name] = value  # so that the next access does not come here
        return value
    if not name.startswith("_"):
        from knightfall.extensions import added, load_added

        if name in added("functions"):
            function = load_added("functions", name)
            _show_types(function)
            return function
    raise AttributeError(f"module 'knightfall' has no attribute {name!r}")


def _show_types(function: Any) -> None:
    """Let `help` show the types of a function without quotes."""
    from knightfall.display.signatures import show_types

    show_types(function)


def __dir__() -> list[str]:
    from knightfall.extensions import added

    return sorted([*__all__, *added("functions")])
