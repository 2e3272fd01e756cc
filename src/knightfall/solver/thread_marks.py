"""Several threads at one position: they share the facts, and keep out of each other's way.

Before a thread goes into a position it leaves a mark.  A thread that sees another's mark on a
move puts that move off until the others are done; by then, mostly, the answer is in the table.
Marks may be overwritten or missed: then work is done twice, never wrongly.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, records
from knightfall.kernel.compile import compiled
from knightfall.solver.proof_table import cells_of, spread_out
from knightfall.solver.state import STATE, State

_u64, _i64 = types.uint64, types.int64

MARKS = 1 << 14
MARK_DTYPE = np.dtype([("key", "u8")])
_mark_at = records(from_dtype(MARK_DTYPE))


@compiled(types.boolean(STATE, _u64, _i64, _i64, _i64))
def taken(state: State, open: Bits, mover: int, waiter: int, question: int) -> bool:
    """Whether another thread is at a question about a position."""
    if state.busy == _u64(0):
        return False
    key = spread_out(open, cells_of(mover, waiter)) + _u64(question)
    return _mark_at(state.busy, key & _u64(MARKS - 1)).key == key  # type: ignore[no-any-return]


@compiled(types.void(STATE, _u64, _i64, _i64, _i64, types.boolean))
def mark(state: State, open: Bits, mover: int, waiter: int, question: int, on: bool) -> None:
    """Begin, or end, work at a question."""
    if state.busy != _u64(0):
        key = spread_out(open, cells_of(mover, waiter)) + _u64(question)
        one = _mark_at(state.busy, key & _u64(MARKS - 1))
        one.key = key if on else _u64(0)
