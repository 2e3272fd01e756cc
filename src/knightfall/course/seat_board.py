"""The course's board of a position, as the player of one seat expects it."""

from __future__ import annotations

import importlib
from typing import Any

from knightfall.course.laid_out import lay_out
from knightfall.position import Position, Side


class SeatBoard:
    """A game from the player's seat: who has been where, as far as it was seen."""

    def __init__(self, player: Any, side: Side) -> None:
        opponent = importlib.import_module("sample_players").RandomPlayer()
        self._players = (player, opponent) if side == "w" else (opponent, player)
        self._kind = importlib.import_module("isolation").Board
        self._owners: dict[int, int] = {}

    def board(self, position: Position) -> Any:
        """The board as the player expects it."""
        board = self._kind(*self._players, position.board.width, position.board.height)
        knights = position.white, position.black
        for number, cell in enumerate(knights, start=1):
            if cell is not None:
                self._owners.setdefault(cell, number)  # who stands on a new one was there
        turn = self._players if position.to_move == "w" else self._players[::-1]
        lay_out(board, sum(1 << cell for cell in position.open), knights, turn, self._owners)
        return board
