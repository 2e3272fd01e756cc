"""The course's evaluation functions, and a player that searches with a score alone.

Each score begins by asking whether the game is over, the loser first: on a board that shuffles,
the order of these questions decides what is drawn from the random generator.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course.board_common import Cell


def null_score(game: Any, player: Any) -> float:
    """Knows nothing but won and lost."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return 0.0


def open_move_score(game: Any, player: Any) -> float:
    """Own mobility."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)))


def improved_score(game: Any, player: Any) -> float:
    """Own mobility less the opponent's."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)


def center_score(game: Any, player: Any) -> float:
    """Squared distance from (height/2, width/2): the course rewards being far from it."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height / 2.0 - row) ** 2 + (game.width / 2.0 - column) ** 2)


def center_score_until_april(game: Any, player: Any) -> float:
    """The same until 25 April 2017: measured from (height, width), which is (7, 7)."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height - row) ** 2 + (game.width - column) ** 2)


# -- a player with a score ---------------------------------------------------------------------


THRESHOLD = 10.0
"""Milliseconds that are left when it answers: the course's own number."""

DEEPEST = 100


class _OutOfTime(Exception):
    """No time to finish this depth."""


class ScorePlayer:
    """Asked as players of any generation are, with the list of legal moves or without."""

    def __init__(self, score: Callable[[Any, Any], float]) -> None:
        self.score = score
        self.time_left: Callable[[], float] = lambda: inf

    def get_move(self, game: Any, *more: Any) -> Cell:
        """The best move of the last depth that was searched to its end."""
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
                    break  # of lost lines, that of the depth before lasts longer
                best = move
                if value == inf:
                    break
                moves.sort(key=lambda each: each != best)
                depth += 1
        except _OutOfTime:
            pass
        return best

    def _best(self, game: Any, moves: list[Cell], depth: int) -> tuple[float, Cell]:
        value, best = -inf, moves[0]
        for move in moves:
            found = self._value(game.forecast_move(move), depth - 1, value, inf, mine=False)
            if found > value:
                value, best = found, move
        return value, best

    def _value(self, game: Any, depth: int, alpha: float, beta: float, *, mine: bool) -> float:
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
