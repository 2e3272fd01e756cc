"""The board and the search as a student of the course had them, in plain Python.

The board is one flat list, copied on every move, and works as the course's does: a new object
for each forecast, players compared as objects, every question answered from the list anew.  The
course also shuffles legal moves each time they are asked for.  Here the shuffled list is thrown
away and the moves come in board order, so that the tree is the compiled search's, node for node,
and the same on every run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from knightfall.position import Position
from knightfall.search.state import PROVEN, WIN

Cell = tuple[int, int]
"""Row and column, row 0 on top."""

Score = Callable[["CourseBoard", object], float]
"""A heuristic of the course: how well a player stands."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


class CourseBoard:
    """A position: W·H cells column by column, then whose turn, player 2's cell, player 1's."""

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
        """Whose turn it is."""
        return self._active_player

    @property
    def inactive_player(self) -> object:
        """Whose turn it is not."""
        return self._inactive_player

    def get_opponent(self, player: object) -> object:
        """The other player."""
        if player == self._active_player:
            return self._inactive_player
        return self._active_player

    def copy(self) -> CourseBoard:
        """A board that can be changed without changing this one."""
        twin = type(self)(self._player_1, self._player_2, self.width, self.height)
        twin.move_count = self.move_count
        twin._active_player = self._active_player
        twin._inactive_player = self._inactive_player
        twin._board_state = self._board_state.copy()
        return twin

    def forecast_move(self, move: Cell) -> CourseBoard:
        """A new board on which the active player has moved."""
        board = self.copy()
        board.apply_move(move)
        return board

    def apply_move(self, move: Cell) -> None:
        """Move the active player here and now."""
        index = move[0] + move[1] * self.height
        self._board_state[index] = 1
        self._board_state[-2 if self._active_player == self._player_2 else -1] = index
        self._board_state[-3] ^= 1
        self._active_player, self._inactive_player = self._inactive_player, self._active_player
        self.move_count += 1

    def move_is_legal(self, move: Cell) -> bool:
        """Whether a cell is on the board and open."""
        row, column = move
        return bool(
            0 <= row < self.height
            and 0 <= column < self.width
            and self._board_state[row + column * self.height] == self.BLANK
        )

    def get_blank_spaces(self) -> list[Cell]:
        """The open cells, column by column."""
        return [
            (row, column)
            for column in range(self.width)
            for row in range(self.height)
            if self._board_state[row + column * self.height] == self.BLANK
        ]

    def get_player_location(self, player: object) -> Cell:
        """Where a player stands; both must be placed."""
        index = self._board_state[-1 if player == self._player_1 else -2]
        assert index != self.NOT_MOVED, "both knights must be placed"
        return (index % self.height, index // self.height)

    def get_legal_moves(self, player: object = None) -> list[Cell]:
        """The open cells a knight's move from a player (the active one by default)."""
        return self.moves_from(
            self.get_player_location(self.active_player if player is None else player)
        )

    def moves_from(self, cell: Cell) -> list[Cell]:
        """The open cells a knight's move from a cell.

        The course has this as a private method, which did not keep its students from using it.
        """
        moves = self.in_order(cell)
        random.shuffle(moves.copy())
        return moves

    def in_order(self, cell: Cell) -> list[Cell]:
        """The same in board order (on boards at least four wide), as the kernel takes them."""
        row, column = cell
        targets = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        return [target for target in targets if self.move_is_legal(target)]

    def is_winner(self, player: object) -> bool:
        """Whether the opponent is to move and cannot."""
        return player == self._inactive_player and not self.get_legal_moves(self._active_player)

    def is_loser(self, player: object) -> bool:
        """Whether the player is to move and cannot."""
        return player == self._active_player and not self.get_legal_moves(self._active_player)


def set_up(kind: type[CourseBoard], position: Position, mover: object) -> CourseBoard:
    """A position on a course board of that kind, the side to move as player 1."""
    where = position.board
    board = kind(mover, "the other", where.width, where.height)

    def index(cell: int) -> int:
        return where.row(cell) + where.column(cell) * where.height

    for cell in range(where.cells):
        board._board_state[index(cell)] = int(cell not in position.open)
    white, black = position.knight("w"), position.knight("b")
    assert white is not None
    assert black is not None
    mine, theirs = (white, black) if position.to_move == "w" else (black, white)
    board._board_state[-1], board._board_state[-2] = index(mine), index(theirs)
    return board


def improved_score(game: CourseBoard, player: object) -> float:
    """The course's `improved`: own mobility less the opponent's, ±inf when the game is over."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)


class PlainSearch:
    """Alpha-beta of one player, the clock read at every node.

    `nodes` counts as the compiled search counts.
    """

    def __init__(self, score: Score = improved_score, seconds: float = 1e9) -> None:
        self.score = score
        self.seconds = seconds
        self.nodes = 0

    def best(self, game: CourseBoard, order: list[Cell], depth: int) -> tuple[float, Cell]:
        """The root's value and move at a fixed depth, its moves tried in the given order."""
        self.nodes = 0
        self.deadline = time.perf_counter() + self.seconds
        return self._root(game, order, depth)

    def deepen(self, game: CourseBoard, order: list[Cell], nodes: int) -> tuple[float, Cell]:
        """Depth 1, 2, 3, …, each to its end, until so many nodes are searched or all is proven."""
        self.nodes = depth = 0
        self.deadline = time.perf_counter() + self.seconds
        while True:
            depth += 1
            value, chosen = self._root(game, order, depth)
            # An infinite value is a heuristic's opinion, not a proof.
            if self.nodes >= nodes or PROVEN <= abs(value) <= WIN:
                return value, chosen

    def _root(self, game: CourseBoard, order: list[Cell], depth: int) -> tuple[float, Cell]:
        self.nodes += 1
        alpha, chosen = -2.0 * WIN, order[0]
        for move in order:
            after = game.forecast_move(move)
            value = -self._value(after, depth - 1, 1, -2.0 * WIN, -alpha)
            if value > alpha:
                alpha, chosen = value, move
        return alpha, chosen

    def _value(self, game: CourseBoard, depth: int, ply: int, alpha: float, beta: float) -> float:
        if time.perf_counter() > self.deadline:
            raise TimeoutError
        self.nodes += 1
        moves = game.get_legal_moves()
        if not moves:
            return ply - WIN
        if depth == 0:
            value = self.score(game, self)
            return value if game.active_player == self else -value
        best = -2.0 * WIN
        for move in moves:
            after = game.forecast_move(move)
            value = -self._value(after, depth - 1, ply + 1, -beta, -alpha)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if alpha >= beta:
                        break
        return best
