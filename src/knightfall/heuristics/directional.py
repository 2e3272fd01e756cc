"""Heuristics of the study that weighs mobility by place: a move in the centre counts as much as
four in a corner.

The weight of a cell falls from 1 in the centre to ¼ in the corners::

    ω(r,c) = (1 − ½·|r − (H−1)/2| / ((H−1)/2)) · (1 − ½·|c − (W−1)/2| / ((W−1)/2))
           = (2(H−1) − |2r − (H−1)|) · (2(W−1) − |2c − (W−1)|)  /  (4·(H−1)·(W−1))

The second line is how it is computed: whole numbers first and one division at the end.  A sum of
fractions would be rounded differently in a mirrored position, where the cells come in another
order; a sum of whole numbers is not rounded at all.
"""

from __future__ import annotations

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, mobility, moves

_u64, _i64 = types.uint64, types.int64


@compiled(_i64(GEOMETRY, _i64))
def weight(board: Geometry, cell: int) -> int:
    """Return the weight ω of a cell times `parts`, which makes it a whole number."""
    high, wide = board.height - 1, board.width - 1
    down = 2 * high - abs(2 * board.row[cell] - high)
    across = 2 * wide - abs(2 * board.column[cell] - wide)
    return down * across  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY))
def parts(board: Geometry) -> int:
    """Return the common denominator of the weights of all cells."""
    return 4 * (board.height - 1) * (board.width - 1)  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, _u64, _i64))
def _weighted(board: Geometry, open: Bits, cell: int) -> int:
    """Return a knight's mobility times the weight of its cell times `parts`."""
    return mobility(board, open, cell) * weight(board, cell)


@compiled(_i64(GEOMETRY, _u64))
def total_weight(board: Geometry, cells: Bits) -> int:
    """Return the sum of the weights of a set of cells, times `parts`."""
    total = 0
    while cells != _u64(0):
        total += weight(board, first(cells))
        cells = rest(cells)
    return total


@published
def weighted_mobility(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility, weighted by how central the knight stands."""
    return _weighted(board, open, me) / parts(board)


@published
def weighted_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility difference, each side weighted by how central its knight stands."""
    return (_weighted(board, open, me) - _weighted(board, open, opp)) / parts(board)


@published
def weighted_moves(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility difference, each move weighted by how central its target cell is."""
    mine, theirs = moves(board, open, me), moves(board, open, opp)
    return (total_weight(board, mine) - total_weight(board, theirs)) / parts(board)
