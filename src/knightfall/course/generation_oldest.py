"""The course's first board (before 19 February 2017), name by name.

Rows of cells that hold the number of the player who was there, dictionaries from players (who
must be hashable, therefore) to their cells and numbers, and moves that are never shuffled.  Names
with underscores on both sides are those that students' code knows.
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
from knightfall.course.generations import BoardSource, Evidence, Strength

TIME_LIMIT_MILLIS = 200


class Board:
    """A position of two players; `__board_state__[row][column]` is 0 where nobody has been."""

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
        self.__player_symbols__ = {0: 0, player_1: 1, player_2: 2}  # and that of a blank cell

    # -- players -------------------------------------------------------------------------------

    @property
    def active_player(self) -> Any:
        """Whose turn it is."""
        return self.__active_player__

    @property
    def inactive_player(self) -> Any:
        """Whose turn it is not."""
        return self.__inactive_player__

    def get_opponent(self, player: Any) -> Any:
        """The other player; RuntimeError for somebody who does not play here."""
        if player == self.__active_player__:
            return self.__inactive_player__
        if player == self.__inactive_player__:
            return self.__active_player__
        raise RuntimeError(f"{player!r} is not a player of this game")

    def get_player_location(self, player: Any) -> Cell | None:
        """The cell of a player as it was given, None before; KeyError for a stranger."""
        location: Cell | None = self.__last_player_move__[player]
        return location

    # -- moves ---------------------------------------------------------------------------------

    def get_legal_moves(self, player: Any = None) -> list[Cell]:
        """Where a player (the active one by default) may go, always in the same order."""
        if player is None:
            player = self.active_player
        return self.__get_moves__(self.__last_player_move__[player])

    def __get_moves__(self, loc: Cell | None) -> list[Cell]:
        """Where a knight on that cell may go; every open cell if it is not placed."""
        if loc is None:
            return self.get_blank_spaces()
        row, column = loc
        cells = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        if type(self) is not Board:  # which may judge for itself
            return [cell for cell in cells if self.move_is_legal(cell)]
        rows, height, width = self.__board_state__, self.height, self.width
        return [(y, x) for y, x in cells if 0 <= y < height and 0 <= x < width and rows[y][x] == 0]

    _Board__get_moves = __get_moves__

    def get_blank_spaces(self) -> list[Cell]:
        """The open cells, column by column."""
        rows = self.__board_state__
        cells = cells_by_column(self.width, self.height)
        return [(row, column) for row, column in cells if rows[row][column] == 0]

    def move_is_legal(self, move: Cell) -> bool:
        """Whether a cell is on the board and open, however far from any knight."""
        row, column = move
        return (
            0 <= row < self.height
            and 0 <= column < self.width
            and self.__board_state__[row][column] == 0
        )

    def apply_move(self, move: Cell) -> None:
        """Move the active player here and now, legal or not."""
        row, column = move
        mover = self.__active_player__
        self.__last_player_move__[self.active_player] = move
        self.__board_state__[row][column] = self.__player_symbols__[self.active_player]
        self.__active_player__ = self.__inactive_player__
        self.__inactive_player__ = mover
        self.move_count += 1

    def forecast_move(self, move: Cell) -> Board:
        """A copy on which the active player has moved."""
        board = self.copy()
        board.apply_move(move)
        return board

    def copy(self) -> Board:
        """A board that can be changed without changing this one.

        It is a plain one, also of a derived class; what somebody has hung on it stays behind.
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

    # -- ends ----------------------------------------------------------------------------------

    def is_loser(self, player: object) -> bool:
        """Whether the player is to move and cannot."""
        return player == self.active_player and not self.get_legal_moves(self.active_player)

    def is_winner(self, player: object) -> bool:
        """Whether the opponent is to move and cannot."""
        return player == self.inactive_player and not self.get_legal_moves(self.active_player)

    def utility(self, player: Any) -> float:
        """−inf for the loser and inf for the winner, 0.0 while the active player can move."""
        if not self.get_legal_moves(self.active_player):
            if player == self.inactive_player:
                return float("inf")
            if player == self.active_player:
                return float("-inf")
        return 0.0

    def play(self, time_limit: float = TIME_LIMIT_MILLIS) -> tuple[Any, list[list[Any]], Reason]:
        """Play to the end on this board: the winner, the answers, the reason.

        The history has a list for each answer of player 1, with player 2's to it, and it has the
        answer that lost as well.  Whatever is no legal move is an "illegal move"; nobody forfeits.
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
        """A picture: the players by their numbers, `-` where somebody was."""
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
        """The same; it prints nothing."""
        return self.to_string()


# -- the generation ----------------------------------------------------------------------------

PRIVATE = {
    "__board_state__", "__last_player_move__", "__player_symbols__", "__active_player__",
    "__inactive_player__", "__player_1__", "__player_2__",
}  # fmt: skip
"""Names that only this board has."""


class OldestGeneration(GenerationBefore2017b):
    """See `Generation`."""

    name = "oldest"
    board = Board
    shuffles = False
    no_move = "illegal move"

    def signs(self, found: Evidence) -> Iterator[tuple[Strength, str]]:
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
