"""What an author wished for and did not write: the shortest way to win.

The staged study measures the longest continuation that a player wins, and hopes that "future
heuristics could find the minimum route to win".  Here it is; no study has published it.
"""

from __future__ import annotations

from numba import types

from knightfall.heuristics.signature import published
from knightfall.heuristics.staged import at_most
from knightfall.kernel.bits import Bits, bit, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.interrupt import cut_short, steps_left
from knightfall.kernel.rules import Geometry, moves, spread

_u64, _i64 = types.uint64, types.int64
_pair = types.UniTuple(_i64, 2)


@compiled(_u64(GEOMETRY, _u64, _i64, _i64))
def _within(board: Geometry, open: Bits, cell: int, steps: int) -> Bits:
    """The cell itself, and the open cells that a lone knight reaches from it in so many moves."""
    found = edge = bit(cell)
    while steps > 0 and edge != _u64(0):
        edge = spread(board, edge) & open & ~found
        found |= edge
        steps -= 1
    return found


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _may_win_in(board: Geometry, open: Bits, me: int, opp: int, turn: int, plies: int) -> bool:
    """False only if opp cannot be without a move after just so many plies (`turn`: me moves first).

    For that opp must get to a cell all of whose exits are taken.  Paths alternate colours, so of
    the exits, which have one colour, a path takes every other step one at most.
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
    """1 if a continuation of just so many plies ends with opp to move and stuck, else 0.

    Takes the steps that may still be spent and returns those left; −1: stopped before all was seen.
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
        next = 1 - turn  # no constant: see staged._extend
        found, steps = _wins_in(board, open & ~bit(cell), mine, theirs, next, plies - 1, steps)
    return found, steps


@compiled(_pair(GEOMETRY, _u64, _i64, _i64, _i64, _i64))
def _shortest(
    board: Geometry, open: Bits, me: int, opp: int, to_move: int, steps: int
) -> tuple[int, int]:
    """Cells of the board less plies of the shortest win, 0 if there is none; and the steps left.

    If the steps do not suffice (−1), no win is shorter than what is returned says.
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
    """Cells of the board less the plies of the shortest continuation that me wins; 0 if none.

    Exact unless it needs more steps than it may take; then no win is shorter than the value says.
    """
    value, steps = _shortest(board, open, me, opp, to_move, steps_left(board, 0))
    if steps < 0:
        cut_short(board)
    return float(value)


@published
def shortest_win_difference(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The value of the own shortest way to win, less that of the opponent's.

    Each side gets half of the steps.
    """
    half = steps_left(board, 0) // 2
    mine, my_steps = _shortest(board, open, me, opp, to_move, half)
    theirs, their_steps = _shortest(board, open, opp, me, to_move, half)
    if my_steps < 0 or their_steps < 0:
        cut_short(board)
    return float(mine - theirs)
