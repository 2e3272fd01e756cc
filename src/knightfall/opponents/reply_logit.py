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
    FEATURES,
    PRACTICE,
    RECORDS,
    SURE,
    WAYS,
    Practice,
    Records,
    may_go_on,
)
from knightfall.opponents.replies import ALWAYS, GOLDEN, ask_once, place_for
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


@compiled(types.boolean(RECORDS, _i64, _u64, _i64, _i64))
def look_at(records: Records, at: int, open: Bits, mover: int, waiter: int) -> bool:
    """Write the features of all replies to `practice.features`; False if it was cut short."""
    board, practice, entry = records.boards[0], records.practices[0], records.replies[at]
    judges = len(practice.judges)
    for judge in range(judges):
        number = practice.judges[judge]
        if entry.asked[number] == 0 and not ask_once(records, at, number, open, mover, waiter):
            return False
    share = count(open) / count(board.every)
    left, way = moves(board, open, mover), 0
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after = open & ~(_u64(1) << _u64(cell))
        _count_up(board, practice, way, after, cell, waiter)
        row = practice.features[way]
        for judge in range(judges):
            chosen = entry.weights[practice.judges[judge], way] > 0
            row[COUNTED + judge] = 1.0 if chosen else 0.0
        lets_go, effort = -1, 0.0
        if count(open) <= practice.truth_cells:
            if not may_go_on(practice):
                return False
            state = records.solver_states[0]
            before = state.nodes
            allowed = min(practice.settle_nodes, practice.limit - practice.spent)
            records.solver_boards[0].limit = before + allowed
            lets_go = who_wins(records.solver_boards, records.solver_states, after, waiter, cell)
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


@compiled(types.boolean(RECORDS, _i64, _u64, _i64, _i64))
def ask_stranger(records: Records, at: int, open: Bits, mover: int, waiter: int) -> bool:
    """Ask the stranger about the position at a place of the table; False if it was cut short."""
    if not look_at(records, at, open, mover, waiter):
        return False
    practice, entry = records.practices[0], records.replies[at]
    ways = count(moves(records.boards[0], open, mover))
    weigh_up(practice, ways)
    for way in range(ways):
        entry.weights[practice.stranger, way] = _i64(SHARES * practice.probabilities[way] + 0.5)
    entry.asked[practice.stranger] = ALWAYS
    return True


# -- what any player replies --------------------------------------------------------------------


@compiled(types.boolean(RECORDS, _i64, _i64, _u64, _i64, _i64))
def _ask(records: Records, at: int, number: int, open: Bits, mover: int, waiter: int) -> bool:
    """Ask a player, be it a search or the stranger; False if it was cut short."""
    if number == records.practices[0].stranger:
        return ask_stranger(records, at, open, mover, waiter)
    return ask_once(records, at, number, open, mover, waiter)


@compiled(_i64(RECORDS, _i64, _u64, _i64, _i64))
def reply(records: Records, number: int, open: Bits, mover: int, waiter: int) -> int:
    """What a player moves to, drawn from what it may, with the flag `SURE`; −1 if cut short."""
    practice = records.practices[0]
    at = place_for(records.replies, practice, open, mover, waiter)
    entry = records.replies[at]
    if entry.asked[number] < practice.samples and not _ask(
        records, at, number, open, mover, waiter
    ):
        return -1
    total = 0
    for way in range(WAYS):
        total += entry.weights[number, way]
    practice.draws += _u64(1)
    word = scramble(practice.seed + practice.draws * _u64(GOLDEN))
    lot = _i64(word % _u64(total))
    left = moves(records.boards[0], open, mover)
    for way in range(WAYS):
        lot -= _i64(entry.weights[number, way])
        if lot < 0:
            break
        left = rest(left)
    flag = SURE if (entry.sure >> _u64(number)) & _u64(1) != _u64(0) else 0
    return first(left) | flag


@compiled(_i64(RECORDS, types.Array(types.boolean, 1, "C"), _u64, _i64, _i64))
def ask_about(records: Records, whom: Any, open: Bits, mover: int, waiter: int) -> int:
    """Ask some players about a position until all is known of them; its place in the table."""
    practice = records.practices[0]
    at = place_for(records.replies, practice, open, mover, waiter)
    for number in range(len(whom)):
        while whom[number] and records.replies[at].asked[number] < practice.samples:
            if not _ask(records, at, number, open, mover, waiter):
                return at
    return at
