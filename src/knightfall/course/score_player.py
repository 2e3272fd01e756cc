"""A student's score alone, in a search of ours: plain alpha-beta that deepens until time is short.

It asks for the time left at each node, as the course's own players do, and never resigns: where
every line is lost it takes one that lasts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course.knights import Cell

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
