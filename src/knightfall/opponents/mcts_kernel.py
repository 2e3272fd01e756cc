"""Monte-Carlo tree search against models of the opponent.

Each trial draws one opponent (a model or the stranger) and plays it down the tree: our own moves
are chosen by the results of earlier trials, replies are the model's.  A node is reached only by
opponents that reply in this way, so its statistics are about them.  At the end of the tree a
playout begins, in which a search of our own moves for us.

A reply is drawn again in each trial from all moves that are equal for the model.  If ties were
always broken in the same way, the tree would learn a tie-breaking that a real opponent does not
have.

A trial is won as soon as the solver finds that the opponent has lost its win, and lost as soon as
the opponent's search has proven its win.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, moves, spread
from knightfall.opponents.mcts_state import (
    NODE,
    OPEN,
    RECORDS,
    SURE,
    WAYS,
    WON,
    Node,
    Records,
    lost_value,
    may_go_on,
    solver_finds_win,
)
from knightfall.opponents.reply_logit import reply
from knightfall.opponents.reply_table import one_reply
from knightfall.search.search_state import SETTINGS

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_tree = types.Array(NODE, 1, "C")
_numbers = types.Array(_i64, 1, "C")

CUT = -1.0
"""Value of a trial that was cut short."""


@compiled(types.void(GEOMETRY, NODE, _u64, _i64, _i64))
def _init_node(board: Geometry, node: Node, open: Bits, me: int, opp: int) -> None:
    """Initialise a node for a position; moves that leave the opponent fewest moves come first."""
    node.open, node.me, node.opp = open, me, opp
    values = [0 for _ in range(WAYS)]
    number = 0
    left = moves(board, open, me)
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after = open & ~(_u64(1) << _u64(cell))
        mine, theirs = moves(board, after, cell), moves(board, after, opp)
        value = 8 * count(theirs) - 4 * count(mine)
        value += 2 * (count(spread(board, theirs) & after) - count(spread(board, mine) & after))
        at = number
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            node.cells[at] = node.cells[at - 1]
            at -= 1
        values[at] = value
        node.cells[at] = cell
        number += 1
    node.number = number
    node.state = OPEN
    node.visits = 0
    for move in range(WAYS):
        node.tries[move] = 0
        node.total[move] = 0.0
        for way in range(WAYS):
            node.child[move, way] = 0


@compiled(_i64(NODE, _f64))
def _select_move(node: Node, explore: float) -> int:
    """Return the index of the move to try: the best by mean value plus exploration.

    A move that was never tried gets the mean value of the node: there are too few trials to try
    every move of every node.
    """
    total = 0.5
    for move in range(node.number):
        total += node.total[move]
    usual = total / (node.visits + 1)
    curious = explore * math.sqrt(node.visits + 1) / node.number
    best, chosen = -1.0, 0
    for move in range(node.number):
        tries = node.tries[move]
        value = node.total[move] / tries if tries > 0 else usual
        value += curious / (1 + tries)
        if value > best:
            best, chosen = value, move
    return chosen


@compiled(_f64(RECORDS, SETTINGS, SETTINGS, _u64, _i64, _i64))
def _playout(records: Records, own: Any, opponent: Any, open: Bits, me: int, opp: int) -> float:
    """Return the value of a playout, with us to move in a position not known to be won."""
    board, mcts = records.boards[0], records.mcts_states[0]
    while moves(board, open, me) != _u64(0):
        cell = one_reply(records, own, open, me, opp)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            return 1.0
        me = cell
        open &= ~(_u64(1) << _u64(me))
        if moves(board, open, opp) == _u64(0):
            return 1.0
        cell = one_reply(records, opponent, open, opp, me)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            break
        opp = cell
        open &= ~(_u64(1) << _u64(opp))
        if solver_finds_win(records, mcts.settle_late, open, me, opp):
            return 1.0
    return lost_value(board, open)


@compiled(_f64(RECORDS, _tree, _i64))
def _trial(records: Records, tree: Any, model: int) -> float:
    """Play one trial against a model; return its value, and leave its path in `mcts`."""
    board, mcts, players = records.boards[0], records.mcts_states[0], records.players
    at = 0
    mcts.length = 0
    while True:
        node = tree[at]
        if node.state == WON:
            return 1.0
        if node.number == 0:
            return lost_value(board, node.open)
        move = _select_move(node, mcts.explore)
        mcts.nodes[mcts.length] = at
        mcts.moves[mcts.length] = move
        mcts.length += 1
        me, opp = _i64(node.cells[move]), node.opp
        open = node.open & ~(_u64(1) << _u64(me))
        theirs = moves(board, open, opp)
        if theirs == _u64(0):
            return 1.0
        cell = reply(records, model, open, opp, me)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            return lost_value(board, open)
        way = count(theirs & ((_u64(1) << _u64(cell)) - _u64(1)))
        opp = cell
        open &= ~(_u64(1) << _u64(opp))
        at = _i64(node.child[move, way])
        if at != 0:
            continue
        # The stranger is not a search, so in playouts one of its judges plays in its place.
        judge = mcts.trials % len(mcts.judges)
        stand_in = model if model < mcts.stranger else mcts.judges[judge]
        won = solver_finds_win(records, mcts.settle_cells, open, me, opp)
        if mcts.used < len(tree):
            at = mcts.used
            mcts.used += 1
            node.child[move, way] = at
            _init_node(board, tree[at], open, me, opp)
            tree[at].state = WON if won else OPEN
        if won:
            return 1.0
        own = players[len(players) - 1]
        return _playout(records, own, players[stand_in], open, me, opp)


@compiled(types.void(RECORDS, _tree, _numbers, _u64, _i64, _i64))
def run_trials(
    records: Records, tree: Any, order: Any, open: Bits, mover: int, waiter: int
) -> None:
    """Play trials against the models of `order`, in turn, until a limit is reached.

    ``tree[0]`` then has the number of trials of each move, and the sum of their values.  The nodes
    of all searches count towards the limit.
    """
    mcts = records.mcts_states[0]
    if mcts.used == 0:
        _init_node(records.boards[0], tree[0], open, mover, waiter)
        mcts.used = 1
    idle = 0
    while mcts.trials < mcts.most_trials and idle < mcts.enough_idle and may_go_on(mcts):
        before = mcts.spent
        model = order[mcts.trials % len(order)]
        value = _trial(records, tree, model)
        if value == CUT:
            return
        mcts.trials += 1
        idle = idle + 1 if mcts.spent == before else 0
        for step in range(mcts.length):
            node = tree[mcts.nodes[step]]
            move = mcts.moves[step]
            node.visits += 1
            node.tries[move] += 1
            node.total[move] += value
