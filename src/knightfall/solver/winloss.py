"""Who wins?  A depth-first search for a proof, and nothing else.

What it does *not* do was measured (benchmarks/solver.py): in this game hardly any position is
reached twice, so a table is only kept for the upper part of the tree, where it lets threads and
later questions share work; and two separated knights are played out faster than they are
recognised.  What pays is to see the end two plies early, to try first what keeps in touch with the
opponent, with more thought where the tree is thick, and to make a node of the rest cost some twenty
nanoseconds.  One opening of 7×7 costs twenty times any other unless reflection is known
(`reflection.py`).

A position is *quiet* when the mover can move, the waiter could, and the mover cannot take the
waiter's only way on.  The search only ever visits quiet positions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.interrupt import check_clock
from knightfall.kernel.rules import Geometry, spread
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
"""What a way on is worth in the order of moves, the largest sum first, and how much more if the
opponent can get there in two moves.  (The hunter counts cells that the runner may step on after its
next move, the runner those that the hunter can take at once.)  Learned from the truth by
`benchmarks.move_order`; from 4 on, more contact makes no difference."""

MEETING = 2
"""In the upper part of the tree, what a cell two moves away is worth that the opponent can get to
in two moves or three: the best of whole searches of training openings, by one node in a hundred."""

QUESTION = 0
"""Questions other than "who wins?" are numbered by plies (`distance.py`)."""


@compiled(types.boolean(_u64, _u64), forceinline=True)
def trapped(ways: Bits, enemy: Bits) -> bool:
    """Whether a knight that does not move next is lost: no way on, or one that will be taken."""
    return ways & (ways - _u64(1)) == _u64(0) and (ways == _u64(0) or ways & enemy != _u64(0))  # type: ignore[no-any-return]


@compiled(types.void(STATE, _i64, _i64, _i64), forceinline=True)
def insert(state: State, ply: int, number: int, move: int) -> None:
    """Insert a packed move into the sorted row of its ply, which holds `number` so far."""
    row, at = _u64(ply), _u64(number)
    while at != _u64(0) and state.order[row, at - _u64(1)] > move:
        state.order[row, at] = state.order[row, at - _u64(1)]
        at -= _u64(1)
    state.order[row, at] = move


@compiled(types.boolean(GEOMETRY, STATE, _u64, _u64, _u64, _i64))
def _lower(board: Geometry, state: State, open: Bits, mine: Bits, theirs: Bits, ply: int) -> bool:
    """Whether the mover of a quiet position wins.  `mine` and `theirs` are the ways on."""
    state.nodes += 1
    if rest(mine) == _u64(0):  # nothing to put in order
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
            return False  # told to stop: whoever asked throws this away
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
    """`_lower` with care, for positions with many open cells (`left` of them)."""
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
    # Another thread may have written more in the meantime.
    known = probe(state, open, mover, waiter)
    store(state, open, mover, waiter, with_outcome(known, _i64(wins)))
    return wins


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64))
def mover_wins(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> bool:
    """Whether the mover wins.  Meaningless if `state.nodes` has reached ``board.limit``."""
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
    """1 if the mover wins, 0 if it loses, −1 if the limit came first."""
    board, state = boards[0], states[0]
    wins = mover_wins(board, state, open, mover, waiter)
    return -1 if state.nodes >= board.limit else _i64(wins)
