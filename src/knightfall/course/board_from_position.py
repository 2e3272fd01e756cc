"""The course's boards laid out as a position is, for a player at its seat or a score alone."""

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
"""The cells of player 1 and player 2 as our boards number them; None before the placement."""


def lay_out(
    game: Any, open: int, knights: Knights, turn: tuple[Any, Any], owners: Mapping[int, int] = {}
) -> None:
    """Fill a fresh board: `open` has a bit for each open cell, `turn` is whoever is to move, then
    the other.  The first board tells whose cells were (`owners`; player 1's if nobody knows).
    """
    game.move_count = game.width * game.height - open.bit_count()
    if hasattr(game, "__board_state__"):
        _oldest(game, open, knights, owners)
        game.__active_player__, game.__inactive_player__ = turn
    else:
        _flat(game, open, knights, int(turn[0] is not game._player_1))
        game._active_player, game._inactive_player = turn


def _flat(game: Any, open: int, knights: Knights, initiative: int) -> None:
    """The cells column by column, who is to move, and player 2's cell first."""
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


# -- for a player ------------------------------------------------------------------------------


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


# -- for a score -------------------------------------------------------------------------------


@cache
def in_order(kind: Any) -> type[Any]:
    """A flat board that does not shuffle: a heuristic gives a position one value, always."""

    def moves(self: Any, loc: Cell | None) -> list[Cell]:
        if loc is None:
            return self.get_blank_spaces()  # type: ignore[no-any-return]
        row, column = loc
        cells = ((row + down, column + right) for down, right in KNIGHT_STEPS)
        return [cell for cell in cells if self.move_is_legal(cell)]

    class Board(kind):  # type: ignore[misc]
        """As it is, but moves come in the order in which they are tried."""

        def get_legal_moves(self, player: Any = None) -> list[Cell]:
            if player is None:
                player = self._active_player
            return moves(self, self.get_player_location(player))

        __get_moves__ = _Board__get_moves = moves

    OUR_OWN.add(Board)  # which has no `copy` of its own
    return Board


def as_heuristic(
    score: Callable[[Any, Any], float], generation: Generation
) -> Callable[[Any, int, int, int, int], float]:
    """The function of five arguments that asks a score of a game and a player."""
    player, opponent = ScorePlayer(score), RandomPlayer()
    kind = in_order(generation.board) if generation.shuffles else generation.board

    def asked(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        width, height, open = int(board.width), int(board.height), int(open)
        gone = width * height - open.bit_count()
        mine = bool(to_move == me)
        first = mine == (gone % 2 == 0)  # whether we are player 1
        players = (player, opponent) if first else (opponent, player)
        game = kind(*players, width, height)
        knights = (me, opp) if first else (opp, me)
        turn = (player, opponent) if mine else (opponent, player)
        lay_out(game, open, knights, turn, {knights[1]: 2})
        return score(game, player)

    return update_wrapper(asked, score)
