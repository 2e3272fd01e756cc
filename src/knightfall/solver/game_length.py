"""The length of the game if the winner plays for the quickest win and the loser resists longest.

The mover changes with every ply, and a player without a move has lost, so a game that ends after an
odd number of plies is won by the mover, after an even number lost.  One question is enough:

    ends_within(position, n)    Can the side that wins after n plies force the end within n plies?

That side is the attacker: it needs one move that does, the defender one that does not.  The length
of the game is the smallest n for which the answer is yes.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import check_clock
from knightfall.kernel.rules import GEOMETRY, Geometry, spread
from knightfall.solver.proof_table import (
    LOSES,
    STATE,
    WINS,
    State,
    beyond,
    defer_move,
    finished_search,
    outcome,
    probe,
    starting_search,
    store,
    with_answer,
    within,
)
from knightfall.solver.reflection import mirrored
from knightfall.solver.winloss import insert, trapped

_u64, _i64 = types.uint64, types.int64

THEIR_WAYS, MY_WAYS = 8, 4
THEIR_SPACE, MY_SPACE, DEFENDER_SPACE = 2, 2, 4
FIRST = -1000
"""The ordering value of a move that comes before all others."""


@compiled(types.boolean(GEOMETRY, _u64, _u64, _u64), forceinline=True)
def _over_in_two(board: Geometry, open: Bits, mine: Bits, theirs: Bits) -> bool:
    """Return whether the mover loses within two plies: every move leaves it `trapped`."""
    while mine != _u64(0):
        cell = first(mine)
        mine = rest(mine)
        left = theirs & ~(_u64(1) << _u64(cell))
        if not trapped(open & board.knight[_u64(cell)], left):
            return False
    return True


@compiled(types.boolean(GEOMETRY, STATE, _u64, _u64, _u64, _i64, _i64))
def _lower(
    board: Geometry, state: State, open: Bits, mine: Bits, theirs: Bits, plies: int, ply: int
) -> bool:
    """Return `ends_within` for a quiet position (see `winloss.py`) and at least two plies."""
    state.nodes += 1
    attacks = plies & 1 != 0
    if plies <= 2:
        return not attacks and _over_in_two(board, open, mine, theirs)
    number = 0
    while mine != _u64(0):
        cell = first(mine)
        mine = rest(mine)
        ways = open & board.knight[_u64(cell)]
        left = theirs & ~(_u64(1) << _u64(cell))
        if trapped(ways, left):
            continue  # loses at once: useless for an attacker, no defence for a defender
        value = THEIR_WAYS * count(left) - MY_WAYS * count(ways)
        if not attacks and cell == state.killer[_u64(ply)]:
            value = FIRST
        insert(state, ply, number, value * 64 + cell)
        number += 1
    for i in range(_u64(number)):
        if state.nodes >= board.limit:
            return False
        cell = state.order[_u64(ply), i] & 63
        after = ~(_u64(1) << _u64(cell))
        ways = open & board.knight[_u64(cell)]
        ends = _lower(board, state, open & after, theirs & after, ways, plies - 1, ply + 1)
        if ends == attacks:
            if not attacks:
                state.killer[_u64(ply)] = cell
            return ends
    return not attacks


@compiled(types.boolean(GEOMETRY, STATE, _u64, _i64, _i64, _i64, _i64, _i64))
def _upper(
    board: Geometry,
    state: State,
    open: Bits,
    mover: int,
    waiter: int,
    plies: int,
    ply: int,
    left: int,
) -> bool:
    """Return `_lower` with table and better ordering, for positions with many open cells."""
    known = probe(state, open, mover, waiter)
    attacks = plies & 1 != 0
    if outcome(known) == (LOSES if attacks else WINS) or beyond(known, plies) >= plies:
        return False
    if outcome(known) == (WINS if attacks else LOSES) and within(known) <= plies:
        return True
    state.nodes += 1
    check_clock(board)
    if attacks and mirrored(board, open, mover, waiter):
        return False
    mine, theirs = open & board.knight[mover], open & board.knight[waiter]
    if plies <= 2:
        return not attacks and _over_in_two(board, open, mine, theirs)
    number = 0
    while mine != _u64(0):
        cell = first(mine)
        mine = rest(mine)
        after = open & ~(_u64(1) << _u64(cell))
        my_ways, their_ways = after & board.knight[cell], theirs & after
        if trapped(my_ways, their_ways):
            continue
        value = THEIR_WAYS * count(their_ways) - MY_WAYS * count(my_ways)
        if attacks:
            value += THEIR_SPACE * count(spread(board, their_ways) & after)
            value -= MY_SPACE * count(spread(board, my_ways) & after)
        else:
            value -= DEFENDER_SPACE * count(spread(board, my_ways) & after)
        insert(state, ply, number, value * 64 + cell)
        number += 1
    answer = not attacks
    deferred = _u64(0)
    starting_search(state, open, mover, waiter, plies)
    for round in range(2):
        for i in range(_u64(number)):
            if answer == attacks or state.nodes >= board.limit:
                break
            cell = state.order[_u64(ply), i] & 63
            one = _u64(1) << _u64(cell)
            after = open & ~one
            ends = not attacks
            if left <= state.upper:
                if round == 0:
                    ways = after & board.knight[_u64(cell)]
                    ends = _lower(board, state, after, theirs & after, ways, plies - 1, ply + 1)
            elif round == 0 and i > _u64(0) and defer_move(state, after, waiter, cell, plies - 1):
                deferred |= one
            elif round == 0 or deferred & one != _u64(0):
                ends = _upper(board, state, after, waiter, cell, plies - 1, ply + 1, left - 1)
            if ends == attacks:
                answer = attacks
        if deferred == _u64(0):
            break
    finished_search(state, open, mover, waiter, plies)
    if state.nodes >= board.limit:
        return False
    known = probe(state, open, mover, waiter)
    store(state, open, mover, waiter, with_answer(known, plies, answer))
    return answer


@compiled(
    _i64(types.Array(GEOMETRY, 1, "C"), types.Array(STATE, 1, "C"), _u64, _i64, _i64, _i64),
)
def ends_within(boards: Any, states: Any, open: Bits, mover: int, waiter: int, plies: int) -> int:
    """Return whether the attacker (for odd `plies` the mover) can end the game within `plies`.

    1 is yes, 0 is no, −1 means that the node limit was reached first.
    """
    board, state = boards[0], states[0]
    mine, theirs = open & board.knight[mover], open & board.knight[waiter]
    attacks = plies & 1 != 0
    if mine == _u64(0):
        return _i64(not attacks)  # type: ignore[no-any-return]
    if plies == 0:
        return 0
    if trapped(theirs, mine):
        return _i64(attacks)  # type: ignore[no-any-return]
    if plies == 1:
        return 0
    left = count(open)
    if left >= state.upper:
        answer = _upper(board, state, open, mover, waiter, plies, 0, left)
    else:
        answer = _lower(board, state, open, mine, theirs, plies, 0)
    return -1 if state.nodes >= board.limit else _i64(answer)
