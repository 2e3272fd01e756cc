"""Reflection: the waiter wins a position that is its own image in the board's centre.

If the knights stand opposite each other, the open cells are symmetric about the centre and the
centre itself is not open, the waiter answers each move with its point reflection.  That cell is
open (it was, by symmetry, and the mover did not just take it: only the centre is its own image),
and it is a knight's move away.  So it is the mover who runs out of moves.

Point reflection takes cell i of a board of c cells to cell c − 1 − i.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry

_u64, _i64 = types.uint64, types.int64


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64))
def mirrored(board: Geometry, open: Bits, mover: int, waiter: int) -> bool:
    """Whether the mover loses by reflection."""
    last = board.cells - 1
    if mover + waiter != last:
        return False
    left = open
    while left != _u64(0):
        cell = first(left)
        image = last - cell
        if cell == image or (open >> _u64(image)) & _u64(1) == _u64(0):
            return False
        left = rest(left)
    return True
