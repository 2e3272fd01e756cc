"""The players that `sample_players` offered before 2017b: `get_move(game, legal_moves, time_left)`.

Of the scores only `center_score` changed, on 25 April 2017; this is what it was until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knightfall.course.game_loop import TimeLeft
from knightfall.course.knights import Cell
from knightfall.course.sample_players_2017b import any_of, best_of, chosen_from
from knightfall.course.scores import (
    center_score_until_april as center_score,
)
from knightfall.course.scores import (
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
]


class RandomPlayer:
    """Any legal move."""

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """One of the legal moves, (-1, -1) if there are none."""
        return any_of(legal_moves)


class GreedyPlayer:
    """The move after which the score is best."""

    def __init__(self, score_fn: Callable[[Any, Any], float] = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """The move with the best score, (-1, -1) if there are no moves."""
        return best_of(legal_moves, game, self)


class HumanPlayer:
    """Whoever sits at the keyboard."""

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """The move that is typed in by its number, (-1, -1) if there are none."""
        return chosen_from(legal_moves)
