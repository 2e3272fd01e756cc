"""Course boards set up from a `Position`, for a player in a game or for a score function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from typing import Any

from knightfall.course.board_common import KNIGHT_STEPS, Cell, cells_by_column
from knightfall.course.generation_2017b import OUR_OWN, RandomPlayer
from knightfall.course.generations import Generation
from knightfall.course.scores import ScorePlayer
from knightfall.position import Position, Side

Knights = tuple[int | None, int | None]
"""The cells of player 1 and player 2 as `knightfall.board` numbers them; None if not placed."""


def lay_out(
    game: Any, open: int, knights: Knights, turn: tuple[Any, Any], owners: Mapping[int, int] = {}
) -> None:
    """Set up a position on a fresh course board, in place.

    `open` has a bit for each open cell; `turn` is (player to move, other player).  `owners` maps
    visited cells to 1 or 2, the player who visited them: the oldest board stores that.  Cells
    missing in `owners` count as player 1's.
    """
    game.move_count = game.width * game.height - open.bit_count()
    if hasattr(game, "__board_state__"):
        _oldest(game, open, knights, owners)
        game.__active_player__, game.__inactive_player__ = turn
    else:
        _flat(game, open, knights, int(turn[0] is not game._player_1))
        game._active_player, game._inactive_player = turn


def _flat(game: Any, open: int, knights: Knights, initiative: int) -> None:
    """Write `_board_state`: the cells by column, the player to move, player 2's and 1's cells."""
    width, height = game.width, game.height
    state: list[Any] = [
        1 - (open >> row * width + column & 1) for row, column in cells_by_column(width, height)
    ]
    first, second = (None if c is None else c // width + c % width * height for c in knights)
    game._board_state = [*state, initiative, second, first]


def _oldest(game: Any, open: int, knights: Knights, owners: Mapping[int, int]) -> None:
    width = game.width
    for row, column in cells_by_column(width, game.height):
        cell = row * width + column
        if not open >> cell & 1:
            game.__board_state__[row][column] = owners.get(cell, 1)
    for player, at in zip((game.__player_1__, game.__player_2__), knights, strict=True):
        if at is not None:
            game.__last_player_move__[player] = at // width, at % width


# -- boards for a player -----------------------------------------------------------------------


class SeatBoard:
    """Creates the course boards for a player's moves in a game; tracks who visited which cell.

    Visits are known only from the positions that were passed to `board`.
    """

    def __init__(self, player: Any, side: Side) -> None:
        opponent = importlib.import_module("sample_players").RandomPlayer()
        self._players = (player, opponent) if side == "w" else (opponent, player)
        self._kind = importlib.import_module("isolation").Board
        self._owners: dict[int, int] = {}

    def board(self, position: Position) -> Any:
        """Return the course board of a position, for the player to move."""
        board = self._kind(*self._players, position.board.width, position.board.height)
        knights = position.white, position.black
        for number, cell in enumerate(knights, start=1):
            if cell is not None:
                self._owners.setdefault(cell, number)  # visited by the knight on it
        turn = self._players if position.to_move == "w" else self._players[::-1]
        lay_out(board, sum(1 << cell for cell in position.open), knights, turn, self._owners)
        return board


# -- boards for a score ------------------------------------------------------------------------


@cache
def in_order(kind: Any) -> type[Any]:
    """Return a subclass of a flat board whose moves are not shuffled, so that scores repeat."""

    def moves(self: Any, loc: Cell | None) -> list[Cell]:
        if loc is None:
            return self.get_blank_spaces()  # type: ignore[no-any-return]
        row, column = loc
        cells = ((row + down, column + right) for down, right in KNIGHT_STEPS)
        return [cell for cell in cells if self.move_is_legal(cell)]

    class Board(kind):  # type: ignore[misc]
        """The course's board with moves in the fixed order in which they are generated."""

        def get_legal_moves(self, player: Any = None) -> list[Cell]:
            if player is None:
                player = self._active_player
            return moves(self, self.get_player_location(player))

        __get_moves__ = _Board__get_moves = moves

    OUR_OWN.add(Board)  # it does not override `copy`
    return Board


def as_heuristic(
    score: Callable[[Any, Any], float], generation: Generation
) -> Callable[[Any, int, int, int, int], float]:
    """Wrap a student's score(game, player) as a heuristic (board, open, me, opp, to_move)."""
    player, opponent = ScorePlayer(score), RandomPlayer()
    kind = in_order(generation.board) if generation.shuffles else generation.board

    def asked(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        width, height, open = int(board.width), int(board.height), int(open)
        gone = width * height - open.bit_count()
        mine = bool(to_move == me)
        first = mine == (gone % 2 == 0)  # whether `me` is player 1
        players = (player, opponent) if first else (opponent, player)
        game = kind(*players, width, height)
        knights = (me, opp) if first else (opp, me)
        turn = (player, opponent) if mine else (opponent, player)
        lay_out(game, open, knights, turn, {knights[1]: 2})
        return score(game, player)

    return update_wrapper(asked, score)
