"""Heuristics as the studies' authors programmed them, and two that an author only proposed.

*As coded* is what an author's program computed, where that differs from the text. In the staged
study's program the phase is relative to the root of the current search: the share of the cells open
at the root that are still open. So it starts at 1 with every move.

Its search for the longest path passes the length found in one branch on to the next. A branch adds
one for every position in it that the player has not lost, so the lengths add up to a count::


    heuristic6 as printed  =  positions below this one  -  lines that the player loses
    heuristic5 as printed  =  the same for me  -  the same for opp
                           =  lines that me wins  -  lines that me loses

This does not depend on the order of the moves, because the two differ in the lines that they leave
out.

*Proposed* (wished for) is the shortest win: the staged study measures the longest continuation that
a player wins, and hopes that "future heuristics could find the minimum route to win".
"""

# mypy: disable-error-code="no-any-return"
# (One heuristic calls another through its dispatcher, whose type mypy does not know.)

from __future__ import annotations

from math import inf

from numba import types

from knightfall.heuristics import aggressive, course, staged
from knightfall.heuristics.c_signature import published
from knightfall.heuristics.staged import at_most
from knightfall.kernel.bits import Bits, bit, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import cut_short, steps_left
from knightfall.kernel.rules import GEOMETRY, Geometry, mobility, moves, spread

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_four = types.UniTuple(_i64, 4)

# -- reachability --------------------------------------------------------------------------


@compiled(_f64(GEOMETRY, _i64))
def _from_center(board: Geometry, cell: int) -> float:
    """Return the L1 distance from the course's centre (H/2, W/2), which is half a cell off."""
    down = abs(board.row[cell] - board.height / 2)
    right = abs(board.column[cell] - board.width / 2)
    return down + right


