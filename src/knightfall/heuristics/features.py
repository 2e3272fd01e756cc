"""The features of the learned models: counts of cells.

There is one of each for the mover and for the waiter (the side not to move).  Most are sizes of
sets, computed with a few shifts of whole words.  For a knight::

    step d           open cells whose shortest path has d moves, if it were alone on the board
    farther          open cells that take more than six moves
    walk             upper bound of a walk through the cells that it can reach (colours alternate)
    exits k          cells of step 1 with k or more open cells a knight's move away
    nearer           open cells that it reaches first if both take shortest paths
    own walk         upper bound of a walk through these
    nearer exits k   cells of these with k or more open cells a knight's move away
    free, free 2     cells of step 1 (2) with two (three) exits that the other cannot take next

and for both together: how many cells are at step i for the mover and at step j for the waiter.
Then follow the terms of the studies.  The net has its own features, the counts of a race (below).
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from knightfall.heuristics.directional import parts, total_weight, weight
from knightfall.heuristics.reachability import from_center, knights_apart
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import (
    GEOMETRY,
    RINGS,
    Geometry,
    onward,
    path_bound,
    reach,
    space,
    spread,
)

_u64, _i64, _f32 = types.uint64, types.int64, types.float32

# -- the terms of the five studies' heuristics ---------------------------------------------
#
# The terms that the studies add and subtract, separately::
#
#     from centre      rows and columns to the true centre        near_center, near_edges
#     straight         Euclidean distance to it                   center_pull; its square: center
#     corner moves     moves into a corner                        corner_averse
#     ways on          sum of the mobilities of its moves         lookahead_mobility
#     central moves    its moves, each weighted by its target     weighted_moves
#     weighted         its moves, weighted by its own cell        weighted_mobility
#     space            open cells that touch its own              open_space
#     ring d           open cells d moves away on an empty board  static_reach
#     its colour, other colour    open cells that it can reach, by colour
#
# and for both together: rows and columns between them (near_opponent), whether they are separated,
# and whether the number of open cells is odd.  Mobility, and the steps that bfs_reach adds up, are
# among the other features.  (The course measures from a point half a cell off; measured from the
# true centre, mirror images have the same value.)

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
    """Write `TERMS_OF_A_KNIGHT` to `board.sheet` from index `at`; return the reachable cells."""
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
    """Write the terms of the studies' heuristics to `board.sheet`, from index `at` on."""
    mine = _of_a_knight(board, open, mover, at)
    theirs = _of_a_knight(board, open, waiter, at + _u64(len(TERMS_OF_A_KNIGHT)))
    both = at + _u64(2 * len(TERMS_OF_A_KNIGHT))
    board.sheet[both] = _f32(knights_apart(board, mover, waiter))
    board.sheet[both + _u64(1)] = _f32(1 if mine & theirs == _u64(0) else 0)
    board.sheet[both + _u64(2)] = _f32(count(open) & 1)


# -- features of the linear model ----------------------------------------------------------


STEPS, EXITS = 6, 4

OF_A_KNIGHT = (
    *(f"step {d}" for d in range(1, STEPS + 1)),
    "farther",
    "walk",
    *(f"exits {k}" for k in range(1, EXITS + 1)),
    "nearer",
    "own walk",
    *(f"nearer exits {k}" for k in range(1, 4)),
    "free",
    "free 2",
)
CONTACTS = ("steps 1–1", "steps 1–2", "steps 2–1", "steps 2–2", "steps 1–3", "steps 3–1")
STUDIED = (
    *(f"mover: {name}" for name in TERMS_OF_A_KNIGHT),
    *(f"waiter: {name}" for name in TERMS_OF_A_KNIGHT),
    *TERMS_OF_BOTH,
)
FEATURES = (
    *(f"mover: {name}" for name in OF_A_KNIGHT),
    *(f"waiter: {name}" for name in OF_A_KNIGHT),
    *CONTACTS,
    *STUDIED,
    "open cells",
    "cells",
)
"""The names of the linear model's features, in their order in `board.sheet`."""

NUMBER = len(FEATURES)
KNIGHT = len(OF_A_KNIGHT)
_NEARER = KNIGHT - 7  # index of "nearer" among a knight's features


