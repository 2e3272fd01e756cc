"""The players that 2017b's `sample_players` offers: `get_move(game, time_left)`."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from knightfall.course.game_loop import TimeLeft
from knightfall.course.knights import Cell
from knightfall.course.scores import (
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
]

NO_MOVE = (-1, -1)
"""What the course's players answer when they cannot move."""


class RandomPlayer:
    """Any legal move."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """One of the legal moves, (-1, -1) if there are none."""
        return any_of(game.get_legal_moves())


class GreedyPlayer:
    """The move after which the score is best."""

    def __init__(self, score_fn: Callable[[Any, Any], float] = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """The move with the best score, (-1, -1) if there are no moves."""
        return best_of(game.get_legal_moves(), game, self)


class HumanPlayer:
    """Whoever sits at the keyboard."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """The move that is typed in by its number, (-1, -1) if there are none."""
        moves = game.get_legal_moves()
        if moves:
            print(game.to_string())
        return chosen_from(moves)


def any_of(moves: list[Cell]) -> Cell:
    """A random one, by one number of the global generator."""
    return random.choice(moves) if moves else NO_MOVE


def best_of(moves: list[Cell], game: Any, player: Any) -> Cell:
    """The one after which the player's score is best; of equals the greatest (row, column)."""
    scored = [(player.score(game.forecast_move(move), player), move) for move in moves]
    return max(scored)[1] if scored else NO_MOVE


def chosen_from(moves: list[Cell]) -> Cell:
    """The one whose number is typed in; asks until it is one of them."""
    if not moves:
        return NO_MOVE
    print("\t".join(f"[{number}] {move}" for number, move in enumerate(moves)))
    while True:
        with suppress(ValueError):
            number = int(input("Number of your move: "))
            if 0 <= number < len(moves):
                return moves[number]
        print(f"Please type a number from 0 to {len(moves) - 1}.")
