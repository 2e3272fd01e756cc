"""How players reply: a table of what each would do in a position, with how many moves are equal.

Ties are broken by seeds that nobody knows.  For a plain alpha-beta search the first of the best
moves in a shuffled order is the answer, so each of the best is as likely as any other: one more
look, move by move, whether it is as good as the answer tells them all.  A search that goes by the
order of its last depth is asked several times, with other seeds.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, moves
from knightfall.opponents.practice_state import (
    PRACTICE,
    RECORDS,
    REPLY_TABLE,
    SURE,
    WAYS,
    Practice,
    Records,
    may_go_on,
)
from knightfall.search.alphabeta import alphabeta_value
from knightfall.search.game_loop import search_for
from knightfall.search.search_state import PROVEN, SETTINGS, STATE, State, leaf, scramble

_u64, _i64 = types.uint64, types.int64

SHARE = 24
"""What the equal moves of one answer weigh together, more or less."""

ALWAYS = 255
"""Asked so often: nothing more can be learned."""

GOLDEN = 0x9E3779B97F4A7C15
_NEIGHBOURS = 8


@compiled(_u64(GEOMETRY, STATE, _u64, _i64, _i64))
def equal_moves(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> Bits:
    """All moves that are as good as the one that a plain search has just found, that one included.

    At the depth that counted; the search's count of nodes goes on.
    """
    best, depth = state.score, state.depth
    left = moves(board, open, mover)
    if depth == 0:
        return left
    found = _u64(1) << _u64(state.move)
    left &= ~found
    state.horizon = depth
    # Nothing is better: so in a window of a hair below it a move is either equal or worse.
    floor = best - (1e-9 + abs(best) * 3e-16)
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        one = _u64(1) << _u64(cell)
        if depth == 1:
            value = -leaf(board, state, open & ~one, waiter, cell, 1)
        else:
            value = -alphabeta_value(board, state, open & ~one, waiter, cell, 1, -best, -floor)
        if value >= best:
            found |= one
    return found  # type: ignore[no-any-return]


@compiled(_i64(RECORDS, SETTINGS, _u64, _i64, _i64))
def one_reply(records: Records, player: Any, open: Bits, mover: int, waiter: int) -> int:
    """What a search answers by some seed, with the flag `SURE`; −1 if it was cut short."""
    board, state, practice = records.boards[0], records.states[0], records.practices[0]
    if not may_go_on(practice):
        return -1
    limit = player.limit
    enough = limit
    if count(open) > practice.early_cells and player.entry != practice.alphabeta:
        enough = min(limit, practice.early_nodes)
    player.limit = min(enough, practice.limit - practice.spent)
    practice.draws += _u64(1)
    player.seed = scramble(practice.seed + practice.draws * _u64(GOLDEN))
    practice.generation += _u64(1)
    search_for(board, state, player, practice.generation, open, mover, waiter)
    # The clock, too, stops a search by its limit.
    stopped = board.limit != player.limit
    cut = stopped or (player.limit < enough and state.nodes >= player.limit)
    player.limit = limit
    practice.spent += state.nodes
    if cut:
        return -1
    return state.move | (SURE if state.score >= PROVEN else 0)  # type: ignore[no-any-return]


@compiled(_i64(REPLY_TABLE, PRACTICE, _u64, _i64, _i64))
def place_for(table: Any, practice: Practice, open: Bits, mover: int, waiter: int) -> int:
    """Where in the table a position is, made ready if it was not there."""
    cells = mover * 64 + waiter
    word = scramble(open ^ (_u64(cells) << _u64(50)))
    size = _u64(len(table))
    begin = _i64(word % size)
    chosen = begin
    for step in range(_NEIGHBOURS):
        at = (begin + step) % len(table)
        entry = table[at]
        if entry.stamp != practice.stamp:
            chosen = at
            break
        if entry.open == open and entry.cells == cells:
            return at  # type: ignore[no-any-return]
    entry = table[chosen]
    entry.open, entry.cells, entry.stamp = open, cells, practice.stamp
    entry.sure = _u64(0)
    for player in range(len(entry.asked)):
        entry.asked[player] = 0
        for way in range(WAYS):
            entry.weights[player, way] = 0
    return chosen  # type: ignore[no-any-return]


@compiled(types.boolean(RECORDS, _i64, _i64, _u64, _i64, _i64))
def ask_once(records: Records, at: int, number: int, open: Bits, mover: int, waiter: int) -> bool:
    """Ask a player about the position at a place of the table; False if it was cut short."""
    board, state, practice = records.boards[0], records.states[0], records.practices[0]
    if not may_go_on(practice):
        return False
    entry, player = records.replies[at], records.players[number]
    limit, seed = player.limit, player.seed
    player.limit = min(limit, practice.limit - practice.spent)
    player.seed = scramble(seed + _u64(entry.asked[number]) * _u64(GOLDEN))
    practice.generation += _u64(1)
    search_for(board, state, player, practice.generation, open, mover, waiter)
    # The clock, too, stops a search by its limit.
    stopped = board.limit != player.limit
    cut = stopped or (player.limit < limit and state.nodes >= player.limit)
    player.limit, player.seed = limit, seed
    if cut:
        practice.spent += state.nodes
        return False
    always = player.entry == practice.alphabeta
    plain = always or player.entry == practice.plain_deepening
    equal = _u64(1) << _u64(state.move)
    if state.score >= PROVEN:
        entry.sure |= _u64(1) << _u64(number)
    if plain:
        board.limit = practice.limit - practice.spent
        equal = equal_moves(board, state, open, mover, waiter)
        cut = state.nodes >= board.limit
    practice.spent += state.nodes
    if cut:
        return False
    left = moves(board, open, mover)
    way = 0
    while left != _u64(0):
        if (equal >> _u64(first(left))) & _u64(1) != _u64(0):
            entry.weights[number, way] += SHARE // count(equal)
        way += 1
        left = rest(left)
    # How deep a plain search gets in its nodes depends on the order, too.
    entry.asked[number] = ALWAYS if always else entry.asked[number] + 1
    return True


@compiled(types.void(REPLY_TABLE, types.Array(PRACTICE, 1, "C"), REPLY_TABLE))
def put_back(table: Any, practices: Any, kept: Any) -> None:
    """Write replies that were kept to the table."""
    for number in range(len(kept)):
        one = kept[number]
        at = place_for(table, practices[0], one.open, one.cells // 64, one.cells % 64)
        entry = table[at]
        entry.sure = one.sure
        for player in range(len(one.asked)):
            entry.asked[player] = one.asked[player]
            for way in range(WAYS):
                entry.weights[player, way] = one.weights[player, way]
