"""Heuristics of the study `aggressive`: the opponent's mobility counts more than the own."""

from __future__ import annotations

from math import inf

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, mobility, moves, onward

_u64, _i64 = types.uint64, types.int64


@published
def aggressive(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less twice the opponent's."""
    return float(mobility(board, open, me) - 2 * mobility(board, open, opp))


@published
def lookahead_ratio(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Ratio of own to opponent's mobility after an own move, averaged over all own moves.

    A move to a cell that the opponent could go to takes one move from the opponent, any other move
    none.  So M'(opp) has two possible values, and Σ M'(me)/M'(opp) is computed as two fractions
    with whole numerators: the same to the last bit for any order of the moves.
    """
    mine, escapes = moves(board, open, me), moves(board, open, opp)
    taking = mine & escapes
    if mine == _u64(0):
        return -inf
    if count(escapes) == (1 if taking != _u64(0) else 0):
        return inf
    total = 0.0
    if mine != taking:
        total += onward(board, open, mine & ~taking) / count(escapes)
    if taking != _u64(0):
        total += onward(board, open, taking) / (count(escapes) - 1)
    return total / count(mine)


@compiled(types.UniTuple(_i64, 4)(GEOMETRY, _u64))
def least_blocked(board: Geometry, open: Bits) -> tuple[int, int, int, int]:
    """Return the quarter-board window with most open cells: top row, left column, height, width."""
    high, wide = round(board.height / 2), round(board.width / 2)  # halves round to even
    window = _u64(0)
    for row in range(high):
        window |= ((_u64(1) << _u64(wide)) - _u64(1)) << _u64(row * board.width)
    most, first_row, first_column = -1, 0, 0
    for left in range(board.width - wide + 1):
        for top in range(board.height - high + 1):
            here = count(open & (window << _u64(top * board.width + left)))
            if here > most:
                most, first_row, first_column = here, top, left
    return first_row, first_column, high, wide


@compiled(_i64(GEOMETRY, _u64, _i64))
def _from_cluster(board: Geometry, open: Bits, cell: int) -> int:
    """Return the L1 distance from a cell to the centre cell of the `least_blocked` window."""
    top, left, high, wide = least_blocked(board, open)
    down, right = top + high // 2, left + wide // 2
    return abs(board.row[cell] - down) + abs(board.column[cell] - right)  # type: ignore[no-any-return]


@published
def open_cluster(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """As aggressive, plus nearness to the emptiest quarter once 1/5 of the board is blocked."""
    value = aggressive(board, open, me, opp, to_move)
    blocked = board.cells - count(open)
    if 5 * blocked >= board.cells:
        sides = board.height + board.width
        value += (sides - _from_cluster(board, open, me)) / sides
    return float(value)
