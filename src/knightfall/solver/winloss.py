"""The winner of a position, by a depth-first proof search.

Its design was measured (benchmarks/solver.py).  In this game hardly any position is reached twice,
so there is a table only for the upper part of the tree, where threads and later questions share
work; and playing out two separated knights is faster than detecting the separation.  These pay:
seeing the end two plies early; trying first the moves that stay in contact with the opponent, with
better ordering in the upper part; and a cost of about twenty nanoseconds per node in the lower
part. One opening of 7×7 costs twenty times any other without reflection (`reflection.py`).

A position is *quiet* if the mover can move, the waiter could, and the mover cannot take the
waiter's only move.  The search visits only quiet positions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import check_clock
from knightfall.kernel.rules import GEOMETRY, Geometry, spread
from knightfall.solver.proof_table import (
    STATE,
    UNKNOWN,
    WINS,
    State,
    defer_move,
    finished_search,
    outcome,
    probe,
    starting_search,
    store,
    with_outcome,
)
from knightfall.solver.reflection import mirrored

_u64, _i64 = types.uint64, types.int64

WAYS, CONTACT = 1, 4
"""Ordering value of each cell that the knight could move to next, and the bonus if the opponent can
reach that cell in two moves.  (For the hunter these are cells that the runner may enter after its
next move, for the runner cells that the hunter can take at once.)  Fitted to solved positions by
`benchmarks.move_order`; from 4 on, a larger bonus makes no difference."""

MEETING = 2
"""Ordering value, in the upper part of the tree, of each cell two moves away that the opponent can
reach in two or three moves: the best in searches of training openings, by one node in a hundred."""

QUESTION = 0
"""The number of the question "who wins?"; others are numbered by plies (`game_length.py`)."""


@compiled(types.boolean(_u64, _u64), forceinline=True)
def trapped(ways: Bits, enemy: Bits) -> bool:
    """Return whether a knight with the moves `ways` is lost if the enemy moves next.

    It has no move, or a single one that is also among the `enemy` moves and can be taken.
    """
    return ways & (ways - _u64(1)) == _u64(0) and (ways == _u64(0) or ways & enemy != _u64(0))  # type: ignore[no-any-return]


@compiled(types.void(STATE, _i64, _i64, _i64), forceinline=True)
def insert(state: State, ply: int, number: int, move: int) -> None:
    """Insert a packed move into the sorted row of its ply, which has `number` moves so far."""
    row, at = _u64(ply), _u64(number)
    while at != _u64(0) and state.order[row, at - _u64(1)] > move:
        state.order[row, at] = state.order[row, at - _u64(1)]
        at -= _u64(1)
    state.order[row, at] = move


@compiled(types.boolean(GEOMETRY, STATE, _u64, _u64, _u64, _i64))
def _lower(board: Geometry, state: State, open: Bits, mine: Bits, theirs: Bits, ply: int) -> bool:
    """Return whether the mover of a quiet position wins; `mine` and `theirs` are their moves."""
    state.nodes += 1
    if rest(mine) == _u64(0):  # a single move needs no ordering
        ways, left = open & board.knight[_u64(first(mine))], theirs & ~mine
        if trapped(ways, left) or state.nodes >= board.limit:
            return False
        return not _lower(board, state, open & ~mine, left, ways, ply + 1)
    near = theirs | spread(board, theirs)
    number = 0
    while mine != _u64(0):
        cell = first(mine)
        mine = rest(mine)
        ways = open & board.knight[_u64(cell)]
        left = theirs & ~(_u64(1) << _u64(cell))
        if trapped(ways, left):
            continue
        value = WAYS * count(ways) + CONTACT * count(ways & near)
        insert(state, ply, number, cell - value * 64)
        number += 1
    for i in range(_u64(number)):
        if state.nodes >= board.limit:
            return False  # stopped: the caller discards this value
        cell = state.order[_u64(ply), i] & 63
        after = ~(_u64(1) << _u64(cell))
        ways = open & board.knight[_u64(cell)]
        if not _lower(board, state, open & after, theirs & after, ways, ply + 1):
            return True
    return False


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64, _i64, _i64))
def _upper(
    board: Geometry, state: State, open: Bits, mover: int, waiter: int, ply: int, left: int
) -> bool:
    """Return `_lower` with table and better ordering, for positions with many open cells."""
    known = probe(state, open, mover, waiter)
    if outcome(known) != UNKNOWN:
        return outcome(known) == WINS
    state.nodes += 1
    check_clock(board)
    if mirrored(board, open, mover, waiter):
        store(state, open, mover, waiter, with_outcome(known, 0))
        return False
    mine, theirs = open & board.knight[mover], open & board.knight[waiter]
    second = open & spread(board, theirs)
    near, meeting = theirs | second, second | open & spread(board, second)
    number = 0
    while mine != _u64(0):
        cell = first(mine)
        mine = rest(mine)
        after = open & ~(_u64(1) << _u64(cell))
        my_ways, their_ways = after & board.knight[cell], theirs & after
        if trapped(my_ways, their_ways):
            continue
        if mirrored(board, after, waiter, cell):
            store(state, open, mover, waiter, with_outcome(known, 1))
            store(state, after, waiter, cell, with_outcome(_u64(0), 0))
            return True
        value = WAYS * count(my_ways) + CONTACT * count(my_ways & near)
        value += MEETING * count(spread(board, my_ways) & after & meeting)
        insert(state, ply, number, cell - value * 64)
        number += 1
    wins = False
    deferred = _u64(0)
    starting_search(state, open, mover, waiter, QUESTION)
    for round in range(2):
        for i in range(_u64(number)):
            if wins or state.nodes >= board.limit:
                break
            cell = state.order[_u64(ply), i] & 63
            one = _u64(1) << _u64(cell)
            after = open & ~one
            if left <= state.upper:
                if round == 0:
                    ways = after & board.knight[_u64(cell)]
                    wins = not _lower(board, state, after, theirs & after, ways, ply + 1)
            elif round == 0 and i > _u64(0) and defer_move(state, after, waiter, cell, QUESTION):
                deferred |= one
            elif round == 0 or deferred & one != _u64(0):
                wins = not _upper(board, state, after, waiter, cell, ply + 1, left - 1)
        if deferred == _u64(0):
            break
    finished_search(state, open, mover, waiter, QUESTION)
    if state.nodes >= board.limit:
        return False
    # Another thread may have added to the entry in the meantime.
    known = probe(state, open, mover, waiter)
    store(state, open, mover, waiter, with_outcome(known, _i64(wins)))
    return wins


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64))
def mover_wins(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> bool:
    """Return whether the mover wins.  Meaningless if `state.nodes` has reached ``board.limit``."""
    mine, theirs = open & board.knight[mover], open & board.knight[waiter]
    if mine == _u64(0):
        return False
    if trapped(theirs, mine):
        return True
    left = count(open)
    if left >= state.upper:
        return _upper(board, state, open, mover, waiter, 0, left)
    return _lower(board, state, open, mine, theirs, 0)


@compiled(
    _i64(types.Array(GEOMETRY, 1, "C"), types.Array(STATE, 1, "C"), _u64, _i64, _i64),
)
def who_wins(boards: Any, states: Any, open: Bits, mover: int, waiter: int) -> int:
    """Return 1 if the mover wins, 0 if it loses, −1 if the node limit was reached first."""
    board, state = boards[0], states[0]
    wins = mover_wins(board, state, open, mover, waiter)
    return -1 if state.nodes >= board.limit else _i64(wins)
