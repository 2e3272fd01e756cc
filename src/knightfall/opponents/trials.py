"""How often would opponents go wrong?  Games against models of them, from a tree of own moves.

Each trial picks one opponent (a model or the stranger) and plays it down the tree: own moves are
chosen by what earlier trials came to, replies are the model's.  As only those opponents come to a
node that would have replied as they did, what a node has counted is about them.  Where the tree
ends, the rest is played out with a search of one's own.

Replies are drawn at every step anew from all that are equal for the model.  Were ties always broken
the same way, the tree would learn by heart how, which nobody can know of a real opponent.

A trial is won as soon as the solver says that the opponent has let go of its win: what comes
after that is known.  It is lost as soon as the opponent sees its win to the end.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry, moves, spread
from knightfall.opponents.practice_state import (
    NODE,
    OPEN,
    RECORDS,
    SURE,
    WAYS,
    WON,
    Node,
    Records,
    lost,
    may_go_on,
    wins,
)
from knightfall.opponents.replies import one_reply
from knightfall.opponents.reply_logit import reply
from knightfall.search.search_state import SETTINGS

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_tree = types.Array(NODE, 1, "C")
_numbers = types.Array(_i64, 1, "C")

CUT = -1.0
"""The value of a trial that was cut short."""


@compiled(types.void(GEOMETRY, NODE, _u64, _i64, _i64))
def _begin(board: Geometry, node: Node, open: Bits, me: int, opp: int) -> None:
    """Make a blank node of a position; the moves that leave the opponent least come first."""
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
def _most_promising(node: Node, explore: float) -> int:
    """The number of the move to try: by what it came to so far, and by curiosity.

    A move that was never tried is taken for as good as the whole node: there are too few trials to
    try every move of every node.
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
def _played_out(
    records: Records, oneself: Any, opponent: Any, open: Bits, me: int, opp: int
) -> float:
    """What a game comes to that is lost so far; oneself is to move."""
    board, practice = records.boards[0], records.practices[0]
    while moves(board, open, me) != _u64(0):
        cell = one_reply(records, oneself, open, me, opp)
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
        if wins(records, practice.settle_late, open, me, opp):
            return 1.0
    return lost(board, open)


@compiled(_f64(RECORDS, _tree, _i64))
def _trial(records: Records, tree: Any, model: int) -> float:
    """Play once against one model; the way down the tree is left in its practice."""
    board, practice, players = records.boards[0], records.practices[0], records.players
    at = 0
    practice.length = 0
    while True:
        node = tree[at]
        if node.state == WON:
            return 1.0
        if node.number == 0:
            return lost(board, node.open)
        move = _most_promising(node, practice.explore)
        practice.nodes[practice.length] = at
        practice.moves[practice.length] = move
        practice.length += 1
        me, opp = _i64(node.cells[move]), node.opp
        open = node.open & ~(_u64(1) << _u64(me))
        theirs = moves(board, open, opp)
        if theirs == _u64(0):
            return 1.0
        cell = reply(records, model, open, opp, me)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            return lost(board, open)
        way = count(theirs & ((_u64(1) << _u64(cell)) - _u64(1)))
        opp = cell
        open &= ~(_u64(1) << _u64(opp))
        at = _i64(node.child[move, way])
        if at != 0:
            continue
        # The stranger is no search: where the tree ends, one of its judges plays for it.
        judge = practice.trials % len(practice.judges)
        stand_in = model if model < practice.stranger else practice.judges[judge]
        won = wins(records, practice.settle_cells, open, me, opp)
        if practice.used < len(tree):
            at = practice.used
            practice.used += 1
            node.child[move, way] = at
            _begin(board, tree[at], open, me, opp)
            tree[at].state = WON if won else OPEN
        if won:
            return 1.0
        oneself = players[len(players) - 1]
        return _played_out(records, oneself, players[stand_in], open, me, opp)


@compiled(types.void(RECORDS, _tree, _numbers, _u64, _i64, _i64))
def practise(records: Records, tree: Any, order: Any, open: Bits, mover: int, waiter: int) -> None:
    """Try a position against models, in that order again and again, until told to stop.

    ``tree[0]`` is left with how often each move was tried and what came of it.  All nodes of all
    searches count.
    """
    practice = records.practices[0]
    if practice.used == 0:
        _begin(records.boards[0], tree[0], open, mover, waiter)
        practice.used = 1
    idle = 0
    while (
        practice.trials < practice.most_trials
        and idle < practice.enough_idle
        and may_go_on(practice)
    ):
        before = practice.spent
        model = order[practice.trials % len(order)]
        value = _trial(records, tree, model)
        if value == CUT:
            return
        practice.trials += 1
        idle = idle + 1 if practice.spent == before else 0
        for step in range(practice.length):
            node = tree[practice.nodes[step]]
            move = practice.moves[step]
            node.visits += 1
            node.tries[move] += 1
            node.total[move] += value
