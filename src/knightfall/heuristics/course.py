"""The course's own evaluation functions, the baseline every study starts from."""

from __future__ import annotations

from knightfall.heuristics.registry import heuristic
from knightfall.kernel.bits import Bits
from knightfall.kernel.rules import Geometry, mobility


@heuristic(study="course", formula="0")
def null(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Knows nothing but won and lost."""
    return 0.0


@heuristic(study="course", formula="M(me)")
def open(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility."""
    return float(mobility(board, open, me))


# C* lies half a cell below and right of the true centre, so mirror images differ.
@heuristic(study="course", formula="|me − C*|²", symmetric=False)
def center(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Squared distance from the centre: the course rewards being far from it."""
    down = board.row[me] - board.height / 2
    right = board.column[me] - board.width / 2
    return float(down * down + right * right)


@heuristic(study="course", formula="M(me) − M(opp)")
def improved(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Own mobility less the opponent's."""
    return float(mobility(board, open, me) - mobility(board, open, opp))
