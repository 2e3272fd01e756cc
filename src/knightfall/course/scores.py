"""The course's score functions, and an alpha-beta player that uses a given score.

Each score first calls `is_loser`, then `is_winner`: on a board that shuffles, the order of these
calls decides which random numbers are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course.board_common import Cell


def null_score(game: Any, player: Any) -> float:
    """Return 0 unless the game is over (±inf)."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return 0.0


def open_move_score(game: Any, player: Any) -> float:
    """Return the number of own legal moves."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)))


def improved_score(game: Any, player: Any) -> float:
    """Return the number of own legal moves minus the opponent's."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)


def center_score(game: Any, player: Any) -> float:
    """Return the squared distance from (height/2, width/2); far from the centre scores high."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height / 2.0 - row) ** 2 + (game.width / 2.0 - column) ** 2)


def center_score_until_april(game: Any, player: Any) -> float:
    """Return `center_score` as it was until 25 April 2017: measured from (height, width)."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height - row) ** 2 + (game.width - column) ** 2)


# -- a player with a score ---------------------------------------------------------------------


THRESHOLD = 10.0
"""Milliseconds before the end at which the search stops, as in the course."""

DEEPEST = 100


class _OutOfTime(Exception):
    """Raised when the time runs out before a depth is finished."""


class ScorePlayer:
    """An iterative-deepening alpha-beta player with a given score, for every generation."""

    def __init__(self, score: Callable[[Any, Any], float]) -> None:
        self.score = score
        self.time_left: Callable[[], float] = lambda: inf

    def get_move(self, game: Any, *more: Any) -> Cell:
        """Return the best move of the last finished depth.

        `more` is (time_left,) or (legal_moves, time_left), depending on the generation.
        """
        self.time_left = more[-1]
        moves = game.get_legal_moves()
        if not moves:
            return (-1, -1)
        best: Cell = moves[0]
        depth = 1
        try:
            while depth <= min(DEEPEST, len(game.get_blank_spaces())):
                value, move = self._best(game, moves, depth)
                if value == -inf:
                    break  # all moves lose: the move of the depth before resists longer
                best = move
                if value == inf:
                    break
                moves.sort(key=lambda each: each != best)
                depth += 1
        except _OutOfTime:
            pass
        return best

    def _best(self, game: Any, moves: list[Cell], depth: int) -> tuple[float, Cell]:
        """Return the highest value and the first move that has it."""
        value, best = -inf, moves[0]
        for move in moves:
            found = self._value(game.forecast_move(move), depth - 1, value, inf, mine=False)
            if found > value:
                value, best = found, move
        return value, best

    def _value(self, game: Any, depth: int, alpha: float, beta: float, *, mine: bool) -> float:
        """Return the alpha-beta value for this player; `mine` is true if it is to move."""
        if self.time_left() < THRESHOLD:
            raise _OutOfTime
        moves = game.get_legal_moves()
        if not moves:
            return -inf if mine else inf
        if depth == 0:
            return self.score(game, self)
        value = -inf if mine else inf
        for move in moves:
            found = self._value(game.forecast_move(move), depth - 1, alpha, beta, mine=not mine)
            if mine:
                value = max(value, found)
                alpha = max(alpha, value)
            else:
                value = min(value, found)
                beta = min(beta, value)
            if alpha >= beta:
                break
        return value
