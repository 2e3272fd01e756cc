"""What one trial asks on its way: the solver's verdict, whether to go on."""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry
from knightfall.opponents.state import PRACTICE, Practice
from knightfall.search.search_state import STATE
from knightfall.solver.state import STATE as SOLVER_STATE
from knightfall.solver.winloss import who_wins

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
BOARDS = types.Array(GEOMETRY, 1, "C")
STATES = types.Array(STATE, 1, "C")
SOLVER_STATES = types.Array(SOLVER_STATE, 1, "C")

LENGTH_COUNTS = 0.05
"""What a lost game is worth at most, if it fills the whole board: long ones are harder to win."""


@compiled(types.boolean(PRACTICE))
def may_go_on(practice: Practice) -> bool:
    """Whether there are nodes and time left."""
    if practice.spent >= practice.limit:
        return False
    return (  # type: ignore[no-any-return]
        practice.clock == _u64(0) or nanoseconds(practice.clock, practice.dial) < practice.deadline
    )


@compiled(types.boolean(BOARDS, SOLVER_STATES, PRACTICE, _i64, _u64, _i64, _i64))
def wins(
    boards: Any,
    states: Any,
    practice: Practice,
    cells: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> bool:
    """Whether the solver, asked with so few open cells, soon finds that the mover wins."""
    if count(open) > cells or not may_go_on(practice):
        return False
    state = states[0]
    before = state.nodes
    boards[0].limit = before + min(practice.settle_nodes, practice.limit - practice.spent)
    found = who_wins(boards, states, open, mover, waiter)
    practice.spent += state.nodes - before
    return found == 1


@compiled(_f64(GEOMETRY, _u64))
def lost(board: Geometry, open: Bits) -> float:
    """The value of a lost game that ends, as far as it matters, with these cells open."""
    return LENGTH_COUNTS * (1.0 - count(open) / count(board.every))
