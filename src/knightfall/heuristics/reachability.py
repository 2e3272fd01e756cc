"""Heuristics of the study about how many cells a knight can reach, and how soon."""

from __future__ import annotations

from collections.abc import Callable

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.kernel.bits import Bits, count
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, RINGS, Geometry, moves, spread

_u64, _i64, _f64 = types.uint64, types.int64, types.float64


@compiled(_f64(GEOMETRY, _i64))
def from_center(board: Geometry, cell: int) -> float:
    """Return the L1 distance to the true centre C = ((H−1)/2, (W−1)/2)."""
    down = abs(board.row[cell] - (board.height - 1) / 2)
    right = abs(board.column[cell] - (board.width - 1) / 2)
    return down + right  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, _i64, _i64))
def knights_apart(board: Geometry, one: int, two: int) -> int:
    """Return the L1 distance between the knights."""
    down = abs(board.row[one] - board.row[two])
    right = abs(board.column[one] - board.column[two])
    return down + right  # type: ignore[no-any-return]


@published
def near_center(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """How much nearer the own knight is to the centre than the opponent's."""
    return from_center(board, opp) - from_center(board, me)


@published
def near_edges(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """How much farther the own knight is from the centre than the opponent's."""
    return from_center(board, me) - from_center(board, opp)


@published
def near_opponent(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The closer the two knights, the better."""
    return float(-knights_apart(board, me, opp))


@published
def far_opponent(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """The farther apart the two knights, the better."""
    return float(knights_apart(board, me, opp))


@compiled(_f64(GEOMETRY, _u64, _i64, _f64))
def _static(board: Geometry, open: Bits, cell: int, r: float) -> float:
    """Return Σ r^δ(p,x) over p's own cell and the open cells; δ is their knight distance."""
    total, power = 1.0, 1.0  # its own cell, at distance 0
    for distance in range(1, RINGS):
        power *= r
        total += power * count(open & board.ring[cell, distance])
    return total


def static_reach(r: float) -> Callable[..., float]:
    """Sum of r^distance over open cells (moves on an empty board), less the opponent's sum."""

    def score(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
        return _static(board, open, me, r) - _static(board, open, opp, r)

    return score


@compiled(_f64(GEOMETRY, _u64, _i64))
def nearness(board: Geometry, open: Bits, cell: int) -> float:
    """Return Σ 1/(1+d(p,x)) over p's own cell and every cell it can reach through open cells."""
    total, distance = 1.0, 0  # its own cell, at distance 0
    edge = moves(board, open, cell)
    while edge != _u64(0):
        distance += 1
        total += count(edge) / (1 + distance)
        open &= ~edge
        edge = spread(board, edge) & open
    return total


@published
def bfs_reach(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Sum of 1/(1 + distance) over the cells within reach, less the opponent's sum."""
    return nearness(board, open, me) - nearness(board, open, opp)
