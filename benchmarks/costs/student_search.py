"""Alpha-beta as a student of the course writes it, and positions to time it on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from timeit import default_timer
from typing import Any

from knightfall.position import Position

from ..course_board import Cell, Score
from .positions import FENS

PATIENCE = 1e12
"""Milliseconds to the deadline: the clock is read as in a game, but never runs out."""


@dataclass
class Counts:
    """Counts of the steps that a student's search pays for."""

    forecasts: int = 0
    listings: int = 0
    listed: int = 0
    calls: int = 0
    scores: int = 0
    open: int = 0
    """Sum of the open cells over all evaluated positions."""
    moves: int = 0
    """Sum of both players' moves over all evaluated positions."""


class StudentSearch:
    """A student's alpha-beta search for one player; each call reads the clock, and leaves are
    calls, too.
    """

    TIMER_THRESHOLD = 10.0

    def __init__(self, score: Score) -> None:
        self.score = score
        begun = _milliseconds()
        self.time_left = lambda: PATIENCE - (_milliseconds() - begun)

    def value(
        self,
        game: Any,
        depth: int,
        alpha: float = -inf,
        beta: float = inf,
        maximizing_player: bool = True,
    ) -> float:
        """Return the value of a position for this player."""
        if self.time_left() < self.TIMER_THRESHOLD:
            raise TimeoutError
        if depth == 0:
            return self.score(game, self)
        moves = game.get_legal_moves()
        if not moves:
            return -inf if maximizing_player else inf
        if maximizing_player:
            best = -inf
            for move in moves:
                after = game.forecast_move(move)
                best = max(best, self.value(after, depth - 1, alpha, beta, False))
                if best >= beta:
                    return best
                alpha = max(alpha, best)
        else:
            best = inf
            for move in moves:
                after = game.forecast_move(move)
                best = min(best, self.value(after, depth - 1, alpha, beta, True))
                if best <= alpha:
                    return best
                beta = min(beta, best)
        return best

    def count(self, game: Any, depth: int) -> Counts:
        """Count the steps of a search to `depth`. Do not time anything after it.

        (The interpreter specialises code for the classes it meets, and here it meets another.)
        """
        counts = Counts()
        clock, score = self.time_left, self.score
        kind = type(game)

        class Counting(kind):  # type: ignore[misc, valid-type]
            def forecast_move(self, move: Cell) -> Any:
                counts.forecasts += not evaluating
                return super().forecast_move(move)

            def get_legal_moves(self, player: object = None) -> list[Cell]:
                moves: list[Cell] = super().get_legal_moves(player)
                if not evaluating:
                    counts.listings += 1
                    counts.listed += len(moves)
                return moves

        evaluating: list[object] = []

        def look() -> float:
            counts.calls += 1
            return clock()

        def judge(board: Any, player: object) -> float:
            counts.scores += 1
            counts.open += len(board.get_blank_spaces())
            evaluating.append(board)
            counts.moves += sum(
                len(board.get_legal_moves(one))
                for one in (board.active_player, board.inactive_player)
            )
            value = score(board, player)
            evaluating.pop()
            return value

        game.__class__ = Counting
        self.time_left, self.score = look, judge
        try:
            self.value(game, depth)
        finally:
            game.__class__ = kind
            self.time_left, self.score = clock, score
        return counts


def _milliseconds() -> float:
    return 1000 * default_timer()


class Paper:
    """A stub board that never changes, with four moves."""

    active_player, inactive_player = "one", "the other"
    MOVES: tuple[Cell, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))

    def get_legal_moves(self, player: object = None) -> tuple[Cell, ...]:
        """Return the same four moves."""
        return self.MOVES

    def forecast_move(self, move: Cell) -> Paper:
        """Return this board."""
        return self

    def get_blank_spaces(self) -> tuple[Cell, ...]:
        """Return no cells."""
        return ()

    def score(self, player: object) -> float:
        """Return 0."""
        return 0.0


DEEPER = (0, 3, 6, 9)
"""Plies from game positions to evaluated ones, because leaves lie deeper than roots."""


def _both_can_move(position: Position) -> bool:
    return bool(position.targets("w") and position.targets("b"))


def leaves(fens: Sequence[str] = FENS, deeper: Sequence[int] = DEEPER) -> list[Position]:
    """Return game positions and positions `deeper` plies below; both players can move in each."""
    draw = random.Random(1)
    found = []
    for fen in fens:
        for plies in deeper:
            position = Position.from_fen(fen)
            for _ in range(plies):
                following = [position.play(move) for move in position.legal_moves]
                following = [after for after in following if _both_can_move(after)]
                if not following:
                    break
                position = draw.choice(following)
            found.append(position)
    return list(dict.fromkeys(found))
