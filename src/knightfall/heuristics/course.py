"""The course's own evaluation functions, the baseline every study starts from."""

from __future__ import annotations

from knightfall.heuristics.c_signature import published
from knightfall.kernel.bits import Bits
from knightfall.kernel.rules import Geometry, mobility


@published
def null(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Always 0: a search sees only won and lost games."""
    return 0.0


@published
def open(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility."""
    return float(mobility(board, open, me))


@published
def center(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Squared distance from the centre: the course rewards being far from it."""
    down = board.row[me] - board.height / 2
    right = board.column[me] - board.width / 2
    return float(down * down + right * right)


@published
def improved(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less the opponent's."""
    return float(mobility(board, open, me) - mobility(board, open, opp))
