"""The words a user's heuristic is written in: the kernel's, with their arguments checked.

A wrong argument, such as a set where a cell belongs, is an error with a line number instead of a
read from somewhere in memory.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel import bits, rules
from knightfall.kernel.bits import Bits, count, each, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.interrupt import cut_short, steps_left, time_left
from knightfall.kernel.rules import Geometry, onward, spread

_u64, _i64 = types.uint64, types.int64


@compiled(types.void(GEOMETRY, _i64))
def _check(board: Geometry, cell: int) -> None:
    if cell < 0 or cell >= board.cells:
        raise IndexError("there is no such cell on this board")


@compiled(_u64(GEOMETRY, _u64, _i64))
def moves(board: Geometry, open: Bits, cell: int) -> Bits:
    """The open cells a knight's move from a cell."""
    _check(board, cell)
    return rules.moves(board, open, cell)


@compiled(_i64(GEOMETRY, _u64, _i64))
def mobility(board: Geometry, open: Bits, cell: int) -> int:
    """How many open cells are a knight's move from a cell."""
    _check(board, cell)
    return rules.mobility(board, open, cell)


@compiled(_i64(GEOMETRY, _u64, _i64))
def space(board: Geometry, open: Bits, cell: int) -> int:
    """How many of the up to eight cells that touch a cell are open."""
    _check(board, cell)
    return rules.space(board, open, cell)


@compiled(_u64(GEOMETRY, _u64, _i64))
def reach(board: Geometry, open: Bits, cell: int) -> Bits:
    """Every open cell a knight could get to through open cells, if it were alone."""
    _check(board, cell)
    return rules.reach(board, open, cell)


@compiled(_i64(_u64))
def first(cells: Bits) -> int:
    """The first cell of a set, in board order; an empty set has none, which is an error."""
    if cells == _u64(0):
        raise ValueError("an empty set has no first cell")
    return bits.first(cells)


@compiled(_u64(_i64))
def bit(cell: int) -> Bits:
    """The set that holds one cell."""
    if cell < 0 or cell > 63:
        raise IndexError("there is no such cell on any board")
    return bits.bit(cell)


__all__ = [
    "bit",
    "count",
    "cut_short",
    "each",
    "first",
    "mobility",
    "moves",
    "onward",
    "reach",
    "rest",
    "space",
    "spread",
    "steps_left",
    "time_left",
]