@compiled(types.UniTuple(_u64, EXITS)(GEOMETRY, _u64))
def exits(board: Geometry, open: Bits) -> Any:
    """Return four sets: the cells with at least 1, 2, 3 and 4 open cells a knight's move away.

    The open cells are shifted in the eight directions of a knight, and the shifts are added up on
    all cells at once: in pairs, in fours, all eight.
    """
    left, right = (open << _u64(1)) & board.not_first, (open >> _u64(1)) & board.not_last
    left2, right2 = (open << _u64(2)) & board.not_first_two, (open >> _u64(2)) & board.not_last_two
    row = board.stride
    rows = row + row
    a, b, c, d = left << rows, left >> rows, right << rows, right >> rows
    e, f, g, h = left2 << row, left2 >> row, right2 << row, right2 >> row
    ab1, ab2, cd1, cd2 = a | b, a & b, c | d, c & d
    ef1, ef2, gh1, gh2 = e | f, e & f, g | h, g & h
    # p counts the first four directions, q the others; p2 is the set of cells with two or more.
    p1, p2, p3, p4 = ab1 | cd1, ab2 | cd2 | (ab1 & cd1), (ab2 & cd1) | (ab1 & cd2), ab2 & cd2
    q1, q2, q3, q4 = ef1 | gh1, ef2 | gh2 | (ef1 & gh1), (ef2 & gh1) | (ef1 & gh2), ef2 & gh2
    one, two, three = p1 | q1, p2 | q2 | (p1 & q1), p3 | q3 | (p2 & q1) | (p1 & q2)
    four = p4 | q4 | (p3 & q1) | (p2 & q2) | (p1 & q3)
    every = board.every
    return one & every, two & every, three & every, four & every


@compiled(types.UniTuple(_u64, 3)(GEOMETRY, _u64, _i64, _u64, types.UniTuple(_u64, EXITS)))
def _steps(board: Geometry, open: Bits, cell: int, at: Bits, ways: Any) -> Any:
    """Write a knight's counts of reachable cells to `board.sheet`, from index `at` on.

    Return the cells of steps 1, 2 and 3.
    """
    first_step = edge = reached = open & board.knight[_u64(cell)]
    second = third = _u64(0)
    for step in range(STEPS):
        board.sheet[at + _u64(step)] = _f32(count(edge))
        edge = spread(board, edge) & open & ~reached
        reached |= edge
        if step == 0:
            second = edge
        elif step == 1:
            third = edge
    far = count(edge)
    while edge != _u64(0):
        edge = spread(board, edge) & open & ~reached
        reached |= edge
        far += count(edge)
    board.sheet[at + _u64(STEPS)] = _f32(far)
    board.sheet[at + _u64(STEPS + 1)] = _f32(path_bound(board, reached, cell))
    for k in range(EXITS):
        board.sheet[at + _u64(STEPS + 2 + k)] = _f32(count(first_step & ways[k]))
    return first_step, second, third


@compiled(types.void(GEOMETRY, _u64, _i64, _u64, types.UniTuple(_u64, EXITS)))
def _territory(board: Geometry, nearer: Bits, cell: int, at: Bits, ways: Any) -> None:
    """Write counts of the cells `nearer` to this knight to `board.sheet`, from index `at` on."""
    board.sheet[at] = _f32(count(nearer))
    board.sheet[at + _u64(1)] = _f32(path_bound(board, nearer, cell))
    for k in range(3):
        board.sheet[at + _u64(2 + k)] = _f32(count(nearer & ways[k]))


@compiled(types.void(GEOMETRY, _u64, _i64, _i64))
def describe(board: Geometry, open: Bits, mover: int, waiter: int) -> None:
    """Write the linear model's features of a position to `board.sheet`."""
    ways = exits(board, open)
    mine1, mine2, mine3 = _steps(board, open, mover, _u64(0), ways)
    theirs1, theirs2, theirs3 = _steps(board, open, waiter, _u64(KNIGHT), ways)

    # Both knights expand one move at a time, the mover first; a cell belongs to the knight that
    # reaches it first.
    left, mine, theirs = open, _u64(0), _u64(0)
    my_edge, their_edge = _u64(1) << _u64(mover), _u64(1) << _u64(waiter)
    while my_edge | their_edge != _u64(0):
        my_edge = spread(board, my_edge) & left
        left &= ~my_edge
        mine |= my_edge
        their_edge = spread(board, their_edge) & left
        left &= ~their_edge
        theirs |= their_edge
    _territory(board, mine, mover, _u64(_NEARER), ways)
    _territory(board, theirs, waiter, _u64(KNIGHT + _NEARER), ways)

    sheet = board.sheet
    sheet[_u64(KNIGHT - 2)] = _f32(count(mine1 & ~theirs1 & ways[1]))
    sheet[_u64(KNIGHT - 1)] = _f32(count(mine2 & ~theirs1 & ways[2]))
    sheet[_u64(2 * KNIGHT - 2)] = _f32(count(theirs1 & ~mine1 & ways[1]))
    sheet[_u64(2 * KNIGHT - 1)] = _f32(count(theirs2 & ~mine1 & ways[2]))
    both = _u64(2 * KNIGHT)
    sheet[both] = _f32(count(mine1 & theirs1))
    sheet[both + _u64(1)] = _f32(count(mine1 & theirs2))
    sheet[both + _u64(2)] = _f32(count(mine2 & theirs1))
    sheet[both + _u64(3)] = _f32(count(mine2 & theirs2))
    sheet[both + _u64(4)] = _f32(count(mine1 & theirs3))
    sheet[both + _u64(5)] = _f32(count(mine3 & theirs1))
    study_terms(board, open, mover, waiter, both + _u64(len(CONTACTS)))
    sheet[_u64(NUMBER - 2)] = _f32(count(open))
    sheet[_u64(NUMBER - 1)] = _f32(board.cells)


