"""The course's board of a position, as the player of one seat expects it."""

from __future__ import annotations

import importlib
from typing import Any

from knightfall.position import Position, Side


class SeatBoard:
    """A game from the player's seat: who has been where, as far as it was seen."""

    def __init__(self, generation: str, player: Any, side: Side) -> None:
        self._generation = generation
        opponent = importlib.import_module("sample_players").RandomPlayer()
        self._players = (player, opponent) if side == "w" else (opponent, player)
        self._kind = importlib.import_module("isolation").Board
        self._owner: dict[int, int] = {}

    def board(self, position: Position) -> Any:
        """The board as the player expects it."""
        board = self._kind(*self._players, position.board.width, position.board.height)
        board.move_count = position.board.cells - len(position.open)
        first = position.to_move == "w"
        active, inactive = self._players if first else self._players[::-1]
        if self._generation == "oldest":
            self._fill_oldest(board, position)
            board.__active_player__, board.__inactive_player__ = active, inactive
        else:
            self._fill(board, position)
            board._board_state[-3] = 0 if first else 1
            board._active_player, board._inactive_player = active, inactive
        return board

    def _fill(self, board: Any, position: Position) -> None:
        where, height = position.board, position.board.height

        def index(cell: int | None) -> int | None:
            return None if cell is None else where.row(cell) + where.column(cell) * height

        state: list[Any] = [1] * (where.cells + 3)
        for cell in position.open:
            state[where.row(cell) + where.column(cell) * height] = 0
        state[-2], state[-1] = index(position.black), index(position.white)
        board._board_state = state

    def _fill_oldest(self, board: Any, position: Position) -> None:
        """Cells hold the number of the player who was there: who stands on a new one was it."""
        where = position.board
        for number, cell in ((1, position.white), (2, position.black)):
            if cell is not None:
                self._owner.setdefault(cell, number)
        for cell in range(where.cells):
            if cell not in position.open:
                at = where.row(cell), where.column(cell)
                board.__board_state__[at[0]][at[1]] = self._owner.get(cell, 1)
        for player, cell in zip(self._players, (position.white, position.black), strict=True):
            if cell is not None:
                board.__last_player_move__[player] = (where.row(cell), where.column(cell))
