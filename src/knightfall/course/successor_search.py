"""Searches of ours on the successor's 11×9 board, in plain Python: compiled ones have 64 cells."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Any

from knightfall.course.successor import _HEIGHT, _ROW, _WIDTH, Isolation

SURE = 1000.0
"""What a win is worth less the plies that it takes, so that the shortest is the best."""

MIDDLE = (_WIDTH - 1) / 2, (_HEIGHT - 1) / 2

Score = Callable[[Isolation, int], float]


def _open(state: Isolation, me: int) -> float:
    return len(state.liberties(state.locs[me]))


def _improved(state: Isolation, me: int) -> float:
    return _open(state, me) - _open(state, 1 - me)


def _center(state: Isolation, me: int) -> float:
    """Squared distance from the middle: far scores high, as the course has it."""
    row, column = divmod(state.locs[me] or 0, _ROW)
    return (column - MIDDLE[0]) ** 2 + (row - MIDDLE[1]) ** 2


SCORES: dict[str, Score] = {
    "null": lambda state, me: 0.0,
    "open": _open,
    "improved": _improved,
    "center": _center,
}
"""What these searches can judge a position by."""


class _Late(Exception):
    """The budget is spent."""


class Search:
    """Alpha-beta to a depth, or deeper and deeper until some seconds or nodes are spent.

    Without `prunes` it is plain minimax, which finds the same values.
    """

    def __init__(
        self,
        score: Score,
        depth: int | None = None,
        seconds: float | None = None,
        most_nodes: int | None = None,
        *,
        prunes: bool = True,
    ) -> None:
        self._score, self._depth, self._seconds = score, depth, seconds
        self._prunes = prunes
        self._most_nodes = inf if most_nodes is None else most_nodes
        self._until = inf
        self.nodes = 0

    def action(self, state: Isolation) -> Any:
        """The first of the best actions."""
        self.nodes, self._until = 0, inf
        if self._depth is not None and self._most_nodes == inf:
            return self._best(state, self._depth, state.actions())[1]
        if self._seconds is not None:
            self._until = perf_counter() + self._seconds
        order = state.actions()
        best = order[0]
        try:
            for depth in range(1, 1 + (self._depth or _WIDTH * _HEIGHT)):
                value, best = self._best(state, depth, order)
                if abs(value) > SURE / 2:
                    break
                order.sort(key=lambda action: action != best)
        except _Late:
            pass
        return best

    def _best(self, state: Isolation, depth: int, order: list[Any]) -> tuple[float, Any]:
        best, choice = -inf, order[0]
        for action in order:
            value = -self._value(state.result(action), depth - 1, -inf, -best)
            if value > best:
                best, choice = value, action
        return best, choice

    def _value(self, state: Isolation, depth: int, alpha: float, beta: float) -> float:
        """What a position is worth to the player to move."""
        self.nodes += 1
        if self.nodes > self._most_nodes or perf_counter() > self._until:
            raise _Late
        me = state.player()
        if state.terminal_test():
            return (SURE - state.ply_count) * (1 if state.utility(me) > 0 else -1)
        if depth <= 0:
            return self._score(state, me)
        best = -inf
        for action in state.actions():
            best = max(best, -self._value(state.result(action), depth - 1, -beta, -alpha))
            if self._prunes:
                alpha = max(alpha, best)
                if alpha >= beta:
                    break
        return best
