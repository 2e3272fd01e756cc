"""The replies of opponent models to a position, in a table.

In the table equal moves are equally likely: ties are broken by a seed, which is not known of a real
opponent.  A plain alpha-beta search plays the first of its best moves in a shuffled order, so each
of the best is equally likely: one more search of each other move tells whether it is equal to the
best.  A search that orders moves by the previous depth is repeated instead, with different seeds.

The *stranger* stands for opponents for which there is no model.  It is a conditional logit: a reply
has a probability proportional to exp(w·f), where f are its features: what heuristics count, whether
well-known searches would choose it and, where the solver is fast enough, whether it keeps the win
and how many nodes that takes to see.  The weights w were fitted to decisions of many agents
(``knightfall learn chances``).  If few replies keep the win, the normalisation accounts for it.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from knightfall.heuristics.reachability import nearness
from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, moves, spread
from knightfall.opponents.mcts_state import (
    FEATURES,
    MCTS,
    RECORDS,
    REPLY_TABLE,
    SURE,
    WAYS,
    Mcts,
    Records,
    ask_solver,
    may_go_on,
)
from knightfall.search.alphabeta import alphabeta_value
from knightfall.search.game_loop import search_for
from knightfall.search.search_state import PROVEN, SETTINGS, STATE, State, leaf, scramble

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

# -- searches, and the table --------------------------------------------------------------------


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


@compiled(types.boolean(RECORDS, SETTINGS, _i64, _u64, _u64, _i64, _i64))
def _search(
    records: Records, player: Any, most: int, seed: int, open: Bits, mover: int, waiter: int
) -> bool:
    """Run a model's search of at most `most` nodes; return False if the budget ended it."""
    board, state, mcts = records.boards[0], records.states[0], records.mcts_states[0]
    limit = player.limit
    player.limit = min(most, mcts.limit - mcts.spent)
    player.seed = scramble(seed)
    mcts.generation += _u64(1)
    search_for(board, state, player, mcts.generation, open, mover, waiter)
    # The clock stops a search by changing its limit.
    stopped = board.limit != player.limit
    cut = stopped or (player.limit < most and state.nodes >= player.limit)
    player.limit = limit
    return not cut


@compiled(_i64(RECORDS, SETTINGS, _u64, _i64, _i64))
def one_reply(records: Records, player: Any, open: Bits, mover: int, waiter: int) -> int:
    """Return the move that one search of a model finds; −1 if out of budget.

    `SURE` is set in the result if the search has proven a win.
    """
    state, mcts = records.states[0], records.mcts_states[0]
    if not may_go_on(mcts):
        return -1
    enough = player.limit
    if count(open) > mcts.early_cells and player.entry != mcts.alphabeta:
        enough = min(enough, mcts.early_nodes)
    mcts.draws += _u64(1)
    seed = mcts.seed + mcts.draws * _u64(GOLDEN)
    done = _search(records, player, enough, seed, open, mover, waiter)
    mcts.spent += state.nodes
    if not done:
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
    seed = player.seed
    word = seed + _u64(entry.asked[number]) * _u64(GOLDEN)
    done = _search(records, player, player.limit, word, open, mover, waiter)
    player.seed = seed
    always = player.entry == mcts.alphabeta
    equal = _u64(1) << _u64(state.move)
    if done and state.score >= PROVEN:
        entry.sure |= _u64(1) << _u64(number)
    if done and (always or player.entry == mcts.plain_deepening):
        board.limit = mcts.limit - mcts.spent
        equal = equal_moves(board, state, open, mover, waiter)
        done = state.nodes < board.limit
    mcts.spent += state.nodes
    if not done:
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


# -- the stranger -------------------------------------------------------------------------------


SHARES = 250
"""Resolution of a probability: it is stored as a multiple of 1/250."""

COUNTED = 8
"""Number of features that are counted on the board; the choices of searches (`judges`) follow."""


