"""Plain alpha-beta: no table, no ordering.  What the studies ran, at fixed depth or deepening."""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.heuristics.registry import POINTER
from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, moves
from knightfall.search.state import (
    ENTRY_POINT,
    STATE,
    WIN,
    State,
    conclude,
    evaluate,
    is_proven,
    remember,
)
from knightfall.search.table import Table
from knightfall.search.ties import begin

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_f64(GEOMETRY, STATE, POINTER, _u64, _i64, _i64, _i64, _i64, _i64, _f64, _f64))
def alphabeta_value(
    board: Geometry,
    state: State,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
    depth: int,
    ply: int,
    sign: int,
    alpha: float,
    beta: float,
) -> float:
    """The minimax value v for the mover, as far as it matters.

    Returns r with: r = v if alpha < r < beta; v ≤ r if r ≤ alpha; v ≥ r if r ≥ beta.
    """
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
        value = -alphabeta_value(
            board, state, heuristic, after, waiter, cell, depth - 1, ply + 1, -sign, -beta, -alpha
        )
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    break
                remember(state, ply, cell)
    return best


@compiled(types.boolean(GEOMETRY, STATE, POINTER, _u64, _i64, _i64, _i64, _i64))
def _root(
    board: Geometry,
    state: State,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
    number: int,
    depth: int,
) -> bool:
    """Search the root's moves in their order; False if told to stop before the end."""
    alpha = -2.0 * WIN
    state.nodes += 1
    for i in range(number):
        if state.nodes >= board.limit:
            return False
        cell = state.root[i]
        after = open & ~(_u64(1) << _u64(cell))
        value = -alphabeta_value(
            board, state, heuristic, after, waiter, cell, depth - 1, 1, -1, -2.0 * WIN, -alpha
        )
        if value > alpha:
            alpha = value
            remember(state, 0, cell)
    if state.nodes >= board.limit:
        return False
    conclude(state, alpha, depth)
    return True


@compiled(ENTRY_POINT)
def alphabeta(
    boards: Any,
    states: Any,
    table: Table,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> None:
    """Search to `depth_limit` at once."""
    board, state = boards[0], states[0]
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    _root(board, state, heuristic, open, mover, waiter, number, state.depth_limit)


@compiled(ENTRY_POINT)
def plain_deepening(
    boards: Any,
    states: Any,
    table: Table,
    heuristic: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> None:
    """Depth 1, 2, 3, … until told to stop; the last depth searched to the end counts."""
    board, state = boards[0], states[0]
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    for depth in range(1, state.depth_limit + 1):
        if not _root(board, state, heuristic, open, mover, waiter, number, depth):
            break
        if is_proven(state.score):
            break
