"""Minimax: every line to a fixed depth, no pruning, no memory."""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.heuristics.registry import POINTER
from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, moves
from knightfall.search.state import ENTRY_POINT, STATE, WIN, State, conclude, evaluate, remember
from knightfall.search.table import Table
from knightfall.search.ties import begin

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_f64(GEOMETRY, STATE, POINTER, _u64, _i64, _i64, _i64, _i64, _i64))
def _value(
    board: Geometry,
    state: State,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
    depth: int,
    ply: int,
    sign: int,
) -> float:
    """The minimax value for the mover, `depth` plies deep."""
    state.nodes += 1
    state.lengths[ply] = 0
    left = moves(board, open, mover)
    if left == _u64(0):
        return ply - WIN
    if depth == 0:
        return evaluate(board, heuristic, open, mover, waiter, sign)
    best = -2.0 * WIN
    # Once told to stop, whatever is returned on the way up is thrown away by the root.
    while left != _u64(0) and state.nodes < board.limit:
        cell = first(left)
        after = open & ~(_u64(1) << _u64(cell))
        left = rest(left)
        value = -_value(board, state, heuristic, after, waiter, cell, depth - 1, ply + 1, -sign)
        if value > best:
            best = value
            remember(state, ply, cell)
    return best


@compiled(ENTRY_POINT)
def minimax(
    boards: Any,
    states: Any,
    table: Table,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> None:
    """Search to `depth_limit`."""
    board, state = boards[0], states[0]
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    depth = state.depth_limit
    best = -2.0 * WIN
    state.nodes += 1
    for i in range(number):
        if state.nodes >= board.limit:
            return
        cell = state.root[i]
        after = open & ~(_u64(1) << _u64(cell))
        value = -_value(board, state, heuristic, after, waiter, cell, depth - 1, 1, -1)
        if value > best:
            best = value
            remember(state, 0, cell)
    if state.nodes < board.limit:
        conclude(state, best, depth)
