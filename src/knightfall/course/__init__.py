"""The course's boards and players, so that agents written for them run here as they are.

>>> from knightfall.course import Board, GreedyPlayer, RandomPlayer
>>> winner, history, reason = Board(RandomPlayer(), GreedyPlayer()).play(time_limit=60_000)
>>> reason
'illegal move'

These are the names of generation 2017b, the last and most common.  The others have modules of
their own, and `paths.folder` leads to folders from which old scripts import what they used to.
Nothing here needs the compiler.
"""

from __future__ import annotations

from knightfall.course.board_2017b import Board
from knightfall.course.sample_players_2017b import (
    GreedyPlayer,
    HumanPlayer,
    RandomPlayer,
    center_score,
    improved_score,
    null_score,
    open_move_score,
)

__all__ = [
    "Board",
    "GreedyPlayer",
    "HumanPlayer",
    "RandomPlayer",
    "center_score",
    "improved_score",
    "null_score",
    "open_move_score",
]
