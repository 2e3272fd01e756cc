"""The course's board in plain Python, as its students had it.

The board is one flat list, copied on every move, and works as the course's does: a new object for
each forecast, players compared as objects, every question answered from the list. The course also
shuffles legal moves at each call. Here the shuffled list is discarded and the moves come in board
order, so that the tree is the compiled search's, node for node, and the same on every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from knightfall.position import Position, other

Cell = tuple[int, int]
"""Row and column, row 0 on top."""

Score = Callable[["CourseBoard", object], float]
"""A heuristic of the course: the value of a board for a player."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


class CourseBoard:
    """A position: W·H cells by columns, then whose turn, player 2's cell, player 1's cell."""

    BLANK = 0
    NOT_MOVED = None

    def __init__(self, player_1: object, player_2: object, width: int = 7, height: int = 7) -> None:
        self.width = width
        self.height = height
        self.move_count = 0
        self._player_1 = player_1
        self._player_2 = player_2
        self._active_player = player_1
        self._inactive_player = player_2
        self._board_state: list[Any] = [self.BLANK] * (width * height + 3)
        self._board_state[-1] = self.NOT_MOVED
        self._board_state[-2] = self.NOT_MOVED

    @property
    def active_player(self) -> object:
        """Return the player to move."""
        return self._active_player

    @property
    def inactive_player(self) -> object:
        """Return the player who is not to move."""
        return self._inactive_player

    def get_opponent(self, player: object) -> object:
        """Return the other player."""
        if player == self._active_player:
            return self._inactive_player
        return self._active_player

    def copy(self) -> CourseBoard:
        """Return an independent copy."""
        twin = type(self)(self._player_1, self._player_2, self.width, self.height)
        twin.move_count = self.move_count
        twin._active_player = self._active_player
        twin._inactive_player = self._inactive_player
        twin._board_state = self._board_state.copy()
        return twin

    def forecast_move(self, move: Cell) -> CourseBoard:
        """Return a new board on which the active player has moved."""
        board = self.copy()
        board.apply_move(move)
        return board

    def apply_move(self, move: Cell) -> None:
        """Move the active player on this board."""
        index = move[0] + move[1] * self.height
        self._board_state[index] = 1
        self._board_state[-2 if self._active_player == self._player_2 else -1] = index
        self._board_state[-3] ^= 1
        self._active_player, self._inactive_player = self._inactive_player, self._active_player
        self.move_count += 1

    def turn_to(self, player: object) -> None:
        """Make a player the one to move."""
        if player != self._active_player:
            self._active_player, self._inactive_player = self._inactive_player, self._active_player

    def lay_out(self, blank: set[Cell], first: Cell, second: Cell) -> None:
        """Set up a position: the open cells and the two players' cells."""
        for column in range(self.width):
            for row in range(self.height):
                index = row + column * self.height
                self._board_state[index] = int((row, column) not in blank)
        self._board_state[-1] = first[0] + first[1] * self.height
        self._board_state[-2] = second[0] + second[1] * self.height

    def move_is_legal(self, move: Cell) -> bool:
        """Return whether a cell is on the board and open."""
        row, column = move
        return bool(
            0 <= row < self.height
            and 0 <= column < self.width
            and self._board_state[row + column * self.height] == self.BLANK
        )

    def get_blank_spaces(self) -> list[Cell]:
        """Return the open cells, column by column."""
        return [
            (row, column)
            for column in range(self.width)
            for row in range(self.height)
            if self._board_state[row + column * self.height] == self.BLANK
        ]

    def get_player_location(self, player: object) -> Cell:
        """Return a player's cell; both must be placed."""
        index = self._board_state[-1 if player == self._player_1 else -2]
        assert index != self.NOT_MOVED, "both knights must be placed"
        return (index % self.height, index // self.height)

    def get_legal_moves(self, player: object = None) -> list[Cell]:
        """Return the open cells a knight's move from a player (the active one by default)."""
        return self.moves_from(
            self.get_player_location(self.active_player if player is None else player)
        )

    def moves_from(self, cell: Cell) -> list[Cell]:
        """Return the open cells a knight's move from a cell.

        In the course's code this is a private method, which students used nevertheless.
        """
        moves = self.in_order(cell)
        random.shuffle(moves.copy())
        return moves

    def in_order(self, cell: Cell) -> list[Cell]:
        """Return the open cells a knight's move from a cell, in the kernel's order (on boards at
        least four wide).
        """
        row, column = cell
        targets = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        return [target for target in targets if self.move_is_legal(target)]

    def is_winner(self, player: object) -> bool:
        """Return whether the opponent is to move and cannot."""
        return player == self._inactive_player and not self.get_legal_moves(self._active_player)

    def is_loser(self, player: object) -> bool:
        """Return whether the player is to move and cannot."""
        return player == self._active_player and not self.get_legal_moves(self._active_player)


class UnshuffledBoard(CourseBoard):
    """The same board without the shuffle; this saves time and leaves the tree unchanged."""

    def moves_from(self, cell: Cell) -> list[Cell]:
        """Return the open cells a knight's move from a cell."""
        return self.in_order(cell)


def set_up(kind: type[Any], position: Position, mover: object) -> Any:
    """Return a position on a course board of that kind, with the side to move as player 1."""
    where = position.board

    def cell(number: int | None) -> Cell:
        assert number is not None, "both knights must be placed"
        return where.row(number), where.column(number)

    board = kind(mover, "the other", where.width, where.height)
    mine, theirs = position.knight(position.to_move), position.knight(other(position.to_move))
    board.lay_out({cell(number) for number in position.open}, cell(mine), cell(theirs))
    return board


def improved_score(game: CourseBoard, player: object) -> float:
    """Return own mobility less the opponent's, or ±inf when the game is over: the course's
    `improved`.
    """
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)
