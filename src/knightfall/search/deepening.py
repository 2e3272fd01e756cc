"""Iterative deepening with transposition table, move ordering, null windows and separation.

The value of a depth is the same as plain alpha-beta's, found with fewer nodes, except where the
result of a separated position is known beyond the horizon.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import check_clock
from knightfall.kernel.rules import GEOMETRY, POCKET, Geometry, canonical_opening, is_opening, moves
from knightfall.search.search_state import (
    ENTRY_POINT,
    PROVEN,
    STATE,
    WIN,
    State,
    begin,
    conclude,
    is_proven,
    leaf,
    remember,
)
from knightfall.search.separation import UNSETTLED, separated, solitaires
from knightfall.search.transposition_table import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    NO_MOVE,
    SETTLED,
    probe,
    store,
)

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

TABLE_DEPTH = 7
"""Positions with fewer plies to go are not looked up: searching them is faster."""

PICKED = 2
"""How many moves are chosen by `pick_move`.  If these cause no cutoff, the others seldom do."""

# -- move ordering ------------------------------------------------------------------------------
#
# Hunter and runner have different aims.  The hunter can take a cell that the opponent could move
# to, so such moves come first.  The runner's moves never affect the opponent's next choices: it
# prefers cells with many moves from there.  Before both come moves that were good elsewhere: the
# best one of a smaller depth, then the *killer* moves that refuted a neighbouring position at the
# same ply.
#
# Moves are picked one by one, not sorted: in most positions the first one causes a cutoff.

WAYS_ON, ESCAPE_TAKEN = 3, 4
"""Ordering values of each move from the destination, and of a cell taken from the opponent."""


@compiled(types.boolean(_u64, _i64), forceinline=True)
def contains(cells: Bits, cell: int) -> bool:
    """Return whether a set has a cell (0 to 63)."""
    return (cells >> _u64(cell)) & _u64(1) != _u64(0)  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, STATE, _u64, _u64, _i64, _i64, _i64), forceinline=True)
def pick_move(
    board: Geometry, state: State, left: Bits, open: Bits, waiter: int, ply: int, favourite: int
) -> int:
    """Return the most promising of the untried moves `left`, which must not be empty.

    `favourite` comes first if it is among them; −1 means that there is none.
    """
    if favourite >= 0 and contains(left, favourite):
        return favourite
    for slot in range(2):
        # A killer that was never set is cell 0, a harmless guess.
        killer = state.killers[_u64(ply), slot]
        if contains(left, killer):
            return killer  # type: ignore[no-any-return]
    escapes = open & board.knight[waiter]
    chosen, best = 0, -1
    while left != _u64(0):
        cell = first(left)
        value = WAYS_ON * count(open & board.knight[cell])
        if contains(escapes, cell):
            value += ESCAPE_TAKEN
        if value > best:
            chosen, best = cell, value
        left = rest(left)
    return chosen


@compiled(types.void(STATE, _i64, _i64), forceinline=True)
def store_killer(state: State, ply: int, cell: int) -> None:
    """Remember a move that caused a cutoff as killer of its ply."""
    here = _u64(ply)
    if state.killers[here, 0] != cell:
        state.killers[here, 1] = state.killers[here, 0]
        state.killers[here, 0] = cell


# -- the search ---------------------------------------------------------------------------------


@compiled(_f64(_f64))
def _null_window(score: float) -> float:
    """Return the width of a null window at a score: so small that hardly any score lies inside.

    A score that does lie inside is exact, as in any window.
    """
    return 1e-9 + abs(score) * 3e-16


@compiled(_f64(GEOMETRY, STATE, _u64, _u64, _i64, _i64, _f64, _f64), forceinline=True)
def _frontier(
    board: Geometry,
    state: State,
    open: Bits,
    left: Bits,
    waiter: int,
    ply: int,
    alpha: float,
    beta: float,
) -> float:
    """Return `_value` of a node one ply above the leaves."""
    best = -2.0 * WIN
    cell = state.killers[_u64(ply), 0]
    if not contains(left, cell):
        cell = state.killers[_u64(ply), 1]
        if not contains(left, cell):
            cell = first(left)
    while left != _u64(0) and state.nodes < board.limit:
        one = _u64(1) << _u64(cell)
        left &= ~one
        value = -leaf(board, state, open & ~one, waiter, cell, ply + 1)
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    store_killer(state, ply, cell)
                    break
                state.lines[_u64(ply), 0] = cell
                state.lengths[_u64(ply)] = 1
        cell = first(left)
    return best


@compiled(_f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64, _f64, _f64))
def _value(
    board: Geometry,
    state: State,
    open: Bits,
    mover: int,
    waiter: int,
    ply: int,
    alpha: float,
    beta: float,
) -> float:
    """Return the value v for the mover of an inner node, or a bound of it.

    Returns r with: r = v if alpha < r < beta; v ≤ r if r ≤ alpha; v ≥ r if r ≥ beta.
    """
    state.nodes += 1
    state.lengths[_u64(ply)] = 0
    left = moves(board, open, mover)
    if left == _u64(0):
        return ply - WIN
    if moves(board, open, waiter) == _u64(0):
        # The opponent is stuck already: any move wins.
        state.lines[_u64(ply), 0] = first(left)
        state.lengths[_u64(ply)] = 1
        return WIN - (ply + 1)
    depth = state.horizon - ply
    if depth == 1:
        return _frontier(board, state, open, left, waiter, ply, alpha, beta)

    # A null window only tests "better than alpha?"; any other is on the principal variation.
    principal = beta - alpha > 2.0 * _null_window(alpha)
    favourite = -1
    mirrored = ply <= 2 and state.symmetric != 0 and is_opening(board, open, mover, waiter)
    listed = mirrored or depth >= TABLE_DEPTH
    key_open, key_mover, key_waiter = open, mover, waiter
    if listed:
        check_clock(board)
        if mirrored:
            key_mover, key_waiter = canonical_opening(board, mover, waiter)
            key_open = board.every & ~(_u64(1) << _u64(key_waiter))
            if key_mover != POCKET:
                key_open &= ~(_u64(1) << _u64(key_mover))
        known = probe(state, key_open, key_mover, key_waiter)
        if known.found:
            if known.depth == SETTLED or (
                known.depth >= depth
                and not principal
                and (
                    known.bound == EXACT
                    or (known.bound == AT_LEAST and known.score >= beta)
                    or (known.bound == AT_MOST and known.score <= alpha)
                )
            ):
                return known.score
            if known.move != NO_MOVE:
                favourite = known.move
        elif (mover | waiter) < POCKET and separated(board, open, mover, waiter):
            plies = solitaires(board, state, open, mover, waiter)
            if state.nodes >= board.limit:
                return 0.0
            if plies != UNSETTLED:
                score = WIN - (ply + plies) if plies > 0 else (ply - plies) - WIN
                store(state, key_open, key_mover, key_waiter, score, SETTLED, EXACT, NO_MOVE)
                return score

    best = -2.0 * WIN
    best_cell = _i64(NO_MOVE)
    tried = 0
    bound = AT_MOST
    while left != _u64(0) and state.nodes < board.limit:
        if tried < PICKED:
            cell = pick_move(board, state, left, open, waiter, ply, favourite)
        else:
            cell = first(left)
        tried += 1
        one = _u64(1) << _u64(cell)
        left &= ~one
        after = open & ~one
        # The first move gets the whole window, the others a null window first.
        ceiling = alpha + _null_window(alpha) if principal and best > -2.0 * WIN else beta
        while True:
            value = -_value(board, state, after, waiter, cell, ply + 1, -ceiling, -alpha)
            if value < ceiling or ceiling >= beta or state.nodes >= board.limit:
                break
            ceiling = beta
        if state.nodes >= board.limit:
            break
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_cell = cell
                bound = EXACT
                if alpha >= beta:
                    bound = AT_LEAST
                    store_killer(state, ply, cell)
                    break
                remember(state, ply, cell)
    if state.nodes >= board.limit:
        return 0.0  # stopped: the root discards this value
    if listed:
        if mirrored:
            best_cell = _i64(NO_MOVE)  # the move would have to be mirrored, too
        store(state, key_open, key_mover, key_waiter, best, depth, bound, best_cell)
    return best


@compiled(types.boolean(STATE, _i64, _f64, _i64))
def _stopped(state: State, finished: int, alpha: float, depth: int) -> bool:
    """Set the result after a depth was stopped with `finished` root moves done; return False."""
    if finished > 0 and alpha > -PROVEN:
        conclude(state, alpha, depth - 1)
    elif finished > 0 and state.score > -PROVEN:
        # All moves searched at this depth lose, but not necessarily the others: play one of them.
        state.lines[0, 0] = state.root[finished]
        state.lengths[0] = 1
        conclude(state, state.score, depth - 1)
    return False


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64, _i64))
def _root(board: Geometry, state: State, open: Bits, waiter: int, number: int, depth: int) -> bool:
    """Search the root's moves, the best so far first; return False if stopped before the end.

    The result of a stopped depth still counts: its first move was the best of the depth before, so
    a move that beats it is the better choice.
    """
    alpha = -2.0 * WIN
    state.horizon = depth
    state.nodes += 1
    for i in range(number):
        if state.nodes >= board.limit:
            return _stopped(state, i, alpha, depth)
        cell = state.root[i]
        after = open & ~(_u64(1) << _u64(cell))
        ceiling = 2.0 * WIN if i == 0 else alpha + _null_window(alpha)
        while True:
            if depth == 1:
                value = -leaf(board, state, after, waiter, cell, 1)
                break
            value = -_value(board, state, after, waiter, cell, 1, -ceiling, -alpha)
            if value < ceiling or state.nodes >= board.limit:
                break
            ceiling = 2.0 * WIN
        if state.nodes >= board.limit:
            return _stopped(state, i, alpha, depth)
        if value > alpha:
            alpha = value
            remember(state, 0, cell)
            for j in range(i, 0, -1):
                state.root[j] = state.root[j - 1]
            state.root[0] = cell
    conclude(state, alpha, depth)
    return True


@compiled(ENTRY_POINT)
def deepening(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Search depth 1, 2, 3, … until stopped or until no deeper search can change the result.

    A win by separation may end beyond the horizon, and there may be a shorter one: the search
    continues until its depth has reached the length of the proven result.
    """
    number = begin(state, moves(board, open, mover), open, mover, waiter)
    for depth in range(1, state.depth_limit + 1):
        if not _root(board, state, open, waiter, number, depth):
            break
        if is_proven(state.score) and WIN - abs(state.score) <= depth:
            break
