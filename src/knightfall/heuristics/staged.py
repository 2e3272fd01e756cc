"""Heuristics of the study that changes its evaluation with the phase of the game.

It uses mobility while the board is empty, open cells around the knights in the middle, and near the
end the longest win: the longest continuation by any moves of both sides that the player evaluated
wins.
"""

# mypy: disable-error-code="no-any-return"
# (One heuristic calls another through its dispatcher, whose type mypy does not know.)

from __future__ import annotations

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.heuristics.course import improved
from knightfall.kernel import rules
from knightfall.kernel.bits import Bits, bit, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import cut_short, steps_left
from knightfall.kernel.rules import GEOMETRY, Geometry, moves, path_bound, reach, space, tightest

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_pair = types.UniTuple(_i64, 2)

# -- mobility and open space ---------------------------------------------------------------


@published
def mobility(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less the opponent's, under the name this study gives it."""
    return float(rules.mobility(board, open, me) - rules.mobility(board, open, opp))


@published
def open_space(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Open cells that touch the own knight."""
    return float(space(board, open, me))


@published
def open_space_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Open cells around the own knight, less those around the opponent's."""
    return float(space(board, open, me) - space(board, open, opp))


@published
def open_space_next(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Most open cells around the own knight that any next move can leave."""
    best = 0
    left = moves(board, open, to_move)
    while left != _u64(0):
        cell = first(left)
        after = open & ~bit(cell)
        best = max(best, space(board, after, cell if to_move == me else me))
        left = rest(left)
    return float(best)


# -- the longest win -----------------------------------------------------------------------
#
# In a continuation that me wins, opp is left without a move: with me to move me makes k moves and
# opp k − 1, otherwise both make k.  `turn` below is that difference: 1 if me is to move, else 0.


@compiled(_i64(GEOMETRY, _u64, _i64, _i64, _i64))
def at_most(board: Geometry, open: Bits, me: int, opp: int, turn: int) -> int:
    """Return an upper bound of the plies of any continuation that player `me` wins."""
    mine, theirs = reach(board, open, me), reach(board, open, opp)
    most = min(path_bound(board, mine, me), path_bound(board, theirs, opp) + turn)

    # The two paths share no cell, so together they need enough cells of either colour.
    dark, light = count((mine | theirs) & board.dark), count((mine | theirs) & ~board.dark)
    i_am_dark = count(board.dark & bit(me))
    they_are_dark = count(board.dark & bit(opp))
    while most > 0:
        plies = 2 * most - turn
        on_dark = (most + 1 - i_am_dark) // 2 + (most - turn + 1 - they_are_dark) // 2
        if on_dark <= dark and plies - on_dark <= light:
            return plies
        most -= 1
    return 0


@compiled(_pair(GEOMETRY, _u64, _i64, _i64, _i64, _i64, _i64, _i64, _i64))
def _extend(
    board: Geometry,
    open: Bits,
    me: int,
    opp: int,
    turn: int,
    length: int,
    best: int,
    goal: int,
    steps: int,
) -> tuple[int, int]:
    """Search all continuations of a line of `length` plies depth first; `me` moves if `turn` is 1.

    Take the best length so far and the steps left, and return both updated; steps of −1 mean that
    the search is incomplete.  No line is longer than `goal`: reaching it ends the search.
    """
    if steps == 0 or board.limit == 0:
        return best, -1
    steps -= 1
    left = moves(board, open, me if turn == 1 else opp)
    if left == _u64(0):
        return best if turn == 1 else max(best, length), steps
    if length + at_most(board, open, me, opp, turn) <= best:
        return best, steps
    while left != _u64(0) and steps >= 0 and best < goal:
        cell = tightest(board, open, left)
        left &= ~bit(cell)
        after = open & ~bit(cell)
        mine, theirs = (cell, opp) if turn == 1 else (me, cell)
        # Not the constants 0 and 1: Numba would compile another version for each constant, and a
        # recursive function with several versions cannot be loaded from the disk cache.
        next = 1 - turn
        best, steps = _extend(board, after, mine, theirs, next, length + 1, best, goal, steps)
    return best, steps


@compiled(_pair(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _longest(
    board: Geometry, open: Bits, me: int, opp: int, to_move: int, step_limit: int
) -> tuple[int, int]:
    """Return the longest win found in `step_limit` steps, and the steps left (−1 if incomplete)."""
    turn = 1 if to_move == me else 0
    goal = at_most(board, open, me, opp, turn)
    return _extend(board, open, me, opp, turn, 0, 0, goal, step_limit)


@published
def longest_win(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Length of the longest continuation, both sides helping, that ends in a win; 0 if none does.

    Exact unless it runs out of steps; then the longest found so far.
    """
    length, steps = _longest(board, open, me, opp, to_move, steps_left(board, 0))
    if steps < 0:
        cut_short(board)
    return float(length)


@published
def longest_win_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The longest way to win, less the opponent's longest.

    Each side gets half of the steps, so that the values of both players are opposite even if the
    steps do not suffice.
    """
    half = steps_left(board, 0) // 2
    mine, my_steps = _longest(board, open, me, opp, to_move, half)
    theirs, their_steps = _longest(board, open, opp, me, to_move, half)
    if my_steps < 0 or their_steps < 0:
        cut_short(board)
    return float(mine - theirs)


# -- combinations by phase -----------------------------------------------------------------


@compiled(_f64(GEOMETRY, _u64))
def _phase(board: Geometry, open: Bits) -> float:
    """Return the share of the board that is open: near 1 at the start, near 0 at the end."""
    return count(open) / board.cells


@published
def main_less(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility difference, fading as the board fills, plus the open-space difference."""
    space_difference = open_space_difference(board, open, me, opp, to_move)
    return _phase(board, open) * mobility(board, open, me, opp, to_move) + space_difference


@published
def main_less_more(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less the opponent's, fading as the board fills, plus open-space difference."""
    space_difference = open_space_difference(board, open, me, opp, to_move)
    return _phase(board, open) * improved(board, open, me, opp, to_move) + space_difference


@published
def main(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Fading mobility and open space; under 20 % open, the longest win less the opponent's."""
    if _phase(board, open) < 0.2:
        return longest_win_difference(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_alt(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Fading mobility and open space; with under 20 % of the cells open, the longest win."""
    if _phase(board, open) < 0.2:
        return longest_win(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_alt_01(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Fading mobility and open space; with under 10 % of the cells open, the longest win."""
    if _phase(board, open) < 0.1:
        return longest_win(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_alt_03(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Fading mobility and open space; with under 30 % of the cells open, the longest win."""
    if _phase(board, open) < 0.3:
        return longest_win(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_prop(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility gives way to open space as the board fills; under 20 % open, the longest win."""
    phase = _phase(board, open)
    if phase < 0.2:
        return longest_win(board, open, me, opp, to_move)
    space_difference = open_space_difference(board, open, me, opp, to_move)
    return phase * mobility(board, open, me, opp, to_move) + (1 - phase) * space_difference


@published
def main_staggered(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """First mobility, then open space, at last the longest win; each less the opponent's."""
    if _phase(board, open) > 0.7:
        return mobility(board, open, me, opp, to_move)
    if _phase(board, open) < 0.2:
        return longest_win_difference(board, open, me, opp, to_move)
    return open_space_difference(board, open, me, opp, to_move)


@published
def main_alt_staggered(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """First mobility, then open space, at last the longest win."""
    if _phase(board, open) > 0.7:
        return mobility(board, open, me, opp, to_move)
    if _phase(board, open) < 0.2:
        return longest_win(board, open, me, opp, to_move)
    return open_space_difference(board, open, me, opp, to_move)