@compiled(types.void(GEOMETRY, MCTS, _i64, _u64, _i64, _i64))
def _count_features(
    board: Geometry, mcts: Mcts, way: int, open: Bits, cell: int, waiter: int
) -> None:
    """Write the board-counting features of a move to `cell`, which `open` no longer contains."""
    mine, theirs = moves(board, open, cell), moves(board, open, waiter)
    second, their_second = spread(board, mine) & open, spread(board, theirs) & open
    row = mcts.features[way]
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
def compute_features(records: Records, at: int, open: Bits, mover: int, waiter: int) -> bool:
    """Store the features of all legal replies in `mcts.features`; return False if out of budget."""
    board, mcts, entry = records.boards[0], records.mcts_states[0], records.replies[at]
    judges = len(mcts.judges)
    for judge in range(judges):
        number = mcts.judges[judge]
        if entry.asked[number] == 0 and not ask_once(records, at, number, open, mover, waiter):
            return False
    share = count(open) / count(board.every)
    left, way = moves(board, open, mover), 0
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after = open & ~(_u64(1) << _u64(cell))
        _count_features(board, mcts, way, after, cell, waiter)
        row = mcts.features[way]
        for judge in range(judges):
            chosen = entry.weights[mcts.judges[judge], way] > 0
            row[COUNTED + judge] = 1.0 if chosen else 0.0
        lets_go, effort = -1, 0.0
        if count(open) <= mcts.truth_cells:
            if not may_go_on(mcts):
                return False
            before = mcts.spent
            lets_go = ask_solver(records, after, waiter, cell)
            effort = math.log(1.0 + mcts.spent - before) / 5.0
        rest_at = COUNTED + judges
        row[rest_at] = 1.0 if lets_go == 1 else 0.0
        row[rest_at + 1] = effort if lets_go == 1 else 0.0
        row[rest_at + 2] = effort if lets_go == 0 else 0.0
        row[rest_at + 3] = share * row[COUNTED + 1]
        row[rest_at + 4] = share * row[COUNTED + judges - 1]
        way += 1
    return True


@compiled(types.void(MCTS, _i64))
def compute_probabilities(mcts: Mcts, ways: int) -> None:
    """Compute each reply's probability from its features, and store it in `mcts.probabilities`."""
    best = -math.inf
    for way in range(ways):
        value = 0.0
        for feature in range(FEATURES):
            value += mcts.logit_weights[feature] * mcts.features[way, feature]
        mcts.probabilities[way] = value
        best = max(best, value)
    total = 0.0
    for way in range(ways):
        mcts.probabilities[way] = math.exp(mcts.probabilities[way] - best)
        total += mcts.probabilities[way]
    for way in range(ways):
        mcts.probabilities[way] /= total


@compiled(types.boolean(RECORDS, _i64, _u64, _i64, _i64))
def ask_stranger(records: Records, at: int, open: Bits, mover: int, waiter: int) -> bool:
    """Write the logit's probabilities to row `at` of the table; return False if out of budget."""
    if not compute_features(records, at, open, mover, waiter):
        return False
    mcts, entry = records.mcts_states[0], records.replies[at]
    ways = count(moves(records.boards[0], open, mover))
    compute_probabilities(mcts, ways)
    for way in range(ways):
        entry.weights[mcts.stranger, way] = _i64(SHARES * mcts.probabilities[way] + 0.5)
    entry.asked[mcts.stranger] = ALWAYS
    return True


# -- the replies of all models ------------------------------------------------------------------


@compiled(types.boolean(RECORDS, _i64, _i64, _u64, _i64, _i64))
def _ask(records: Records, at: int, number: int, open: Bits, mover: int, waiter: int) -> bool:
    """Add replies of a model to row `at` of the table; return False if out of budget.

    `number` is the model's index, that of the stranger included.
    """
    if number == records.mcts_states[0].stranger:
        return ask_stranger(records, at, open, mover, waiter)
    return ask_once(records, at, number, open, mover, waiter)


@compiled(_i64(RECORDS, _i64, _u64, _i64, _i64))
def reply(records: Records, number: int, open: Bits, mover: int, waiter: int) -> int:
    """Return a random reply of a model; −1 if out of budget.

    `SURE` is set in the result if a search of the model has proven a win.
    """
    mcts = records.mcts_states[0]
    at = place_for(records.replies, mcts, open, mover, waiter)
    entry = records.replies[at]
    if entry.asked[number] < mcts.samples and not _ask(records, at, number, open, mover, waiter):
        return -1
    total = 0
    for way in range(WAYS):
        total += entry.weights[number, way]
    mcts.draws += _u64(1)
    word = scramble(mcts.seed + mcts.draws * _u64(GOLDEN))
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
def ask_about(records: Records, mask: Any, open: Bits, mover: int, waiter: int) -> int:
    """Complete a position's row of the table for the models in `mask`; return the row's index.

    Replies are still missing if the budget ran out.
    """
    mcts = records.mcts_states[0]
    at = place_for(records.replies, mcts, open, mover, waiter)
    for number in range(len(mask)):
        while mask[number] and records.replies[at].asked[number] < mcts.samples:
            if not _ask(records, at, number, open, mover, waiter):
                return at
    return at
