"""Minimax to a fixed depth, without pruning and without a table."""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, moves
from knightfall.search.search_state import (
    ENTRY_POINT,
    STATE,
    WIN,
    State,
    begin,
    conclude,
    leaf,
    remember,
)

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64))
def _value(board: Geometry, state: State, open: Bits, mover: int, waiter: int, ply: int) -> float:
    """Return the minimax value for the mover, with leaves at `state.horizon`."""
    state.lengths[ply] = 0
    if ply == state.horizon:
        return leaf(board, state, open, mover, waiter, ply)
    state.nodes += 1
    left = moves(board, open, mover)
    if left == _u64(0):
        return ply - WIN
    best = -2.0 * WIN
    # After a stop the returned values are meaningless; the root discards them.
    while left != _u64(0) and state.nodes < board.limit:
        cell = first(left)
        after = open & ~(_u64(1) << _u64(cell))
        left = rest(left)
        value = -_value(board, state, after, waiter, cell, ply + 1)
        if value > best:
            best = value
            remember(state, ply, cell)
    return best


@compiled(ENTRY_POINT)
def minimax(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Search to `depth_limit`."""
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    state.horizon = state.depth_limit
    best = -2.0 * WIN
    state.nodes += 1
    for i in range(number):
        if state.nodes >= board.limit:
            return
        cell = state.root[i]
        after = open & ~(_u64(1) << _u64(cell))
        value = -_value(board, state, after, waiter, cell, 1)
        if value > best:
            best = value
            remember(state, 0, cell)
    if state.nodes < board.limit:
        conclude(state, best, state.horizon)