@published
def near_center(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The opponent's distance from the course's centre (half a cell off) less the player's."""
    return _from_center(board, opp) - _from_center(board, me)


@published
def near_edges(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The player's distance from the course's centre (half a cell off) less the opponent's."""
    return _from_center(board, me) - _from_center(board, opp)


# -- staged --------------------------------------------------------------------------------


@compiled(_f64(GEOMETRY, _u64))
def _phase(board: Geometry, open: Bits) -> float:
    """Return the share of the cells open at the root that are still open; 1 outside of a search."""
    return 1.0 if board.blanks == 0 else count(open) / board.blanks


@compiled(_four(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _count_lines(
    board: Geometry, open: Bits, mover: int, waiter: int, turn: int, steps: int
) -> tuple[int, int, int, int]:
    """Count the positions below this one, the lines that `me` wins and the lines that it loses.

    Each line is played to its end; `me` is to move if `turn` is 1. The last number is the number of
    steps left, where each position takes one step. It is −1 if the steps ran out; the other numbers
    are then the counts so far.
    """
    if steps == 0 or board.limit == 0:
        return 0, 0, 0, -1
    steps -= 1
    positions, won, lost = 0, 0, 0
    left = moves(board, open, mover)
    if left == _u64(0):
        return 0, 1 - turn, turn, steps
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after, next = open & ~bit(cell), 1 - turn
        below, wins, losses, steps = _count_lines(board, after, waiter, cell, next, steps)
        positions += below
        won += wins
        lost += losses
        if steps < 0:
            break
        positions += 1
    return positions, won, lost, steps


@compiled(_four(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _lines(
    board: Geometry, open: Bits, me: int, opp: int, to_move: int, step_limit: int
) -> tuple[int, int, int, int]:
    """Call `_count_lines` from this position; add 1 to `board.cut` if the steps run out."""
    if moves(board, open, to_move) == _u64(0):
        return 0, 0, 0, 0  # the game is over: no position is below
    turn = 1 if to_move == me else 0
    waiter = opp if to_move == me else me
    found = _count_lines(board, open, to_move, waiter, turn, step_limit)
    if found[3] < 0:
        board.cut += 1
    return found


@published
def longest_win(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The path count: positions that can follow, minus the lines that the player loses.

    Exact up to `board.step_limit` positions; beyond that, the count so far.
    """
    positions, _, lost, _ = _lines(board, open, me, opp, to_move, board.step_limit)
    return float(positions - lost)


@published
def longest_win_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The number of lines to the end that the player wins, minus those that it loses.

    One walk counts both, so the value for one player is the negative of the other's even when the
    steps run out.
    """
    _, won, lost, _ = _lines(board, open, me, opp, to_move, board.step_limit)
    return float(won - lost)


@published
def main_less(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility times the phase relative to the root, plus the difference in open space."""
    elbow_room = staged.open_space_difference(board, open, me, opp, to_move)
    return _phase(board, open) * staged.mobility(board, open, me, opp, to_move) + elbow_room


@published
def main_less_more(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The heuristic 'improved' times the phase relative to the root, plus open-space difference."""
    elbow_room = staged.open_space_difference(board, open, me, opp, to_move)
    return _phase(board, open) * course.improved(board, open, me, opp, to_move) + elbow_room


@published
def main(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Weighted mobility plus open space; below phase 0.2 lines won minus lines lost."""
    if _phase(board, open) < 0.2:
        return longest_win_difference(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_alt(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Weighted mobility plus open space; below phase 0.4 the path count."""
    if _phase(board, open) < 0.4:
        return longest_win(board, open, me, opp, to_move)
    return main_less(board, open, me, opp, to_move)


@published
def main_prop(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The mean of mobility and open space, weighted by phase; below phase 0.2 the path count."""
    phase = _phase(board, open)
    if phase < 0.2:
        return longest_win(board, open, me, opp, to_move)
    elbow_room = staged.open_space_difference(board, open, me, opp, to_move)
    return phase * staged.mobility(board, open, me, opp, to_move) + (1 - phase) * elbow_room


@published
def main_staggered(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility; below phase 0.7 open space; below 0.2 lines won minus lines lost."""
    if _phase(board, open) > 0.7:
        return staged.mobility(board, open, me, opp, to_move)
    if _phase(board, open) < 0.2:
        return longest_win_difference(board, open, me, opp, to_move)
    return staged.open_space_difference(board, open, me, opp, to_move)


@published
def main_alt_staggered(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility; below phase 0.7 open space; below 0.2 the path count."""
    if _phase(board, open) > 0.7:
        return staged.mobility(board, open, me, opp, to_move)
    if _phase(board, open) < 0.2:
        return longest_win(board, open, me, opp, to_move)
    return staged.open_space_difference(board, open, me, opp, to_move)


# -- aggressive ----------------------------------------------------------------------------

_COMMON = 840
"""A common multiple of 1 to 8, the possible numbers of a knight's moves."""


@published
def lookahead_ratio(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility ÷ the opponent's, averaged over the player's moves, with the mover put there.

    If the opponent moves, the player keeps its other moves, and the opponent has the moves from its
    new cell. The sum uses whole numbers, so it does not depend on the order of the moves.
    """
    if to_move == me:
        return aggressive.lookahead_ratio(board, open, me, opp, to_move)
    mine = moves(board, open, me)
    if mine == _u64(0):
        return -inf
    total, left = 0, mine
    while left != _u64(0):
        escapes = mobility(board, open, first(left))
        if escapes == 0:
            return inf
        total += _COMMON // escapes
        left = rest(left)
    return (count(mine) - 1) * total / (_COMMON * count(mine))


@published
def open_cluster(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less twice the opponent's; the author's code for open space never ran."""
    return aggressive.aggressive(board, open, me, opp, to_move)


# -- wished for: the shortest win ----------------------------------------------------------


_u64, _i64 = types.uint64, types.int64
_pair = types.UniTuple(_i64, 2)


@compiled(_u64(GEOMETRY, _u64, _i64, _i64))
def _within(board: Geometry, open: Bits, cell: int, steps: int) -> Bits:
    """Return a cell and the open cells that a lone knight can reach from it in `steps` moves."""
    found = edge = bit(cell)
    while steps > 0 and edge != _u64(0):
        edge = spread(board, edge) & open & ~found
        found |= edge
        steps -= 1
    return found


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _may_win_in(board: Geometry, open: Bits, me: int, opp: int, turn: int, plies: int) -> bool:
    """Return False only if no line of exactly `plies` plies can leave `opp` without a move.

    `turn` is 1 if `me` moves first. To be stuck, `opp` must reach a cell whose exits are all taken.
    All exits have one colour and paths alternate colours, so a path takes an exit at most every
    other step.
    """
    mine, theirs = (plies + turn) // 2, plies // 2
    near = _within(board, open, me, mine)
    ends = _within(board, open, opp, theirs)
    opp_is_dark = board.dark & bit(opp) != _u64(0)
    ends_are_dark = opp_is_dark if theirs % 2 == 0 else not opp_is_dark
    ends &= board.dark if ends_are_dark else ~board.dark
    i_am_like_ends = (board.dark & bit(me) != _u64(0)) == ends_are_dark
    by_me = (mine + 1) // 2 if i_am_like_ends else mine // 2
    by_opp = theirs // 2
    while ends != _u64(0):
        exits = board.knight[first(ends)] & open
        if count(exits) <= by_me + by_opp and count(exits & ~near) <= by_opp:
            return True
        ends = rest(ends)
    return False


@compiled(_pair(GEOMETRY, _u64, _i64, _i64, _i64, _i64, _i64))
def _wins_in(
    board: Geometry, open: Bits, me: int, opp: int, turn: int, plies: int, steps: int
) -> tuple[int, int]:
    """Return whether some line of exactly `plies` plies leaves `opp` to move and stuck: 1 or 0.

    The second number returned is the number of steps left; −1 if they ran out.
    """
    if steps == 0 or board.limit == 0:
        return 0, -1
    steps -= 1
    left = moves(board, open, me if turn == 1 else opp)
    if plies == 0:
        return 1 if left == _u64(0) else 0, steps
    if left == _u64(0) or not _may_win_in(board, open, me, opp, turn, plies):
        return 0, steps
    found = 0
    while left != _u64(0) and steps >= 0 and found == 0:
        cell = first(left)
        left = rest(left)
        mine, theirs = (cell, opp) if turn == 1 else (me, cell)
        next = 1 - turn  # not a constant: see staged._extend
        found, steps = _wins_in(board, open & ~bit(cell), mine, theirs, next, plies - 1, steps)
    return found, steps


@compiled(_pair(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _shortest(
    board: Geometry, open: Bits, me: int, opp: int, to_move: int, steps: int
) -> tuple[int, int]:
    """Return the value of `shortest_win`, and how many of the `steps` of its search are left.

    The value is the board's cells less the plies of the shortest win, 0 if there is none. If the
    steps run out (−1), it is an upper bound: no win is shorter.
    """
    turn = 1 if to_move == me else 0
    plies = turn
    most = at_most(board, open, me, opp, turn)
    while plies <= most:
        found, steps = _wins_in(board, open, me, opp, turn, plies, steps)
        if found == 1 or steps < 0:
            return board.cells - plies, steps
        plies += 2
    return 0, steps


@published
def shortest_win(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Return the board's cells less the plies of the shortest line that `me` wins; 0 if none.

    If the step limit is reached, the value is an upper bound: no win is shorter.
    """
    value, steps = _shortest(board, open, me, opp, to_move, steps_left(board, 0))
    if steps < 0:
        cut_short(board)
    return float(value)


@published
def shortest_win_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Return `shortest_win` of the player less that of the opponent.

    Each side gets half of the steps.
    """
    half = steps_left(board, 0) // 2
    mine, my_steps = _shortest(board, open, me, opp, to_move, half)
    theirs, their_steps = _shortest(board, open, opp, me, to_move, half)
    if my_steps < 0 or their_steps < 0:
        cut_short(board)
    return float(mine - theirs)
