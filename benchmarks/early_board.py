"""The course's first board in plain Python, as its early students had it.

It has the methods of `CourseBoard` but another representation: a list of rows, whose cells hold the
number of the player that visited them, and dictionaries from players (which must be hashable) to
cells and numbers. Each forecast copies all of it deeply, which is slow. Moves come in a fixed
order, never shuffled.

Names with double underscores on both sides are those that the students' code used.
"""

from __future__ import annotations

from copy import deepcopy

from .course_board import KNIGHT_STEPS, Cell


class EarlyBoard:
    """A position: rows of cells, 0 if not visited, else the number of the player, 1 or 2."""

    BLANK = 0
    NOT_MOVED = (-1, -1)

    def __init__(self, player_1: object, player_2: object, width: int = 7, height: int = 7) -> None:
        self.width = width
        self.height = height
        self.move_count = 0
        self.__player_1__ = player_1
        self.__player_2__ = player_2
        self.__active_player__ = player_1
        self.__inactive_player__ = player_2
        self.__board_state__ = [[self.BLANK for _ in range(width)] for _ in range(height)]
        self.__last_player_move__ = {player_1: self.NOT_MOVED, player_2: self.NOT_MOVED}
        self.__player_symbols__ = {player_1: 1, player_2: 2}

    @property
    def active_player(self) -> object:
        """Return the player to move."""
        return self.__active_player__

    @property
    def inactive_player(self) -> object:
        """Return the player who is not to move."""
        return self.__inactive_player__

    def get_opponent(self, player: object) -> object:
        """Return the other player."""
        if player == self.__active_player__:
            return self.__inactive_player__
        return self.__active_player__

    def copy(self) -> EarlyBoard:
        """Return an independent copy."""
        twin = type(self)(self.__player_1__, self.__player_2__, self.width, self.height)
        twin.move_count = self.move_count
        twin.__active_player__ = self.__active_player__
        twin.__inactive_player__ = self.__inactive_player__
        twin.__last_player_move__ = self.__last_player_move__.copy()
        twin.__player_symbols__ = self.__player_symbols__.copy()
        twin.__board_state__ = deepcopy(self.__board_state__)
        return twin

    def forecast_move(self, move: Cell) -> EarlyBoard:
        """Return a new board on which the active player has moved."""
        board = self.copy()
        board.apply_move(move)
        return board

    def apply_move(self, move: Cell) -> None:
        """Move the active player on this board."""
        row, column = move
        self.__last_player_move__[self.__active_player__] = move
        self.__board_state__[row][column] = self.__player_symbols__[self.__active_player__]
        self.turn_to(self.__inactive_player__)
        self.move_count += 1

    def turn_to(self, player: object) -> None:
        """Make a player the one to move."""
        if player != self.__active_player__:
            self.__active_player__, self.__inactive_player__ = (
                self.__inactive_player__,
                self.__active_player__,
            )

    def lay_out(self, blank: set[Cell], first: Cell, second: Cell) -> None:
        """Set up a position: the open cells and the two players' cells."""
        for row in range(self.height):
            for column in range(self.width):
                self.__board_state__[row][column] = int((row, column) not in blank)
        self.__board_state__[second[0]][second[1]] = 2
        self.__last_player_move__ = {self.__player_1__: first, self.__player_2__: second}

    def move_is_legal(self, move: Cell) -> bool:
        """Return whether a cell is on the board and open."""
        row, column = move
        return (
            0 <= row < self.height
            and 0 <= column < self.width
            and self.__board_state__[row][column] == self.BLANK
        )

    def get_blank_spaces(self) -> list[Cell]:
        """Return the open cells, column by column."""
        return [
            (row, column)
            for column in range(self.width)
            for row in range(self.height)
            if self.__board_state__[row][column] == self.BLANK
        ]

    def get_player_location(self, player: object) -> Cell:
        """Return a player's cell."""
        return self.__last_player_move__[player]

    def get_legal_moves(self, player: object = None) -> list[Cell]:
        """Return the open cells a knight's move from a player (the active one by default)."""
        return self.__get_moves__(
            self.__last_player_move__[self.active_player if player is None else player]
        )

    def __get_moves__(self, cell: Cell) -> list[Cell]:
        if cell == self.NOT_MOVED:
            return self.get_blank_spaces()
        row, column = cell
        targets = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        return [target for target in targets if self.move_is_legal(target)]

    moves_from = __get_moves__

    def is_winner(self, player: object) -> bool:
        """Return whether the opponent is to move and cannot."""
        return player == self.inactive_player and not self.get_legal_moves(self.active_player)

    def is_loser(self, player: object) -> bool:
        """Return whether the player is to move and cannot."""
        return player == self.active_player and not self.get_legal_moves(self.active_player)
