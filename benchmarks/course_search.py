"""The search as a student of the course has it: plain Python, a new board for every move.

It searches the tree that the compiled search does, node for node, which is checked wherever the
two are timed against each other.
"""

from __future__ import annotations

import time
from math import inf

from knightfall.search.search_state import PROVEN, WIN

from .course_board import Cell, CourseBoard, Score, improved_score

DEEPEST = 64
PATIENCE = 1e9
"""Seconds to the deadline: it is looked at as a student's search does, and never comes."""


class OutOfNodes(Exception):
    """As the course's SearchTimeout, but counted."""


class CourseSearch:
    """Alpha-beta of one player, or minimax without `pruning`; the clock is read at every node.

    `nodes` counts as the compiled search counts.
    """

    def __init__(self, score: Score = improved_score, *, pruning: bool = True) -> None:
        self.score = score
        self.pruning = pruning
        self.nodes = 0

    def best(self, game: CourseBoard, order: list[Cell], depth: int) -> tuple[float, Cell]:
        """The root's value and move at a fixed depth, its moves tried in the given order."""
        self._begin(inf)
        return self._root(game, order, depth)

    def deepen(
        self, game: CourseBoard, order: list[Cell], nodes: float, *, whole: bool = False
    ) -> tuple[float, Cell]:
        """Depth 1, 2, 3, … until so many nodes are searched or all is proven.

        The value and the move are those of the last depth that was searched to its end; with
        `whole`, the one under way when the nodes run out is.
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
