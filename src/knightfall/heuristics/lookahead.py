"""Heuristics of the study `lookahead`: one and two own moves in a row, centre and corners."""

from __future__ import annotations

from math import sqrt

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, mobility, moves, onward

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_i64(GEOMETRY, _u64, _i64))
def _two_moves(board: Geometry, open: Bits, cell: int) -> int:
    """Return M(p) + Σ deg(x) over p's moves x: the ways to make one move, and to make two."""
    return mobility(board, open, cell) + onward(board, open, moves(board, open, cell))


@published
def lookahead_mobility(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Ways to make one or two moves in a row, less the opponent's."""
    return float(_two_moves(board, open, me) - _two_moves(board, open, opp))


@compiled(_f64(GEOMETRY, _i64))
def _from_center(board: Geometry, cell: int) -> float:
    """Return the Euclidean distance to C* = (H/2, W/2)."""
    down = board.row[cell] - board.height / 2
    right = board.column[cell] - board.width / 2
    return sqrt(down * down + right * right)


@published
def center_pull(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility difference, plus the opponent's distance from the centre less the own."""
    difference = mobility(board, open, me) - mobility(board, open, opp)
    return difference + _from_center(board, opp) - _from_center(board, me)


@compiled(_i64(GEOMETRY, _u64, _i64))
def _safe(board: Geometry, open: Bits, cell: int) -> int:
    """Return the number of moves that do not lead into a corner."""
    return count(moves(board, open, cell) & ~board.corners)


@published
def corner_averse(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Mobility difference that does not count moves into a corner."""
    return float(_safe(board, open, me) - _safe(board, open, opp))
