"""A conditional logit that predicts the replies of opponents for which there is no model.

It is called the *stranger*.  A reply has a probability proportional to exp(w·f), where f are its
features: what heuristics count, whether well-known searches would choose it and, where the solver
is fast enough, whether it keeps the win and how many nodes that takes to see.  The weights w were
fitted to decisions of many agents (``knightfall learn chances``).  If few replies keep the win, the
normalisation accounts for it.

The second half draws a random reply of any model, the stranger included, and completes the table's
rows for several models.
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
    SURE,
    WAYS,
    Mcts,
    Records,
    may_go_on,
)
from knightfall.opponents.reply_table import ALWAYS, GOLDEN, ask_once, place_for
from knightfall.search.search_state import scramble
from knightfall.solver.winloss import who_wins

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

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
            state = records.solver_states[0]
            before = state.nodes
            allowed = min(mcts.settle_nodes, mcts.limit - mcts.spent)
            records.solver_boards[0].limit = before + allowed
            lets_go = who_wins(records.solver_boards, records.solver_states, after, waiter, cell)
            mcts.spent += state.nodes - before
            effort = math.log(1.0 + state.nodes - before) / 5.0
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
