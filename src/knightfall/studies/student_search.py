"""The search as students of the course wrote it, mistakes included.

Plain minimax or alpha-beta that values every end of the game ±∞, at any distance, and takes a move
only if it is better than −∞. If all lines are lost it has no move, and resigns. The flags below are
the other differences between students. Time is not measured but counted, by the cost of each step
in plain Python on the course's board; the costs are options.
"""

from __future__ import annotations

import math

from numba import types

from knightfall.kernel.bits import Bits, call_heuristic, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, POCKET, Geometry, moves
from knightfall.search.search_state import (
    ENTRY_POINT,
    LIMIT,
    NO_ANSWER,
    STATE,
    State,
    conclude,
    seeded_word,
)

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

STYLE, TIME_LIMIT, FORECAST, LIST, LIST_MOVE, CALL, SCORE, OPEN_CELL, MOVE = range(9)
"""Indices of the options: the style (bits below), then costs in nanoseconds: the time limit, a new
board with a move made, a list of moves and each move in it, a node, an evaluation, each open cell
and each knight's move in it.
"""

SPENT, LEAVES = range(2)
"""Indices of the counters: time spent, and leaves."""

# Bits of the style.
MINIMAX = 1  # no pruning
AT_ONCE = 2  # straight to the depth limit, without deepening
LAST = 4  # takes the last of equal moves, so that a bound may be taken for an exact value
IN_LOOP = 8  # leaves are scored by their parent, without a call or a clock reading
SCORE_ENDS = 16  # at a leaf only the heuristic's value shows that the game is over
EITHER_ENDS = 32  # at a leaf the game counts as over if either player is stuck
SHUFFLED = 64  # the board gives moves in random order
LEGAL = 128  # plays a legal move if it has no better one
KEEPS = 256  # plays the move of the last depth that had one, else a legal move

_MULTIPLIER, _INCREMENT = 6364136223846793005, 1442695040888963407  # Knuth's MMIX


@compiled(_u64(STATE, _u64), forceinline=True)
def _pick(state: State, left: Bits) -> Bits:
    """Return the move to try next, as a set of one cell."""
    if state.options[STYLE] & SHUFFLED == 0:
        return left & (~left + _u64(1))  # type: ignore[no-any-return]
    state.word = state.word * _u64(_MULTIPLIER) + _u64(_INCREMENT)
    number = count(left)
    skipped = _i64(((state.word >> _u64(32)) * _u64(number)) >> _u64(32))
    if number > 8:  # only before the knight is placed
        for _ in range(skipped):
            left = rest(left)
        return left & (~left + _u64(1))  # type: ignore[no-any-return]
    # A loop without unpredictable branches: each step removes one cell or none.
    for step in range(7):
        left &= left - _u64(step < skipped)
    return left & (~left + _u64(1))  # type: ignore[no-any-return]


@compiled(_f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64), forceinline=True)
def _leaf(board: Geometry, state: State, open: Bits, mover: int, waiter: int, ply: int) -> float:
    """Return a leaf's value for the mover.

    The heuristic is called for the player at the root. The sign of its value is changed if the
    other player is to move.
    """
    state.counts[LEAVES] += 1
    mine = ply & 1 == 0
    me, opp = (mover, waiter) if mine else (waiter, mover)
    own, other = moves(board, open, me), moves(board, open, opp)
    state.counts[SPENT] += (
        state.options[SCORE]
        + state.options[OPEN_CELL] * count(open)
        + state.options[MOVE] * (count(own) + count(other))
    )
    value = 0.0
    if state.options[STYLE] & SCORE_ENDS == 0:
        here = own if mine else other
        if state.options[STYLE] & EITHER_ENDS != 0:
            if own == _u64(0):
                return -math.inf if mine else math.inf
            if other == _u64(0):
                return math.inf if mine else -math.inf
        elif here == _u64(0):
            return -math.inf
    if (me | opp) < POCKET:
        value = call_heuristic(state.heuristic, board, open, me, opp, mover)
    return value if mine else -value


