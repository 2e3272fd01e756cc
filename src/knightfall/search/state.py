"""What a search carries along: one flat record for its limits, its result and its scratch space.

Scores are floats from the mover's point of view.  They have three storeys::

    ±(WIN − n)      proven: won or lost n plies from the root
    ±LIMIT          the ceiling of heuristic values; +∞ and −∞ from a heuristic stop here
    anything else   a heuristic value

so a proven result is never traded for a heuristic one, a shorter win beats a longer one, and a
longer resistance beats a shorter one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from knightfall.heuristics.registry import POINTER
from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, POCKET
from knightfall.kernel.rules import Geometry
from knightfall.search.table import TABLE

WIN = float(2**52)
PROVEN = float(2**52 - 2**10)
LIMIT = float(2**51)

PLIES = 66
"""Longer than any game: at most 64 cells to fill, and a ply to notice the end."""

DTYPE = np.dtype(
    [
        # what is asked
        ("depth_limit", "i8"),
        ("seed", "u8"),  # breaks ties among equal moves
        ("symmetric", "i8"),  # 1: mirror images have equal values
        ("generation", "u8"),  # table entries of other searches do not count
        # what is answered
        ("nodes", "i8"),
        ("move", "i8"),
        ("score", "f8"),
        ("depth", "i8"),  # the last depth that was searched to the end
        ("length", "i8"),
        ("pv", "i1", (PLIES,)),
        # scratch: row p belongs to ply p
        ("root", "i8", (64,)),  # the root's moves in the order they are searched
        ("killers", "i8", (PLIES, 2)),
        ("lines", "i1", (PLIES, PLIES)),
        ("lengths", "i8", (PLIES,)),
    ],
    align=True,
)
STATE = from_dtype(DTYPE)
State = Any

ENTRY_POINT = types.void(
    types.Array(GEOMETRY, 1, "C"),
    types.Array(STATE, 1, "C"),
    TABLE,
    POINTER,
    types.uint64,
    types.int64,
    types.int64,
)
"""What every search is called with: board, state, table, heuristic, open, mover, waiter."""


@compiled(types.boolean(types.float64))
def is_proven(score: float) -> bool:
    """Whether a score is a proven win or loss."""
    return score >= PROVEN or score <= -PROVEN


@compiled(types.float64(GEOMETRY, POINTER, types.uint64, types.int64, types.int64, types.int64))
def evaluate(
    board: Geometry, heuristic: Any, open: Bits, mover: int, waiter: int, sign: int
) -> float:
    """A leaf's value for the mover; `sign` is 1 if the mover is the player who thinks, else −1.

    Heuristics need not be antisymmetric, so they are always asked for the thinking player.
    They are not asked before both knights stand: such leaves count 0.
    """
    if (mover | waiter) >= POCKET:
        return 0.0
    if sign > 0:
        value = heuristic(board, open, mover, waiter, mover)
    else:
        value = heuristic(board, open, waiter, mover, mover)
    # Written so that nan, too, becomes the worst value of its storey.
    if not value > -LIMIT:
        value = -LIMIT
    elif value > LIMIT:
        value = LIMIT
    return value if sign > 0 else -value  # type: ignore[no-any-return]


@compiled(types.void(STATE, types.int64, types.int64))
def remember(state: State, ply: int, cell: int) -> None:
    """Make `cell`, followed by the best line of the next ply, the best line of this ply."""
    state.lines[ply, 0] = cell
    length = state.lengths[ply + 1]
    for i in range(length):
        state.lines[ply, i + 1] = state.lines[ply + 1, i]
    state.lengths[ply] = length + 1


@compiled(types.void(STATE, types.float64, types.int64))
def conclude(state: State, score: float, depth: int) -> None:
    """Take the root's best line as the answer."""
    state.score = score
    state.depth = depth
    state.length = state.lengths[0]
    for i in range(state.length):
        state.pv[i] = state.lines[0, i]
    state.move = state.lines[0, 0]
