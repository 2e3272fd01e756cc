"""The boards and sample players of the course, for agents written against the course's interface.

>>> from knightfall.course import Board, GreedyPlayer, RandomPlayer
>>> winner, history, reason = Board(RandomPlayer(), GreedyPlayer()).play(time_limit=60_000)
>>> reason
'illegal move'

The names exported here are those of generation 2017b, the last and most common one.  Each other
generation has a module of its own.  `Generation.folder` is a folder that old scripts can put on
their path to import `isolation` and `sample_players`.  Nothing here needs the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from knightfall.extensions import Extension

if TYPE_CHECKING:
    from knightfall.course.generation_2017b import (
        Board,
        GreedyPlayer,
        HumanPlayer,
        RandomPlayer,
        center_score,
        improved_score,
        null_score,
        open_move_score,
    )

EXTENSION = Extension(
    agents={"course": "knightfall.course.agent:CourseAgent"},
    heuristics={"course:": "knightfall.course.student_scores.student_score:read_score"},
    commands={"course": "knightfall.course.commands:course"},
    panels={"course": "Teach"},
)

__all__ = [
    "EXTENSION",
    "Board",
    "GreedyPlayer",
    "HumanPlayer",
    "RandomPlayer",
    "center_score",
    "improved_score",
    "null_score",
    "open_move_score",
]


def __getattr__(name: str) -> Any:
    """Import a name of generation 2017b on first use, so that importing this package is fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("knightfall.course.generation_2017b"), name)
