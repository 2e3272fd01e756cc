"""The players of the course's generation 2017b, and what else the module offered."""

from random import randint

from knightfall.course.generation_2017b import (
    GreedyPlayer,
    HumanPlayer,
    RandomPlayer,
    center_score,
    improved_score,
    null_score,
    open_move_score,
)

__all__ = [
    "GreedyPlayer",
    "HumanPlayer",
    "RandomPlayer",
    "center_score",
    "improved_score",
    "null_score",
    "open_move_score",
    "randint",
]
