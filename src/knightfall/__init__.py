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
    from knightfall.agents import Agent, agent
    from knightfall.arena.api import league, match, tournament, user_store, worth
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

__version__ = "0.1.0"

# Names are imported on first use, so that `import knightfall` and the rules in plain Python
# start at once.
_LAZY_IMPORTS = {
    "Board": "knightfall.board",
    "KnightfallError": "knightfall.errors",
    "Position": "knightfall.position",
    "Agent": "knightfall.agents",
    "Check": "knightfall.oracle.check",
    "agent": "knightfall.agents",
    "check": "knightfall.oracle.check",
    "heuristic": "knightfall.heuristics",
    "Evaluator": "knightfall.heuristics.evaluator",
    "evaluator": "knightfall.heuristics.evaluator",
    "Annotation": "knightfall.oracle.annotate",
    "Grade": "knightfall.oracle.grade",
    "annotate": "knightfall.oracle.annotate",
    "grade": "knightfall.oracle.grade",
    "Report": "knightfall.search.budget",
    "Solution": "knightfall.solver.solve",
    "solve": "knightfall.solver.solve",
    "league": "knightfall.arena.api",
    "match": "knightfall.arena.api",
    "tournament": "knightfall.arena.api",
    "user_store": "knightfall.arena.api",
    "worth": "knightfall.arena.api",
}

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
    "solve",
    "tournament",
    "user_store",
    "worth",
]


def __getattr__(name: str) -> object:
    if name in _LAZY_IMPORTS:
        from importlib import import_module

        value: object = getattr(import_module(_LAZY_IMPORTS[name]), name)
        globals()[name] = value  # so that the next access does not come here
        return value
    raise AttributeError(f"module 'knightfall' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
