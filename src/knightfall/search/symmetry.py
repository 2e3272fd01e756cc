"""Symmetry, where it pays: openings that are mirror images are searched once.

With both knights placed and no move made, 7×7 has 2,352 openings in 315 classes.  Later in a
game mirror images hardly ever meet, and looking for them would cost more than it saves.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, POCKET
from knightfall.kernel.rules import Geometry

_u64, _i64 = types.uint64, types.int64


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64))
def is_opening(board: Geometry, open: Bits, mover: int, waiter: int) -> bool:
    """Whether every cell is open but those the knights stand on."""
    filled = open
    if mover != POCKET:
        filled |= _u64(1) << _u64(mover)
    if waiter != POCKET:
        filled |= _u64(1) << _u64(waiter)
    return filled == board.every  # type: ignore[no-any-return]


@compiled(types.UniTuple(_i64, 2)(GEOMETRY, _i64, _i64))
def representative(board: Geometry, mover: int, waiter: int) -> tuple[int, int]:
    """The cells of the first opening of the same class."""
    best = mover * 128 + waiter
    for number in range(1, board.symmetries):
        image = board.symmetry[number, mover] * 128 + board.symmetry[number, waiter]
        best = min(best, image)
    return best // 128, best % 128
