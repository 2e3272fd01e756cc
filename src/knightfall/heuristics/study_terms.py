"""The terms of the five studies' heuristics, knight by knight, for the linear model to weigh.

What a study adds and subtracts, each part on its own::

    from centre      rows and columns to the true centre        near_center, near_edges
    straight         straight distance to it                    center_pull; its square: center
    corner moves     moves into a corner                        corner_averse
    ways on          moves that follow its moves, added up      lookahead_mobility
    central moves    its moves, each by how central it leads    weighted_moves
    weighted         its moves by how central it stands         weighted_mobility
    space            open cells that touch its own              open_space
    ring d           open cells d moves away on an empty board  static_reach
    its colour, other colour    open cells that it can reach, by colour

and of both together: rows and columns apart (near_opponent), whether they are separated, and
whether the number of open cells is odd.  Mobility, and the steps that bfs_reach adds up, are among
the other features.  (The course measures from a point half a cell off; from the true centre
mirror images are worth the same.)
"""

from __future__ import annotations

import math

from numba import types

from knightfall.heuristics.directional import parts, total_weight, weight
from knightfall.heuristics.reachability import apart, from_center
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, RINGS
from knightfall.kernel.rules import Geometry, onward, reach, space

_u64, _i64, _f32 = types.uint64, types.int64, types.float32

TERMS_OF_A_KNIGHT = (
    "from centre",
    "straight",
    "straight, squared",
    "corner moves",
    "ways on",
    "central moves",
    "weighted",
    "space",
    "ring 2",
    "ring 3",
    "ring 4 on",
    "its colour",
    "other colour",
)
TERMS_OF_BOTH = ("rows and columns apart", "separated", "odd")


@compiled(_u64(GEOMETRY, _u64, _i64, _u64))
def _of_a_knight(board: Geometry, open: Bits, cell: int, at: Bits) -> Bits:
    """Write a knight's terms from place `at` on; the cells that it can reach."""
    sheet, moves = board.sheet, open & board.knight[_u64(cell)]
    down = board.row[cell] - (board.height - 1) / 2
    across = board.column[cell] - (board.width - 1) / 2
    sheet[at] = _f32(from_center(board, cell))
    sheet[at + _u64(1)] = _f32(math.sqrt(down * down + across * across))
    sheet[at + _u64(2)] = _f32(down * down + across * across)
    sheet[at + _u64(3)] = _f32(count(moves & board.corners))
    sheet[at + _u64(4)] = _f32(onward(board, open, moves))
    sheet[at + _u64(5)] = _f32(total_weight(board, moves) / parts(board))
    sheet[at + _u64(6)] = _f32(count(moves) * weight(board, cell) / parts(board))
    sheet[at + _u64(7)] = _f32(space(board, open, cell))
    far = 0
    for distance in range(4, RINGS):
        far += count(open & board.ring[cell, distance])
    sheet[at + _u64(8)] = _f32(count(open & board.ring[cell, 2]))
    sheet[at + _u64(9)] = _f32(count(open & board.ring[cell, 3]))
    sheet[at + _u64(10)] = _f32(far)
    reached = reach(board, open, cell)
    dark = count(reached & board.dark)
    own = dark if (board.dark >> _u64(cell)) & _u64(1) != _u64(0) else count(reached) - dark
    sheet[at + _u64(11)] = _f32(own)
    sheet[at + _u64(12)] = _f32(count(reached) - own)
    return reached


@compiled(types.void(GEOMETRY, _u64, _i64, _i64, _u64))
def study_terms(board: Geometry, open: Bits, mover: int, waiter: int, at: Bits) -> None:
    """Write the terms of a position onto the board's sheet, from place `at` on."""
    mine = _of_a_knight(board, open, mover, at)
    theirs = _of_a_knight(board, open, waiter, at + _u64(len(TERMS_OF_A_KNIGHT)))
    both = at + _u64(2 * len(TERMS_OF_A_KNIGHT))
    board.sheet[both] = _f32(apart(board, mover, waiter))
    board.sheet[both + _u64(1)] = _f32(1 if mine & theirs == _u64(0) else 0)
    board.sheet[both + _u64(2)] = _f32(count(open) & 1)