@compiled(
    types.void(
        types.Array(GEOMETRY, 1, "C"),
        types.Array(_u64, 1, "C"),
        types.Array(types.uint8, 1, "C"),
        types.Array(types.uint8, 1, "C"),
        types.Array(_f32, 2, "C"),
    )
)
def describe_all(boards: Any, open: Any, movers: Any, waiters: Any, table: Any) -> None:
    """Write the linear model's features of many positions to a table, one row per position."""
    board = boards[0]
    for number in range(len(open)):
        describe(board, open[number], _i64(movers[number]), _i64(waiters[number]))
        for feature in range(NUMBER):
            table[number, feature] = board.sheet[_u64(feature)]


# -- the race ------------------------------------------------------------------------------
#
# The features of the net: which knight reaches which cells first, and their exits.
#
# Both knights expand one move at a time, the mover first; a cell belongs to the knight that reaches
# it first::
#
#     step d      cells that a knight reaches first, in its d-th move (4 and 5 together)
#     exits k     cells of all these with k or more open cells a knight's move away
#
# and then the waiter's moves (also those that the mover can take from it), the open cells and all
# cells.  Five moves are enough: races for farther cells seldom matter, and a loop of unknown length
# would cost as much as three more moves.


RACE = (
    *(f"{who}: {what}" for what in ("step 1", "step 2", "step 3", "steps 4–5")
      for who in ("mover", "waiter")),
    *(f"{who}: exits {k}" for k in range(1, EXITS + 1) for who in ("mover", "waiter")),
    "waiter: moves",
    "open cells",
    "cells",
)  # fmt: skip
"""The names of the net's features, in the order in which `race` returns them."""

COUNTS = types.UniTuple(_i64, len(RACE))


@compiled(COUNTS(GEOMETRY, _u64, _i64, _i64), forceinline=True)
def race(board: Geometry, open: Bits, mover: int, waiter: int) -> Any:
    """Return the net's features of a position (counts of cells), in the order of `RACE`."""
    mine1 = open & board.knight[_u64(mover)]
    moves = open & board.knight[_u64(waiter)]
    left = open & ~mine1
    theirs1 = moves & left
    left &= ~theirs1
    mine2 = spread(board, mine1) & left
    left &= ~mine2
    theirs2 = spread(board, theirs1) & left
    left &= ~theirs2
    mine3 = spread(board, mine2) & left
    left &= ~mine3
    theirs3 = spread(board, theirs2) & left
    left &= ~theirs3
    mine4 = spread(board, mine3) & left
    left &= ~mine4
    theirs4 = spread(board, theirs3) & left
    left &= ~theirs4
    mine45 = mine4 | (spread(board, mine4) & left)
    left &= ~mine45
    theirs45 = theirs4 | (spread(board, theirs4) & left)
    mine = mine1 | mine2 | mine3 | mine45
    theirs = theirs1 | theirs2 | theirs3 | theirs45
    one, two, three, four = exits(board, open)
    return (
        count(mine1), count(theirs1), count(mine2), count(theirs2),
        count(mine3), count(theirs3), count(mine45), count(theirs45),
        count(mine & one), count(theirs & one), count(mine & two), count(theirs & two),
        count(mine & three), count(theirs & three), count(mine & four), count(theirs & four),
        count(moves), count(open), _i64(board.cells),
    )  # fmt: skip


@compiled(
    types.void(
        types.Array(GEOMETRY, 1, "C"),
        types.Array(_u64, 1, "C"),
        types.Array(types.uint8, 1, "C"),
        types.Array(types.uint8, 1, "C"),
        types.Array(types.float32, 2, "C"),
    )
)
def race_all(boards: Any, open: Any, movers: Any, waiters: Any, table: Any) -> None:
    """Write the net's features of many positions to a table, one row per position."""
    board = boards[0]
    for number in range(len(open)):
        counts = race(board, open[number], _i64(movers[number]), _i64(waiters[number]))
        for place in range(len(counts)):
            table[number, place] = counts[place]
