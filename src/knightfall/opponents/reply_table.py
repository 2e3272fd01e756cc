"""A table of the models' replies to positions, in which equal moves are equally likely.

Ties are broken by a seed, which is not known of a real opponent.  A plain alpha-beta search plays
the first of its best moves in a shuffled order, so each of the best is equally likely: one more
search of each other move tells whether it is equal to the best.  A search that orders moves by the
previous depth is repeated instead, with different seeds.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, moves
from knightfall.opponents.mcts_state import (
    MCTS,
    RECORDS,
    REPLY_TABLE,
    SURE,
    WAYS,
    Mcts,
    Records,
    may_go_on,
)
from knightfall.search.alphabeta import alphabeta_value
from knightfall.search.game_loop import search_for
from knightfall.search.search_state import PROVEN, SETTINGS, STATE, State, leaf, scramble

_u64, _i64 = types.uint64, types.int64

SHARE = 24
"""Total weight of one answer, divided among its equal moves (rounded down)."""

ALWAYS = 255
"""Count of answers that marks a distribution as exactly known."""

GOLDEN = 0x9E3779B97F4A7C15
_NEIGHBOURS = 8


@compiled(_u64(GEOMETRY, STATE, _u64, _i64, _i64))
def equal_moves(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> Bits:
    """Return the move that a plain search has just found, and all moves with an equal score.

    They are compared at the depth of that search, and the nodes are added to its count.
    """
    best, depth = state.score, state.depth
    left = moves(board, open, mover)
    if depth == 0:
        return left
    found = _u64(1) << _u64(state.move)
    left &= ~found
    state.horizon = depth
    # No move is better, so a tiny window below `best` separates equal moves from worse ones.
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
    """Return the move that one search of a model finds; −1 if out of budget.

    `SURE` is set in the result if the search has proven a win.
    """
    board, state, mcts = records.boards[0], records.states[0], records.mcts_states[0]
    if not may_go_on(mcts):
        return -1
    limit = player.limit
    enough = limit
    if count(open) > mcts.early_cells and player.entry != mcts.alphabeta:
        enough = min(limit, mcts.early_nodes)
    player.limit = min(enough, mcts.limit - mcts.spent)
    mcts.draws += _u64(1)
    player.seed = scramble(mcts.seed + mcts.draws * _u64(GOLDEN))
    mcts.generation += _u64(1)
    search_for(board, state, player, mcts.generation, open, mover, waiter)
    # The clock stops a search by changing its limit.
    stopped = board.limit != player.limit
    cut = stopped or (player.limit < enough and state.nodes >= player.limit)
    player.limit = limit
    mcts.spent += state.nodes
    if cut:
        return -1
    return state.move | (SURE if state.score >= PROVEN else 0)  # type: ignore[no-any-return]


@compiled(_i64(REPLY_TABLE, MCTS, _u64, _i64, _i64))
def place_for(table: Any, mcts: Mcts, open: Bits, mover: int, waiter: int) -> int:
    """Return the index of a position's row in the table; a new position gets a cleared row."""
    cells = mover * 64 + waiter
    word = scramble(open ^ (_u64(cells) << _u64(50)))
    size = _u64(len(table))
    begin = _i64(word % size)
    chosen = begin
    for step in range(_NEIGHBOURS):
        at = (begin + step) % len(table)
        entry = table[at]
        if entry.stamp != mcts.stamp:
            chosen = at
            break
        if entry.open == open and entry.cells == cells:
            return at  # type: ignore[no-any-return]
    entry = table[chosen]
    entry.open, entry.cells, entry.stamp = open, cells, mcts.stamp
    entry.sure = _u64(0)
    for player in range(len(entry.asked)):
        entry.asked[player] = 0
        for way in range(WAYS):
            entry.weights[player, way] = 0
    return chosen  # type: ignore[no-any-return]


@compiled(types.boolean(RECORDS, _i64, _i64, _u64, _i64, _i64))
def ask_once(records: Records, at: int, number: int, open: Bits, mover: int, waiter: int) -> bool:
    """Add one search of a model to row `at` of the table; return False if out of budget."""
    board, state, mcts = records.boards[0], records.states[0], records.mcts_states[0]
    if not may_go_on(mcts):
        return False
    entry, player = records.replies[at], records.players[number]
    limit, seed = player.limit, player.seed
    player.limit = min(limit, mcts.limit - mcts.spent)
    player.seed = scramble(seed + _u64(entry.asked[number]) * _u64(GOLDEN))
    mcts.generation += _u64(1)
    search_for(board, state, player, mcts.generation, open, mover, waiter)
    # The clock stops a search by changing its limit.
    stopped = board.limit != player.limit
    cut = stopped or (player.limit < limit and state.nodes >= player.limit)
    player.limit, player.seed = limit, seed
    if cut:
        mcts.spent += state.nodes
        return False
    always = player.entry == mcts.alphabeta
    plain = always or player.entry == mcts.plain_deepening
    equal = _u64(1) << _u64(state.move)
    if state.score >= PROVEN:
        entry.sure |= _u64(1) << _u64(number)
    if plain:
        board.limit = mcts.limit - mcts.spent
        equal = equal_moves(board, state, open, mover, waiter)
        cut = state.nodes >= board.limit
    mcts.spent += state.nodes
    if cut:
        return False
    left = moves(board, open, mover)
    way = 0
    while left != _u64(0):
        if (equal >> _u64(first(left))) & _u64(1) != _u64(0):
            entry.weights[number, way] += SHARE // count(equal)
        way += 1
        left = rest(left)
    # The depth that plain deepening reaches depends on the move order, so it is run several times.
    entry.asked[number] = ALWAYS if always else entry.asked[number] + 1
    return True


@compiled(types.void(REPLY_TABLE, types.Array(MCTS, 1, "C"), REPLY_TABLE))
def put_back(table: Any, mcts_states: Any, kept: Any) -> None:
    """Write replies that were kept from an earlier move back to the table."""
    for number in range(len(kept)):
        one = kept[number]
        at = place_for(table, mcts_states[0], one.open, one.cells // 64, one.cells % 64)
        entry = table[at]
        entry.sure = one.sure
        for player in range(len(one.asked)):
            entry.asked[player] = one.asked[player]
            for way in range(WAYS):
                entry.weights[player, way] = one.weights[player, way]
