"""What the net looks at: who gets where first, and what leads on from there.

Both knights run as fast as they can, the mover first, and each cell belongs to whoever gets there
first::

    step d      cells that a knight gets to first, in its d-th move (4 and 5 together)
    exits k     cells of all these that k open cells or more are a knight's move from

and then the waiter's moves, those included that the mover can take from it, the open cells and all.
Five moves are enough: what lies beyond is seldom decided by a race, and a loop whose length nobody
knows would cost as much as three more moves.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.heuristics.features import EXITS, exits
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, spread

_u64, _i64 = types.uint64, types.int64

RACE = (
    *(f"{who}: {what}" for what in ("step 1", "step 2", "step 3", "steps 4–5")
      for who in ("mover", "waiter")),
    *(f"{who}: exits {k}" for k in range(1, EXITS + 1) for who in ("mover", "waiter")),
    "waiter: moves",
    "open cells",
    "cells",
)  # fmt: skip
"""The names of the counts, in their order."""

COUNTS = types.UniTuple(_i64, len(RACE))


@compiled(COUNTS(GEOMETRY, _u64, _i64, _i64), forceinline=True)
def race(board: Geometry, open: Bits, mover: int, waiter: int) -> Any:
    """The counts of a position."""
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
    """The counts of many positions, a row each."""
    board = boards[0]
    for number in range(len(open)):
        counts = race(board, open[number], _i64(movers[number]), _i64(waiters[number]))
        for place in range(len(counts)):
            table[number, place] = counts[place]
