"""Slow, obvious versions of the course's boards, written from the specification.

They share nothing with `knightfall.course`: cells are looked for by bounds checks, lists shuffled
by `random.shuffle`, boards copied by `deepcopy`, the successor's board is a set of cells.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

STEPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


class Naive2017b:
    """The board of 2017b as one list: cell (r, c) at index r + c·H, then the player to move, player
    2's cell and player 1's cell.
    """

    first_cell: Any = 0
    second_player: Any = None

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        self.width, self.height, self.move_count = width, height, 0
        self.player_1, self.player_2 = player_1, player_2
        self.active_player, self.inactive_player = player_1, player_2
        self.state: list[Any] = [0] * (width * height) + [0, self.second_player, None]
        self.state[0] = self.first_cell

    def get_opponent(self, player: Any) -> Any:
        return self.inactive_player if player == self.active_player else self.active_player

    def get_player_location(self, player: Any) -> tuple[int, int] | None:
        index = self.state[-1] if player == self.player_1 else self.state[-2]
        return None if index is None else (index % self.height, index // self.height)

    def open(self, row: int, column: int) -> bool:
        inside = 0 <= row < self.height and 0 <= column < self.width
        return inside and self.state[row + column * self.height] == 0

    def get_blank_spaces(self) -> list[tuple[int, int]]:
        return [(r, c) for c in range(self.width) for r in range(self.height) if self.open(r, c)]

    def get_legal_moves(self, player: Any = None) -> list[tuple[int, int]]:
        cell = self.get_player_location(self.active_player if player is None else player)
        if cell is None:
            return self.get_blank_spaces()
        cells = [(cell[0] + row, cell[1] + column) for row, column in STEPS]
        moves = [one for one in cells if self.open(*one)]
        random.shuffle(moves)
        return moves

    def forecast_move(self, move: tuple[int, int]) -> Naive2017b:
        board = deepcopy(self, {id(p): p for p in (self.player_1, self.player_2)})
        board.apply_move(move)
        return board

    def apply_move(self, move: tuple[int, int]) -> None:
        index = move[0] + move[1] * self.height
        self.state[-2 if self.active_player == self.player_2 else -1] = index
        self.state[index] = 1
        self.state[-3] = 1 - self.state[-3]
        self.active_player, self.inactive_player = self.inactive_player, self.active_player
        self.move_count += 1

    def is_winner(self, player: Any) -> bool:
        return player == self.inactive_player and not self.get_legal_moves()

    def is_loser(self, player: Any) -> bool:
        return player == self.active_player and not self.get_legal_moves()

    def utility(self, player: Any) -> float:
        if self.get_legal_moves():
            return 0.0
        return float("-inf") if player == self.active_player else float("inf")

    def to_string(self) -> str:
        wide = len(str(self.height - 1)) + 1
        text = " " * (wide + 3) + "   ".join(str(c) for c in range(self.width)) + "\n\r"
        for r in range(self.height):
            text += str(r).ljust(wide) + " | "
            for c in range(self.width):
                mark = "-"
                mark = "2" if self.state[-2] == r + c * self.height else mark
                mark = "1" if self.state[-1] == r + c * self.height else mark
                mark = mark if self.state[r + c * self.height] else " "
                text += mark + " | "
            text += "\n\r"
        return text


class NaiveEarly(Naive2017b):
    """The early board: as in 2017b, but cell (0, 0) is blocked although it is drawn as open, and
    player 2 starts there.
    """

    first_cell = None
    second_player = 0


class NaiveOldest:
    """The two-dimensional board, whose cells hold 1 and 2; moves are not shuffled."""

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        self.width, self.height, self.move_count = width, height, 0
        self.players = [player_1, player_2]
        self.state = [[0] * width for _ in range(height)]
        self.cells: list[tuple[int, int] | None] = [None, None]

    @property
    def active_player(self) -> Any:
        return self.players[self.move_count % 2]

    @property
    def inactive_player(self) -> Any:
        return self.players[1 - self.move_count % 2]

    def get_opponent(self, player: Any) -> Any:
        return self.players[1 - self.players.index(player)]

    def get_player_location(self, player: Any) -> tuple[int, int] | None:
        return self.cells[self.players.index(player)]

    def get_blank_spaces(self) -> list[tuple[int, int]]:
        cells = [(r, c) for c in range(self.width) for r in range(self.height)]
        return [(r, c) for r, c in cells if self.state[r][c] == 0]

    def get_legal_moves(self, player: Any = None) -> list[tuple[int, int]]:
        cell = self.get_player_location(self.active_player if player is None else player)
        blank = self.get_blank_spaces()
        if cell is None:
            return blank
        return [(cell[0] + r, cell[1] + c) for r, c in STEPS if (cell[0] + r, cell[1] + c) in blank]

    def apply_move(self, move: tuple[int, int]) -> None:
        self.state[move[0]][move[1]] = self.move_count % 2 + 1
        self.cells[self.move_count % 2] = move
        self.move_count += 1

    forecast_move = Naive2017b.forecast_move
    is_winner = Naive2017b.is_winner
    is_loser = Naive2017b.is_loser
    utility = Naive2017b.utility

    @property
    def player_1(self) -> Any:
        return self.players[0]

    @property
    def player_2(self) -> Any:
        return self.players[1]


class NaiveSuccessor:
    """A set of open (x, y) cells on 11 columns and 9 rows; a cell's number is x + 13·y."""

    STEPS = ((-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1), (2, 1), (1, 2))
    """The knight's steps in the order of the original's offsets: 25 11 −15 −27 −25 −11 15 27."""

    def __init__(self) -> None:
        self.open = {(x, y) for x in range(11) for y in range(9)}
        self.cells: list[tuple[int, int] | None] = [None, None]
        self.plies = 0

    @staticmethod
    def number(cell: tuple[int, int]) -> int:
        return cell[0] + 13 * cell[1]

    def around(self, cell: tuple[int, int] | None) -> list[tuple[int, int]]:
        if cell is None:
            return sorted(self.open, key=self.number)
        near = [(cell[0] + x, cell[1] + y) for x, y in self.STEPS]
        return [one for one in near if one in self.open]

    def actions(self) -> list[int]:
        cell = self.cells[self.plies % 2]
        start = 0 if cell is None else self.number(cell)
        return [self.number(target) - start for target in self.around(cell)]

    def play(self, action: int) -> None:
        cell = self.cells[self.plies % 2]
        number = action if cell is None else self.number(cell) + action
        target = (number % 13, number // 13)
        self.open.remove(target)
        self.cells[self.plies % 2] = target
        self.plies += 1

    def stuck(self, player: int) -> bool:
        """Return whether a player has no liberty other than cell 0, a bug of the original."""
        return set(self.around(self.cells[player])) <= {(0, 0)}
