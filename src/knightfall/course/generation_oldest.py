"""Generation "oldest": the course's first board (before 19 February 2017).

The board is a list of rows; a cell holds the number of the player who visited it.  Dictionaries map
players, which must be hashable, to their cells and numbers.  Moves are never shuffled.  Students'
code uses the names with underscores on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knightfall.course.board_common import (
    KNIGHT_STEPS,
    Cell,
    Reason,
    answers,
    cells_by_column,
    draw_cells,
)
from knightfall.course.generation_2017a import GenerationBefore2017b, ask_with_moves, uses_get_moves
from knightfall.course.generations import BoardSource, GenerationEvidence, Strength

TIME_LIMIT_MILLIS = 200


class Board:
    """A position with two players; `__board_state__[row][column]` is 0 for an open cell."""

    BLANK = 0
    NOT_MOVED = None

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        self.width = width
        self.height = height
        self.move_count = 0
        self.__player_1__ = player_1
        self.__player_2__ = player_2
        self.__active_player__ = player_1
        self.__inactive_player__ = player_2
        self.__board_state__ = [[0] * width for _ in range(height)]
        self.__last_player_move__: dict[Any, Any] = {player_1: None, player_2: None}
        self.__player_symbols__ = {0: 0, player_1: 1, player_2: 2}  # 0: a blank cell

    # -- players -------------------------------------------------------------------------------

    @property
    def active_player(self) -> Any:
        """Return the player to move."""
        return self.__active_player__

    @property
    def inactive_player(self) -> Any:
        """Return the player who is not to move."""
        return self.__inactive_player__

    def get_opponent(self, player: Any) -> Any:
        """Return the other player; raise RuntimeError if `player` is not in this game."""
        if player == self.__active_player__:
            return self.__inactive_player__
        if player == self.__inactive_player__:
            return self.__active_player__
        raise RuntimeError(f"{player!r} is not a player of this game")

    def get_player_location(self, player: Any) -> Cell | None:
        """Return a player's cell, None until it is placed; raise KeyError for an unknown player."""
        location: Cell | None = self.__last_player_move__[player]
        return location

    # -- moves ---------------------------------------------------------------------------------

    def get_legal_moves(self, player: Any = None) -> list[Cell]:
        """Return a player's legal moves (by default the active player's) in a fixed order."""
        if player is None:
            player = self.active_player
        return self.__get_moves__(self.__last_player_move__[player])

    def __get_moves__(self, loc: Cell | None) -> list[Cell]:
        """Return the moves of a knight on `loc`; every open cell if `loc` is None."""
        if loc is None:
            return self.get_blank_spaces()
        row, column = loc
        cells = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        if type(self) is not Board:  # a subclass may override `move_is_legal`
            return [cell for cell in cells if self.move_is_legal(cell)]
        rows, height, width = self.__board_state__, self.height, self.width
        return [(y, x) for y, x in cells if 0 <= y < height and 0 <= x < width and rows[y][x] == 0]

    _Board__get_moves = __get_moves__

    def get_blank_spaces(self) -> list[Cell]:
        """Return the open cells, column by column."""
        rows = self.__board_state__
        cells = cells_by_column(self.width, self.height)
        return [(row, column) for row, column in cells if rows[row][column] == 0]

    def move_is_legal(self, move: Cell) -> bool:
        """Return whether a cell is on the board and open; knight reach is not checked."""
        row, column = move
        return (
            0 <= row < self.height
            and 0 <= column < self.width
            and self.__board_state__[row][column] == 0
        )

    def apply_move(self, move: Cell) -> None:
        """Move the active player on this board, without checking legality."""
        row, column = move
        mover = self.__active_player__
        self.__last_player_move__[self.active_player] = move
        self.__board_state__[row][column] = self.__player_symbols__[self.active_player]
        self.__active_player__ = self.__inactive_player__
        self.__inactive_player__ = mover
        self.move_count += 1

    def forecast_move(self, move: Cell) -> Board:
        """Return a copy with the active player's move made."""
        board = self.copy()
        board.apply_move(move)
        return board

    def copy(self) -> Board:
        """Return an independent copy of this board.

        The copy of a subclass is a plain board, and attributes added by an agent are not copied.
        """
        board = object.__new__(Board)
        board.width = self.width
        board.height = self.height
        board.move_count = self.move_count
        board.__player_1__ = self.__player_1__
        board.__player_2__ = self.__player_2__
        board.__active_player__ = self.__active_player__
        board.__inactive_player__ = self.__inactive_player__
        board.__board_state__ = [row.copy() for row in self.__board_state__]
        board.__last_player_move__ = self.__last_player_move__.copy()
        board.__player_symbols__ = self.__player_symbols__.copy()
        return board

    # -- end of the game -----------------------------------------------------------------------

    def is_loser(self, player: object) -> bool:
        """Return whether the player is to move and has no legal move."""
        return player == self.active_player and not self.get_legal_moves(self.active_player)

    def is_winner(self, player: object) -> bool:
        """Return whether the player's opponent is to move and has no legal move."""
        return player == self.inactive_player and not self.get_legal_moves(self.active_player)

    def utility(self, player: Any) -> float:
        """Return −inf for the loser, inf for the winner, 0.0 while the active player can move."""
        if not self.get_legal_moves(self.active_player):
            if player == self.inactive_player:
                return float("inf")
            if player == self.active_player:
                return float("-inf")
        return 0.0

    def play(self, time_limit: float = TIME_LIMIT_MILLIS) -> tuple[Any, list[list[Any]], Reason]:
        """Play to the end on this board; return (winner, history, reason).

        The history is a list of [player 1's answer, player 2's reply], the losing answer included.
        The reason is "timeout" or "illegal move"; this board has no "forfeit".
        """
        history: list[list[Any]] = []
        asked = answers(self, time_limit, ask_with_moves)
        while True:
            answer, legal_moves, late = next(asked)
            if self.active_player == self.__player_1__ or not history:
                history.append([answer])
            else:
                history[-1].append(answer)
            if late:
                return self.__inactive_player__, history, "timeout"
            if answer not in legal_moves:
                return self.__inactive_player__, history, "illegal move"
            self.apply_move(answer)

    # -- pictures ------------------------------------------------------------------------------

    def to_string(self) -> str:
        """Return a text picture: the players' numbers, and `-` on visited cells."""
        players = (self.__player_1__, self.__player_2__)
        first, second = (self.__last_player_move__[player] for player in players)

        def symbol(row: int, column: int) -> str:
            if not self.__board_state__[row][column]:
                return " "
            if first and (first[0], first[1]) == (row, column):
                return "1"
            if second and (second[0], second[1]) == (row, column):
                return "2"
            return "-"

        return draw_cells(self.width, self.height, symbol)

    def print_board(self) -> str:
        """Return the same text as `to_string`; despite its name it prints nothing."""
        return self.to_string()


# -- the generation ----------------------------------------------------------------------------

PRIVATE = {
    "__board_state__", "__last_player_move__", "__player_symbols__", "__active_player__",
    "__inactive_player__", "__player_1__", "__player_2__",
}  # fmt: skip
"""Attribute names that only this board has."""


class OldestGeneration(GenerationBefore2017b):
    """See `Generation`."""

    name = "oldest"
    board = Board
    shuffles = False
    no_move = "illegal move"

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """See `Generation`."""
        yield from self.own_board(found)
        private = found.used & PRIVATE
        if found.board is None and private:
            yield Strength.PRIVATE_NAMES, f"it uses the first board's {min(private)}"
        if uses_get_moves(found):
            yield Strength.METHOD_NAMES, "it uses the first board's __get_moves__"

    def board_sign(self, source: BoardSource) -> str:
        """See `Generation`."""
        private = sorted(source.names & PRIVATE)
        if not private:
            return ""
        return f"keeps {'rows in __board_state__' if '__board_state__' in private else private[0]}"


GENERATION = OldestGeneration()
