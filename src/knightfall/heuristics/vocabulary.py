"""The functions for users' heuristics: those of the kernel, with their arguments checked.

A wrong argument, for example a set instead of a cell, raises an error with a line number instead of
reading from an arbitrary address.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel import bits, rules
from knightfall.kernel.bits import Bits
from knightfall.kernel.bits import count as count
from knightfall.kernel.bits import each as each
from knightfall.kernel.bits import rest as rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import cut_short as cut_short
from knightfall.kernel.interrupt import steps_left as steps_left
from knightfall.kernel.interrupt import time_left as time_left
from knightfall.kernel.rules import GEOMETRY, Geometry
from knightfall.kernel.rules import onward as onward
from knightfall.kernel.rules import spread as spread

_u64, _i64 = types.uint64, types.int64


@compiled(types.void(GEOMETRY, _i64))
def _check(board: Geometry, cell: int) -> None:
    """Raise IndexError if a cell is not on the board."""
    if cell < 0 or cell >= board.cells:
        raise IndexError("there is no such cell on this board")


@compiled(_u64(GEOMETRY, _u64, _i64))
def moves(board: Geometry, open: Bits, cell: int) -> Bits:
    """Return the open cells a knight's move from a cell."""
    _check(board, cell)
    return rules.moves(board, open, cell)


@compiled(_i64(GEOMETRY, _u64, _i64))
def mobility(board: Geometry, open: Bits, cell: int) -> int:
    """Return how many open cells are a knight's move from a cell."""
    _check(board, cell)
    return rules.mobility(board, open, cell)


@compiled(_i64(GEOMETRY, _u64, _i64))
def space(board: Geometry, open: Bits, cell: int) -> int:
    """Return how many of the up to eight cells that touch a cell are open."""
    _check(board, cell)
    return rules.space(board, open, cell)


@compiled(_u64(GEOMETRY, _u64, _i64))
def reach(board: Geometry, open: Bits, cell: int) -> Bits:
    """Return every open cell a knight could get to through open cells, if it were alone."""
    _check(board, cell)
    return rules.reach(board, open, cell)


@compiled(_i64(_u64))
def first(cells: Bits) -> int:
    """Return the first cell of a set, in board order.  Raise ValueError if the set is empty."""
    if cells == _u64(0):
        raise ValueError("an empty set has no first cell")
    return bits.first(cells)


@compiled(_u64(_i64))
def bit(cell: int) -> Bits:
    """Return the set of one cell."""
    if cell < 0 or cell > 63:
        raise IndexError("there is no such cell on any board")
    return bits.bit(cell)
