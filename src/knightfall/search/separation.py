"""Separation: if the knights can no longer meet, the game becomes two independent solitaires.

If no cell can be reached by both knights, neither player can affect the other's moves.  Then the
side to move wins if and only if its longest path is strictly longer than the other's, and the game
lasts as long as the loser's longest path.
"""

from __future__ import annotations

from numba import types

from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, path_bound, reach, spread, tightest
from knightfall.search.search_state import STATE, State

_u64, _i64 = types.uint64, types.int64

GAVE_UP = -1
UNSETTLED = 1000
STEPS = 4000
"""Steps of one path search after which the position is left to the ordinary search."""


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64))
def separated(board: Geometry, open: Bits, one: int, other: int) -> bool:
    """Return whether no open cell can be reached by both knights.

    Both flood fills grow in turn and stop as soon as they meet, which early in a game is at once.
    """
    ours = edge = open & board.knight[one]
    theirs = brink = open & board.knight[other]
    while ours & theirs == _u64(0):
        # A flood that cannot grow is complete, and the other can never enter it.
        if edge == _u64(0) or brink == _u64(0):
            return True
        edge = spread(board, edge) & open & ~ours
        ours |= edge
        brink = spread(board, brink) & open & ~theirs
        theirs |= brink
    return False


@compiled(_i64(GEOMETRY, STATE, _u64, _i64, _i64, _i64))
def _walk(board: Geometry, state: State, open: Bits, cell: int, goal: int, stop_at: int) -> int:
    """Return the length of the longest path from a cell, or of any path of at least `goal` steps.

    Return GAVE_UP when `state.nodes` reaches `stop_at`.
    """
    left = open & board.knight[cell]
    if left == _u64(0):
        return 0
    goal = min(goal, path_bound(board, reach(board, open, cell), cell))
    best = 0
    while left != _u64(0):
        chosen = tightest(board, open, left)
        chosen_bit = _u64(1) << _u64(chosen)
        left &= ~chosen_bit
        if state.nodes >= stop_at or state.nodes >= board.limit:
            return GAVE_UP
        state.nodes += 1
        length = _walk(board, state, open & ~chosen_bit, chosen, goal - 1, stop_at)
        if length == GAVE_UP:
            return GAVE_UP
        best = max(best, length + 1)
        if best >= goal:
            break
    return best


@compiled(_i64(GEOMETRY, STATE, _u64, _i64, _i64))
def longest_path(board: Geometry, state: State, open: Bits, cell: int, goal: int) -> int:
    """Return the length of a knight's longest path, or that of any path of at least `goal` steps.

    Every step counts as a node.  Return GAVE_UP after `STEPS` steps.
    """
    return _walk(board, state, open, cell, goal, state.nodes + STEPS)


@compiled(_i64(GEOMETRY, STATE, _u64, _i64, _i64))
def solitaires(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> int:
    """Return the result of a separated position, or UNSETTLED if the path searches gave up.

    n > 0: the mover wins in n plies.  n ≤ 0: the mover loses in −n plies.
    The loser walks its longest path and the winner always has a step more, so the longer path need
    not be measured to its end: the knight with less room is measured first.
    """
    my_room, their_room = reach(board, open, mover), reach(board, open, waiter)
    if path_bound(board, my_room, mover) <= path_bound(board, their_room, waiter):
        mine = longest_path(board, state, open, mover, board.cells)
        if mine == GAVE_UP:
            return UNSETTLED
        theirs = longest_path(board, state, open, waiter, mine)
    else:
        theirs = longest_path(board, state, open, waiter, board.cells)
        if theirs == GAVE_UP:
            return UNSETTLED
        mine = longest_path(board, state, open, mover, theirs + 1)
    if mine == GAVE_UP or theirs == GAVE_UP:
        return UNSETTLED
    return 2 * theirs + 1 if mine > theirs else -2 * mine
