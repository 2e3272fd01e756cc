"""A student's score asked as our heuristics are, on the course's own board.

A position does not tell who went first: the side to move is player 1 if an even number of cells
is gone, as it would be in a game from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any

from knightfall.course import board_2017a, board_2017b, board_oldest
from knightfall.course.board_2017b import OUR_OWN
from knightfall.course.knights import KNIGHT_STEPS, Cell
from knightfall.course.laid_out import lay_out
from knightfall.course.sample_players_2017b import RandomPlayer
from knightfall.course.score_player import ScorePlayer

BOARDS: dict[str, type[Any]] = {
    "2017b": board_2017b.Board,
    "2017a": board_2017a.Board,
    "early": board_2017a.EarlyBoard,
}
"""The flat boards by their generation."""


@cache
def in_order(generation: str) -> type[Any]:
    """A flat board that does not shuffle: a heuristic gives a position one value, always."""
    kind = BOARDS[generation]

    def moves(self: Any, loc: Cell | None) -> list[Cell]:
        if loc is None:
            return self.get_blank_spaces()  # type: ignore[no-any-return]
        row, column = loc
        cells = ((row + down, column + right) for down, right in KNIGHT_STEPS)
        return [cell for cell in cells if self.move_is_legal(cell)]

    class Board(kind):  # type: ignore[misc, valid-type]
        """As it is, but moves come in the order in which they are tried."""

        def get_legal_moves(self, player: Any = None) -> list[Cell]:
            if player is None:
                player = self._active_player
            return moves(self, self.get_player_location(player))

        __get_moves__ = _Board__get_moves = moves

    OUR_OWN.add(Board)  # which has no `copy` of its own
    return Board


def as_heuristic(
    score: Callable[[Any, Any], float], generation: str
) -> Callable[[Any, int, int, int, int], float]:
    """The function of five arguments that asks a score of a game and a player."""
    player, opponent = ScorePlayer(score), RandomPlayer()
    kind: type[Any] = board_oldest.Board if generation == "oldest" else in_order(generation)

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