@compiled(_f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64, _i64, _f64, _f64))
def _value(
    board: Geometry,
    state: State,
    open: Bits,
    mover: int,
    waiter: int,
    ply: int,
    depth: int,
    alpha: float,
    beta: float,
) -> float:
    """Return the value for the mover of a search to `depth`; at the root, store the best move.

    If `state.late` is set, the returned value has no meaning.
    """
    state.nodes += 1
    state.counts[SPENT] += state.options[CALL]
    if state.counts[SPENT] > state.options[TIME_LIMIT] or state.nodes >= board.limit:
        state.late = 1
        return 0.0
    left = moves(board, open, mover)
    state.counts[SPENT] += state.options[LIST] + state.options[LIST_MOVE] * count(left)
    in_loop = state.options[STYLE] & IN_LOOP != 0
    takes_last = state.options[STYLE] & LAST != 0
    prunes = state.options[STYLE] & MINIMAX == 0
    best = -math.inf
    while left != _u64(0):
        chosen = _pick(state, left)
        left &= ~chosen
        cell, after = first(chosen), open & ~chosen
        state.counts[SPENT] += state.options[FORECAST]
        if depth == 1:
            if not in_loop:
                state.nodes += 1
                state.counts[SPENT] += state.options[CALL]
                if state.counts[SPENT] > state.options[TIME_LIMIT] or state.nodes >= board.limit:
                    state.late = 1
                    return 0.0
            value = -_leaf(board, state, after, waiter, cell, ply + 1)
        else:
            value = -_value(board, state, after, waiter, cell, ply + 1, depth - 1, -beta, -alpha)
            if state.late != 0:
                return 0.0
        if value > best or (takes_last and value >= best):
            best = value
            if ply == 0:
                state.lines[0, 0] = cell
        if prunes:
            if best >= beta:
                break
            alpha = max(alpha, best)
    return best


@compiled(types.void(STATE, _i64, _f64, _i64))
def _answer(state: State, cell: int, value: float, depth: int) -> None:
    state.lines[0, 0] = cell
    state.lengths[0] = 1
    conclude(state, max(-LIMIT, min(value, LIMIT)), depth)


@compiled(ENTRY_POINT)
def student(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Search as the student agent does, and write the move and the score to `state`.

    The depth is 1, 2, 3, … until time is up or no leaf is left; with `AT_ONCE`, only the limit. The
    move is `NO_ANSWER` if the student would have resigned; `late` is set if that was for lack
    of time, not because all lines are lost.
    """
    state.word = seeded_word(state.seed, open, mover, waiter)
    state.nodes = 0
    state.late = 0
    board.blanks = count(open)
    choice = moves(board, open, mover)
    state.counts[SPENT] = state.options[LIST] + state.options[LIST_MOVE] * count(choice)
    legal = first(_pick(state, choice))
    _answer(state, legal if state.options[STYLE] & (LEGAL | KEEPS) != 0 else NO_ANSWER, 0.0, 0)
    least = state.depth_limit if state.options[STYLE] & AT_ONCE != 0 else 1
    for depth in range(least, state.depth_limit + 1):
        state.counts[LEAVES] = 0
        state.lines[0, 0] = NO_ANSWER
        value = _value(board, state, open, mover, waiter, 0, depth, -math.inf, math.inf)
        if state.late != 0:
            break
        cell = _i64(state.lines[0, 0])
        if cell == NO_ANSWER:  # every line is lost
            if state.options[STYLE] & KEEPS != 0:
                cell = state.move
            elif state.options[STYLE] & LEGAL != 0:
                cell = legal
        _answer(state, cell, value, depth)
        if state.counts[LEAVES] == 0:
            break
    if state.depth > 0:
        state.late = 0  # the time limit did not decide the answer
    board.blanks = 0
