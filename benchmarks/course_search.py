"""A student's search in plain Python, with a new board for every move.

It searches the same tree as the compiled search, node for node; the benchmarks check this.
"""

from __future__ import annotations

import time
from math import inf

from knightfall.search.search_state import PROVEN, WIN

from .course_board import Cell, CourseBoard, Score, improved_score

DEEPEST = 64
PATIENCE = 1e9
"""Seconds to the deadline, which is checked as in a student's search but never reached."""


class OutOfNodes(Exception):
    """Raised when the node limit is reached; the counterpart of the course's SearchTimeout."""


class CourseSearch:
    """Alpha-beta of one player, or minimax without `pruning`; the clock is read at every node.

    `nodes` counts as the compiled search counts.
    """

    def __init__(self, score: Score = improved_score, *, pruning: bool = True) -> None:
        self.score = score
        self.pruning = pruning
        self.nodes = 0

    def best(self, game: CourseBoard, order: list[Cell], depth: int) -> tuple[float, Cell]:
        """Return the root's value and move at a fixed depth, trying its moves in the given
        order.
        """
        self._begin(inf)
        return self._root(game, order, depth)

    def deepen(
        self, game: CourseBoard, order: list[Cell], nodes: float, *, whole: bool = False
    ) -> tuple[float, Cell]:
        """Search depth 1, 2, 3, … until `nodes` nodes are searched or the result is proven.

        The value and the move are those of the last finished depth; with `whole`, the depth in
        progress when the nodes run out is finished.
        """
        self._begin(inf if whole else nodes)
        found = 0.0, order[0]
        try:
            for depth in range(1, DEEPEST + 1):
                deeper = self._root(game, order, depth)
                if self.nodes >= self.limit:
                    break
                found = deeper
                # An infinite value is a heuristic's opinion, not a proof.
                if self.nodes >= nodes or PROVEN <= abs(found[0]) <= WIN:
                    break
        except OutOfNodes:
            pass
        return found

    def _begin(self, limit: float) -> None:
        self.nodes = 0
        self.limit = limit
        self.deadline = time.perf_counter() + PATIENCE

    def _root(self, game: CourseBoard, order: list[Cell], depth: int) -> tuple[float, Cell]:
        self.nodes += 1
        best, chosen = -2.0 * WIN, order[0]
        for move in order:
            beta = -best if self.pruning else 2.0 * WIN
            value = -self._value(game.forecast_move(move), depth - 1, 1, -2.0 * WIN, beta)
            if value > best:
                best, chosen = value, move
        return best, chosen

    def _value(self, game: CourseBoard, depth: int, ply: int, alpha: float, beta: float) -> float:
        if time.perf_counter() > self.deadline:
            raise TimeoutError
        if self.nodes >= self.limit:
            raise OutOfNodes
        self.nodes += 1
        moves = game.get_legal_moves()
        if not moves:
            return ply - WIN
        if depth == 0:
            value = self.score(game, self)
            return value if game.active_player == self else -value
        best = -2.0 * WIN
        for move in moves:
            after = game.forecast_move(move)
            value = -self._value(after, depth - 1, ply + 1, -beta, -alpha)
            if value > best:
                best = value
                if self.pruning and value > alpha:
                    alpha = value
                    if alpha >= beta:
                        break
        return best
