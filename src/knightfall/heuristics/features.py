"""What the learned heuristics look at: counts of cells that a person could make on the board.

All of them are told of the mover and of the waiter alike, and all are sizes of sets, found with a
few shifts of whole words.  For a knight::

    step d           open cells that it can get to in d moves at the least, alone on the board
    farther          those that take more than six
    walk             no walk through what it can reach has more steps (colours alternate)
    exits k          cells of step 1 that k open cells or more are a knight's move from
    nearer           open cells that it gets to first if both run as fast as they can
    own walk         no walk through those has more steps
    nearer exits k   those of them that k open cells or more are a knight's move from
    free, free 2     cells of step 1 (2) with two (three) exits that the other cannot take at once

and of both together: how many cells are at step i for the mover and at step j for the waiter.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, path_bound, spread

_u64, _i64, _f32 = types.uint64, types.int64, types.float32

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
FEATURES = (
    *(f"mover: {name}" for name in OF_A_KNIGHT),
    *(f"waiter: {name}" for name in OF_A_KNIGHT),
    *CONTACTS,
    "open cells",
    "cells",
)
"""Their names, in the order in which they stand on the sheet."""

NUMBER = len(FEATURES)
KNIGHT = len(OF_A_KNIGHT)
_NEARER = KNIGHT - 7  # where what is nearer to a knight begins


@compiled(types.UniTuple(_u64, EXITS)(GEOMETRY, _u64))
def exits(board: Geometry, open: Bits) -> Any:
    """The cells that one, two, three and four open cells or more are a knight's move from.

    The open cells are shifted in the eight ways in which a knight moves; each shift is added to
    what stands on every cell, all cells at once.
    """
    left, right = (open << _u64(1)) & board.not_first, (open >> _u64(1)) & board.not_last
    left2, right2 = (open << _u64(2)) & board.not_first_two, (open >> _u64(2)) & board.not_last_two
    row = board.stride
    rows = row + row
    one = two = three = four = _u64(0)
    for way in range(8):
        if way == 0:
            shifted = left << rows
        elif way == 1:
            shifted = left >> rows
        elif way == 2:
            shifted = right << rows
        elif way == 3:
            shifted = right >> rows
        elif way == 4:
            shifted = left2 << row
        elif way == 5:
            shifted = left2 >> row
        elif way == 6:
            shifted = right2 << row
        else:
            shifted = right2 >> row
        four |= three & shifted
        three |= two & shifted
        two |= one & shifted
        one |= shifted
    every = board.every
    return one & every, two & every, three & every, four & every


@compiled(types.UniTuple(_u64, 3)(GEOMETRY, _u64, _i64, _u64, types.UniTuple(_u64, EXITS)))
def _steps(board: Geometry, open: Bits, cell: int, at: Bits, ways: Any) -> Any:
    """Write what a knight can reach alone from place `at` on; its cells of steps 1, 2 and 3."""
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
    """Write what lies nearer to a knight than to the other."""
    board.sheet[at] = _f32(count(nearer))
    board.sheet[at + _u64(1)] = _f32(path_bound(board, nearer, cell))
    for k in range(3):
        board.sheet[at + _u64(2 + k)] = _f32(count(nearer & ways[k]))


@compiled(types.void(GEOMETRY, _u64, _i64, _i64))
def describe(board: Geometry, open: Bits, mover: int, waiter: int) -> None:
    """Write the features of a position onto the board's sheet."""
    ways = exits(board, open)
    mine1, mine2, mine3 = _steps(board, open, mover, _u64(0), ways)
    theirs1, theirs2, theirs3 = _steps(board, open, waiter, _u64(KNIGHT), ways)

    # Both run as fast as they can, the mover first: each cell is whose it is first.
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
    sheet[both + _u64(6)] = _f32(count(open))
    sheet[both + _u64(7)] = _f32(board.cells)


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
    """The features of many positions, a row each."""
    board = boards[0]
    for number in range(len(open)):
        describe(board, open[number], _i64(movers[number]), _i64(waiters[number]))
        for feature in range(NUMBER):
            table[number, feature] = board.sheet[_u64(feature)]
