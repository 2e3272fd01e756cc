"""Generation 2017a, March and April 2017: its board and players, name by name.

The board is that of the tag of March; it differs from 2017b's in how it asks its players.  Of the
scores only `center_score` changed, on 25 April 2017; this is what it was until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knightfall.course import generation_2017b
from knightfall.course.board_common import Cell, Reason, TimeLeft, play_out
from knightfall.course.generation_2017b import TIME_LIMIT_MILLIS, any_of, best_of, chosen_from, own
from knightfall.course.scores import center_score_until_april
from knightfall.course.scores import improved_score as improved_score
from knightfall.course.scores import null_score as null_score
from knightfall.course.scores import open_move_score as open_move_score

center_score = center_score_until_april


@own
class Board(generation_2017b.Board):
    """2017b's board for players with `get_move(game_copy, legal_moves, time_left)`."""

    def play(self, time_limit: float = TIME_LIMIT_MILLIS) -> tuple[Any, list[list[int]], Reason]:
        """Play to the end on this board: the winner, the moves as [row, column], the reason.

        A player gets the very list that its answer is checked against, and may change it.
        """
        history: list[list[int]] = []
        winner, reason = play_out(
            self, time_limit, ask_with_moves, lambda move: history.append(list(move))
        )
        return winner, history, reason


def ask_with_moves(player: Any, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Any:
    """Ask a player as all boards before 2017b do."""
    return player.get_move(game, legal_moves, time_left)


# -- sample players ----------------------------------------------------------------------------


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
