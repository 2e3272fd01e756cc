"""The positions that submissions are examined in, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knightfall.course.checker.watched import AnyBoard, Watch, WatchedBoard
from knightfall.course.knights import Cell
from knightfall.course.sample_players_2017b import RandomPlayer

OPPONENT = RandomPlayer()
"""Whoever plays against the submission; nobody asks it for a move."""


@dataclass(frozen=True)
class Place:
    """A position: the moves that lead to it from an empty board, two digits a cell.

    Whoever is to move there is the submission.
    """

    moves: str
    width: int = 7
    height: int = 7

    @property
    def cells(self) -> list[Cell]:
        """The same as (row, column)."""
        return [(int(pair[0]), int(pair[1])) for pair in self.moves.split()]

    def board(
        self,
        player: Any,
        watch: Watch | None = None,
        opponent: Any = OPPONENT,
        kind: type[AnyBoard] = WatchedBoard,
    ) -> AnyBoard:
        """Return the position with a player to move; from now on what is done is noted."""
        cells = self.cells
        players = (opponent, player) if len(cells) % 2 else (player, opponent)
        board = kind(*players, self.width, self.height)
        board.watch = Watch()
        for cell in cells:
            board.apply_move(cell)
        board.path = ()
        board.watch = watch or Watch()
        return board

    @property
    def picture(self) -> str:
        """The board as the course draws it, and who is who."""
        mine = "2" if len(self.cells) % 2 else "1"
        drawn = self.board("you").to_string().replace("\n\r", "\n")
        lines = [line.rstrip() for line in drawn.splitlines()]
        return "\n".join([*lines, f"You are {mine} and to move; - is gone for good."])

    @property
    def fen(self) -> str:
        """The same for our other commands."""
        board = self.board("you")
        rows = []
        for row in range(self.height):
            marks = "".join(self._mark(board, row, column) for column in range(self.width))
            for length in range(self.width, 0, -1):
                marks = marks.replace("." * length, str(length))
            rows.append(marks)
        return f"{'/'.join(rows)} {'b' if len(self.cells) % 2 else 'w'}"

    def _mark(self, board: AnyBoard, row: int, column: int) -> str:
        cell, second = (row, column), len(self.cells) % 2
        knights = [board.get_player_location(one) for one in (board.active_player, OPPONENT)]
        if cell in knights:
            return "Nn"[knights.index(cell) ^ second]
        return "." if board.move_is_legal(cell) else "*"
