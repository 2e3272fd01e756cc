"""Plain alpha-beta, as in the studies: without transposition table and move ordering.

It searches to a fixed depth, or deepens iteratively.
"""

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
    is_proven,
    leaf,
    remember,
)

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64, _f64, _f64))
def alphabeta_value(
    board: Geometry,
    state: State,
    open: Bits,
    mover: int,
    waiter: int,
    ply: int,
    alpha: float,
    beta: float,
) -> float:
    """Return the minimax value v for the mover of an inner node, or a bound of it.

    Returns r with: r = v if alpha < r < beta; v ≤ r if r ≤ alpha; v ≥ r if r ≥ beta.
    """
    state.nodes += 1
    state.lengths[_u64(ply)] = 0
    left = moves(board, open, mover)
    if left == _u64(0):
        return ply - WIN
    last = ply + 1 == state.horizon
    best = -2.0 * WIN
    # After a stop the returned values are meaningless; the root discards them.
    while left != _u64(0) and state.nodes < board.limit:
        cell = first(left)
        after = open & ~(_u64(1) << _u64(cell))
        left = rest(left)
        if last:
            value = -leaf(board, state, after, waiter, cell, ply + 1)
        else:
            value = -alphabeta_value(board, state, after, waiter, cell, ply + 1, -beta, -alpha)
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    break
                if last:
                    state.lines[_u64(ply), 0] = cell
                    state.lengths[_u64(ply)] = 1
                else:
                    remember(state, ply, cell)
    return best


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64, _i64))
def _root(board: Geometry, state: State, open: Bits, waiter: int, number: int, depth: int) -> bool:
    """Search the root's moves in their order; return False if stopped before the end."""
    alpha = -2.0 * WIN
    state.horizon = depth
    state.nodes += 1
    for i in range(number):
        if state.nodes >= board.limit:
            return False
        cell = state.root[i]
        after = open & ~(_u64(1) << _u64(cell))
        if depth == 1:
            value = -leaf(board, state, after, waiter, cell, 1)
        else:
            value = -alphabeta_value(board, state, after, waiter, cell, 1, -2.0 * WIN, -alpha)
        if value > alpha:
            alpha = value
            remember(state, 0, cell)
    if state.nodes >= board.limit:
        return False
    conclude(state, alpha, depth)
    return True


@compiled(ENTRY_POINT)
def alphabeta(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Search to `depth_limit` without deepening."""
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    _root(board, state, open, waiter, number, state.depth_limit)


@compiled(ENTRY_POINT)
def plain_deepening(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Search depth 1, 2, 3, … until stopped; the last depth that was finished counts."""
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    for depth in range(1, state.depth_limit + 1):
        if not _root(board, state, open, waiter, number, depth):
            break
        if is_proven(state.score):
            break
