"""Several threads at one position: they share the proofs, and keep out of each other's way.

Before a thread searches a position it leaves a mark.  A thread that sees another's mark on a move
defers that move until it has searched the others; by then, mostly, the answer is in the table.
(Chess programmers know the idea as simplified ABDADA.)  Marks may be overwritten or missed: then
work is done twice, never wrongly.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, records
from knightfall.kernel.compile import compiled
from knightfall.solver.proof_table import cells_of, hash_position
from knightfall.solver.state import STATE, State

_u64, _i64 = types.uint64, types.int64

MARKS = 1 << 14
MARK_DTYPE = np.dtype([("key", "u8")])
_mark_at = records(from_dtype(MARK_DTYPE))


@compiled(_u64(_u64, _i64, _i64, _i64), forceinline=True)
def _key(open: Bits, mover: int, waiter: int, question: int) -> int:
    """What a mark holds: a hash of a question about a position."""
    return hash_position(open, cells_of(mover, waiter)) + _u64(question)  # type: ignore[no-any-return]


@compiled(types.boolean(STATE, _u64, _i64, _i64, _i64))
def defer_move(state: State, open: Bits, mover: int, waiter: int, question: int) -> bool:
    """Whether another thread is at this question about the position a move leads to."""
    if state.marks == _u64(0):
        return False
    key = _key(open, mover, waiter, question)
    return _mark_at(state.marks, key & _u64(MARKS - 1)).key == key  # type: ignore[no-any-return]


@compiled(types.void(STATE, _u64, _i64, _i64, _i64))
def starting_search(state: State, open: Bits, mover: int, waiter: int, question: int) -> None:
    """Mark a question as being searched."""
    if state.marks != _u64(0):
        key = _key(open, mover, waiter, question)
        one = _mark_at(state.marks, key & _u64(MARKS - 1))
        one.key = key


@compiled(types.void(STATE, _u64, _i64, _i64, _i64))
def finished_search(state: State, open: Bits, mover: int, waiter: int, question: int) -> None:
    """Take the mark away."""
    if state.marks != _u64(0):
        key = _key(open, mover, waiter, question)
        one = _mark_at(state.marks, key & _u64(MARKS - 1))
        one.key = _u64(0)
