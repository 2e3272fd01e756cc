"""The fastest plain-Python search per node: no objects, no clock, no shuffling.

A position is a list of cells, copied on every move, and two numbers; knight moves are tabulated. No
student had this: it shows how much of the compiled search's lead comes from the course's slow
board.
"""

from __future__ import annotations

from knightfall.position import Position
from knightfall.search.search_state import WIN


class LeanSearch:
    """Fixed-depth alpha-beta with `improved`; `nodes` counts as the compiled search counts."""

    def __init__(self, position: Position) -> None:
        self.knight = [sorted(cells) for cells in position.board.knight]
        self.nodes = 0

    def best(self, position: Position, order: list[int], depth: int) -> tuple[float, int]:
        """Return the root's value and move, trying its moves in the given order."""
        self.nodes = 1
        open = [cell in position.open for cell in range(position.board.cells)]
        waiter = position.knight("b" if position.to_move == "w" else "w")
        assert waiter is not None
        alpha, chosen = -2.0 * WIN, order[0]
        for cell in order:
            after = open.copy()
            after[cell] = False
            value = -self._value(after, waiter, cell, depth - 1, 1, -2.0 * WIN, -alpha)
            if value > alpha:
                alpha, chosen = value, cell
        return alpha, chosen

    def _value(
        self,
        open: list[bool],
        mover: int,
        waiter: int,
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
    ) -> float:
        self.nodes += 1
        moves = [cell for cell in self.knight[mover] if open[cell]]
        if not moves:
            return ply - WIN
        if depth == 0:
            return float(len(moves) - sum([open[cell] for cell in self.knight[waiter]]))
        best = -2.0 * WIN
        for cell in moves:
            after = open.copy()
            after[cell] = False
            value = -self._value(after, waiter, cell, depth - 1, ply + 1, -beta, -alpha)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if alpha >= beta:
                        break
        return best
