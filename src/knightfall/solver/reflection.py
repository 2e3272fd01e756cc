"""Reflection: the side not to move wins a position that is symmetric about the board's centre.

If the knights stand opposite each other, the open cells are symmetric about the centre and the
centre itself is not open, that side (the waiter) answers each move with its point reflection.  That
cell is open (it was, by symmetry, and the mover did not just take it: only the centre is its own
image), and it is a knight's move away.  So it is the mover who runs out of moves.

With both knights still to be placed the same holds, the first answer being a placement: from the
empty board with an even side the second player wins.

Point reflection takes cell i of a board of c cells to cell c − 1 − i.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry
from knightfall.position import Position, other

_u64, _i64 = types.uint64, types.int64


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64))
def mirrored(board: Geometry, open: Bits, mover: int, waiter: int) -> bool:
    """Return whether the mover loses by reflection."""
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


def loses_by_reflection(position: Position) -> bool:
    """Return whether the side to move loses by reflection: `mirrored` in plain Python.

    Both knights may still have to be placed.
    """
    last = position.board.cells - 1
    white, black = position.white, position.black
    if white is None or black is None:
        if white is not black:
            return False
    elif white + black != last:
        return False
    return all(2 * cell != last and last - cell in position.open for cell in position.open)


def mirror_move(position: Position) -> str | None:
    """Return the move after which the opponent loses by reflection; None if there is none.

    Only the image of the opponent's cell can be such a move.
    """
    theirs = position.knight(other(position.to_move))
    if theirs is None:
        return None
    image = position.board.cells - 1 - theirs
    if image not in position.targets(position.to_move):
        return None
    move = position.board.name(image)
    return move if loses_by_reflection(position.play(move)) else None
