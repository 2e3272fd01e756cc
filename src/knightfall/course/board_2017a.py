"""The course's boards of February to April 2017 (generation 2017a), name by name.

`Board` is that of the tag of March; it differs from 2017b's in how it asks its players.
`EarlyBoard` is what there was from 19 February to 27 March, with its mistake: the mark for "not
placed yet" that player 2 should have had stood on the first cell instead.
"""

from __future__ import annotations

from typing import Any

from knightfall.course import board_2017b
from knightfall.course.board_2017b import TIME_LIMIT_MILLIS, own
from knightfall.course.game_loop import Reason, TimeLeft, play_out
from knightfall.course.knights import Cell


@own
class Board(board_2017b.Board):
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


@own
class EarlyBoard(Board):
    """The same, but (0, 0) is never open, and player 2 stands there before its placement.

    So player 2 can be placed nowhere but on (1, 2) and (2, 1).
    """

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        super().__init__(player_1, player_2, width, height)
        self._board_state[-2] = 0
        self._board_state[0] = None


def ask_with_moves(player: Any, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Any:
    """Ask a player as all boards before 2017b do."""
    return player.get_move(game, legal_moves, time_left)
