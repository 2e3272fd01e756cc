"""Which move to try first.  Hunter and runner want different things.

The hunter can take a cell the opponent is about to need, so it likes moves that do.  The
runner's moves never touch the opponent's next choices: it goes where it has most ways on.
Before either comes what has worked: the move that was best at a smaller depth, then the *killer*
moves that refuted a neighbouring position at the same ply.

Moves are picked one by one, not sorted: in most positions the first one ends the matter.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry
from knightfall.search.state import STATE, State

_u64, _i64 = types.uint64, types.int64

WAYS_ON, ESCAPE_TAKEN = 3, 4
"""What one way on from the destination is worth, and what a taken escape cell is."""


@compiled(types.boolean(_u64, _i64), forceinline=True)
def holds(cells: Bits, cell: int) -> bool:
    """Whether a set holds a cell (0 to 63)."""
    return (cells >> _u64(cell)) & _u64(1) != _u64(0)  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, STATE, _u64, _u64, _i64, _i64, _i64), forceinline=True)
def pick(
    board: Geometry, state: State, left: Bits, open: Bits, waiter: int, ply: int, favourite: int
) -> int:
    """The most promising of the moves `left` (never empty); `favourite` is −1 if there is none."""
    if favourite >= 0 and holds(left, favourite):
        return favourite
    for slot in range(2):
        # A killer that was never set reads as cell 0: no worse a guess than any other.
        killer = state.killers[_u64(ply), slot]
        if holds(left, killer):
            return killer  # type: ignore[no-any-return]
    escapes = open & board.knight[waiter]
    chosen, best = 0, -1
    while left != _u64(0):
        cell = first(left)
        value = WAYS_ON * count(open & board.knight[cell])
        if holds(escapes, cell):
            value += ESCAPE_TAKEN
        if value > best:
            chosen, best = cell, value
        left = rest(left)
    return chosen


@compiled(types.void(STATE, _i64, _i64), forceinline=True)
def reward(state: State, ply: int, cell: int) -> None:
    """Remember a move that ended the matter."""
    here = _u64(ply)
    if state.killers[here, 0] != cell:
        state.killers[here, 1] = state.killers[here, 0]
        state.killers[here, 0] = cell
