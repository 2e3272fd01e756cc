"""The stranger: an opponent that is no model, whose replies are drawn from a conditional logit.

A reply is as likely as exp(w·f), where f is what can be said of it: what heuristics count, whether
well-known searches would choose it, and, where the solver can tell soon, whether it keeps the win
and how hard that is to see.  The weights w were fitted to decisions of many agents
(``knightfall learn chances``).  That few replies keep the win is in the sum by which exp(w·f) is
divided.

Then what any player replies in a trial, and what all of them would.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from knightfall.heuristics.reachability import nearness
from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, moves, spread
from knightfall.opponents.practice_state import (
    BOARDS,
    FEATURES,
    PRACTICE,
    SOLVER_STATES,
    STATES,
    SURE,
    WAYS,
    Practice,
    may_go_on,
)
from knightfall.opponents.replies import ALWAYS, GOLDEN, PLAYERS, REPLY_TABLE, ask_once, place_for
from knightfall.search.search_state import scramble
from knightfall.solver.winloss import who_wins

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

SHARES = 250
"""Probabilities are kept as so many parts of the whole."""

COUNTED = 8
"""Features that are counted on the board; after them come the judges."""


@compiled(types.void(GEOMETRY, PRACTICE, _i64, _u64, _i64, _i64))
def _count_up(
    board: Geometry, practice: Practice, way: int, open: Bits, cell: int, waiter: int
) -> None:
    """What can be counted after a reply to a cell, which is not open any more."""
    mine, theirs = moves(board, open, cell), moves(board, open, waiter)
    second, their_second = spread(board, mine) & open, spread(board, theirs) & open
    row = practice.features[way]
    row[0] = count(mine) / 4.0
    row[1] = count(theirs) / 4.0
    row[2] = count(second) / 8.0
    row[3] = count(their_second) / 8.0
    row[4] = (nearness(board, open, cell) - nearness(board, open, waiter)) / 4.0
    row[5] = count(mine & (theirs | their_second)) / 4.0
    across = 2 * board.column[cell] - board.width + 1
    down = 2 * board.row[cell] - board.height + 1
    row[6] = (across * across + down * down) / 40.0
    row[7] = 1.0 if (board.knight[_u64(waiter)] >> _u64(cell)) & _u64(1) != _u64(0) else 0.0


@compiled(
    types.boolean(
        *(BOARDS, STATES, BOARDS, SOLVER_STATES, PRACTICE, REPLY_TABLE, PLAYERS),
        *(_i64, _u64, _i64, _i64),
    )
)
def look_at(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    at: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> bool:
    """Write the features of all replies to `practice.features`; False if it was cut short."""
    entry, judges = table[at], len(practice.judges)
    for judge in range(judges):
        number = practice.judges[judge]
        if entry.asked[number] == 0 and not ask_once(
            boards, states, practice, table, players, at, number, open, mover, waiter
        ):
            return False
    share = count(open) / count(boards[0].every)
    left, way = moves(boards[0], open, mover), 0
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after = open & ~(_u64(1) << _u64(cell))
        _count_up(boards[0], practice, way, after, cell, waiter)
        row = practice.features[way]
        for judge in range(judges):
            chosen = entry.weights[practice.judges[judge], way] > 0
            row[COUNTED + judge] = 1.0 if chosen else 0.0
        lets_go, effort = -1, 0.0
        if count(open) <= practice.truth_cells:
            if not may_go_on(practice):
                return False
            state = solver_states[0]
            before = state.nodes
            solver_boards[0].limit = before + min(
                practice.settle_nodes, practice.limit - practice.spent
            )
            lets_go = who_wins(solver_boards, solver_states, after, waiter, cell)
            practice.spent += state.nodes - before
            effort = math.log(1.0 + state.nodes - before) / 5.0
        rest_at = COUNTED + judges
        row[rest_at] = 1.0 if lets_go == 1 else 0.0
        row[rest_at + 1] = effort if lets_go == 1 else 0.0
        row[rest_at + 2] = effort if lets_go == 0 else 0.0
        row[rest_at + 3] = share * row[COUNTED + 1]
        row[rest_at + 4] = share * row[COUNTED + judges - 1]
        way += 1
    return True


@compiled(types.void(PRACTICE, _i64))
def weigh_up(practice: Practice, ways: int) -> None:
    """Write how likely each reply is, by its features, to `practice.probabilities`."""
    best = -math.inf
    for way in range(ways):
        value = 0.0
        for feature in range(FEATURES):
            value += practice.habits[feature] * practice.features[way, feature]
        practice.probabilities[way] = value
        best = max(best, value)
    total = 0.0
    for way in range(ways):
        practice.probabilities[way] = math.exp(practice.probabilities[way] - best)
        total += practice.probabilities[way]
    for way in range(ways):
        practice.probabilities[way] /= total


@compiled(
    types.boolean(
        *(BOARDS, STATES, BOARDS, SOLVER_STATES, PRACTICE, REPLY_TABLE, PLAYERS),
        *(_i64, _u64, _i64, _i64),
    )
)
def ask_stranger(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    at: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> bool:
    """Ask the stranger about the position at a place of the table; False if it was cut short."""
    if not look_at(
        *(boards, states, solver_boards, solver_states),
        *(practice, table, players, at, open, mover, waiter),
    ):
        return False
    ways = count(moves(boards[0], open, mover))
    entry = table[at]
    weigh_up(practice, ways)
    for way in range(ways):
        entry.weights[practice.stranger, way] = _i64(SHARES * practice.probabilities[way] + 0.5)
    entry.asked[practice.stranger] = ALWAYS
    return True


# -- what any player replies --------------------------------------------------------------------


_u64, _i64 = types.uint64, types.int64
_WHERE = (BOARDS, STATES, BOARDS, SOLVER_STATES)


@compiled(
    types.boolean(*_WHERE, PRACTICE, REPLY_TABLE, PLAYERS, _i64, _i64, _u64, _i64, _i64),
)
def _ask(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    at: int,
    number: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> bool:
    """Ask a player, be it a search or the stranger; False if it was cut short."""
    if number == practice.stranger:
        return ask_stranger(
            *(boards, states, solver_boards, solver_states),
            *(practice, table, players, at, open, mover, waiter),
        )
    return ask_once(boards, states, practice, table, players, at, number, open, mover, waiter)


@compiled(_i64(*_WHERE, PRACTICE, REPLY_TABLE, PLAYERS, _i64, _u64, _i64, _i64))
def reply(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    number: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> int:
    """What a player moves to, drawn from what it may, with the flag `SURE`; −1 if cut short."""
    at = place_for(table, practice, open, mover, waiter)
    entry = table[at]
    if entry.asked[number] < practice.samples and not _ask(
        *(boards, states, solver_boards, solver_states),
        *(practice, table, players, at, number, open, mover, waiter),
    ):
        return -1
    total = 0
    for way in range(WAYS):
        total += entry.weights[number, way]
    practice.draws += _u64(1)
    word = scramble(practice.seed + practice.draws * _u64(GOLDEN))
    lot = _i64(word % _u64(total))
    left = moves(boards[0], open, mover)
    for way in range(WAYS):
        lot -= _i64(entry.weights[number, way])
        if lot < 0:
            break
        left = rest(left)
    flag = SURE if (entry.sure >> _u64(number)) & _u64(1) != _u64(0) else 0
    return first(left) | flag


@compiled(
    _i64(
        *(*_WHERE, types.Array(PRACTICE, 1, "C"), REPLY_TABLE, PLAYERS),
        *(types.Array(types.boolean, 1, "C"), _u64, _i64, _i64),
    )
)
def ask_about(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practices: Any,
    table: Any,
    players: Any,
    whom: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> int:
    """Ask some players about a position until all is known of them; its place in the table."""
    practice = practices[0]
    at = place_for(table, practice, open, mover, waiter)
    for number in range(len(whom)):
        while whom[number] and table[at].asked[number] < practice.samples:
            if not _ask(
                *(boards, states, solver_boards, solver_states),
                *(practice, table, players, at, number, open, mover, waiter),
            ):
                return at
    return at
