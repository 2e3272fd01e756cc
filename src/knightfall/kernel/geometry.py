"""A board's geometry as one flat record, which compiled code takes as a single pointer.

Python reads the same fields by the same names (`geometry.knight[cell]`), so that the same source
of a heuristic runs compiled and interpreted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype

from knightfall.board import Board

POCKET = 64
"""The 'cell' of a knight that is still to be placed: every cell is a knight's move from it."""

RINGS = 12
"""One more than the longest knight distance on any board of up to 64 cells."""

NO_LIMIT = 1 << 62

READ_ONLY = "a heuristic may read its board, but not write to it"
"""The error message about a heuristic that writes to its board."""

FIELDS = np.dtype(
    [
        ("width", "i8"),
        ("height", "i8"),
        ("cells", "i8"),
        ("every", "u8"),  # each cell of the board
        ("corners", "u8"),
        ("dark", "u8"),  # the cells of colour 1
        ("knight", "u8", (65,)),  # the cells a knight's move away; [POCKET] = every
        ("touching", "u8", (64,)),  # the up to eight cells around
        ("row", "i8", (64,)),
        ("column", "i8", (64,)),
        ("distance", "i1", (64, 64)),  # knight distance on the empty board
        ("ring", "u8", (64, RINGS)),  # ring[c][d]: the cells at knight distance d from c
        ("symmetries", "i8"),  # how many symmetries the board has, and where each takes a cell;
        ("symmetry", "i1", (8, 65)),  # the pocket stays where it is
        # For `rules.spread`: the distance of two rows in bits, and the columns into which a
        # sideways shift by one or two must not wrap.
        ("stride", "u8"),
        ("not_first", "u8"),
        ("not_first_two", "u8"),
        ("not_last", "u8"),
        ("not_last_two", "u8"),
        # The variables of one search: each search has its own copy, never shared between threads.
        ("limit", "i8"),  # nodes at which the search must stop; 0 from another thread: stop now
        ("clock", "u8"),  # the address of the clock (0 = none), and of two words for its result
        ("dial", "u8"),
        ("reading", "i8", (2,)),  # those words
        ("deadline", "i8"),  # the time to stop at
        ("step_limit", "i8"),  # steps a single evaluation may spend
        ("cut", "i8"),  # evaluations that ran out of steps
        ("failed", "i8"),  # 1: a user's heuristic raised an error for these arguments:
        ("asked", "u8", (4,)),  # open, me, opp, to_move
        ("blanks", "i8"),  # open cells at the root of the search, 0 outside of a search
        ("sheet", "f4", (96,)),  # scratch memory for heuristics with many counts
    ],
    align=True,
)
DTYPE = np.dtype((np.record, FIELDS))

RULES = int(FIELDS.fields["limit"][1]) // 8  # type: ignore[index]
"""How many 64-bit words of the record describe the board; the variables of the search follow."""

GEOMETRY = from_dtype(FIELDS)
"""The record's Numba type, for signatures."""

GeometryArray = npt.NDArray[Any]


def bitset(cells: Iterable[int]) -> int:
    """Return a set of cells as a word."""
    word = 0
    for cell in cells:
        word |= 1 << cell
    return word


@cache
def _master(board: Board) -> GeometryArray:
    """Return the read-only original of a board's geometry."""
    array = np.zeros(1, DTYPE)
    one = array[0]
    everywhere = range(board.cells)
    one.width, one.height, one.cells = board.width, board.height, board.cells
    one.every = bitset(everywhere)
    last_row, last_column = board.height - 1, board.width - 1
    one.corners = bitset(board.at(r, c) for r in (0, last_row) for c in (0, last_column))
    one.dark = bitset(cell for cell in everywhere if board.colour(cell))
    cells = slice(board.cells)
    one.knight[cells], one.knight[POCKET] = [bitset(near) for near in board.knight], one.every
    one.touching[cells] = [bitset(near) for near in board.touching]
    one.row[cells] = [board.row(cell) for cell in everywhere]
    one.column[cells] = [board.column(cell) for cell in everywhere]
    steps = one.distance[cells, cells]
    steps[:] = board.distance
    bits = np.uint64(1) << np.arange(board.cells, dtype=np.uint64)
    for ring in range(RINGS):
        one.ring[cells, ring] = np.where(steps == ring, bits, np.uint64(0)).sum(axis=1)
    one.symmetries = len(board.symmetries)
    for number, image in enumerate(board.symmetries):
        one.symmetry[number, : board.cells] = image
        one.symmetry[number, POCKET] = POCKET

    def columns(low: int, high: int) -> int:
        return bitset(cell for cell in everywhere if low <= board.column(cell) <= high)

    one.stride = board.width
    one.not_first, one.not_first_two = columns(1, last_column), columns(2, last_column)
    one.not_last, one.not_last_two = columns(0, last_column - 1), columns(0, last_column - 2)
    one.limit = one.step_limit = NO_LIMIT
    array.flags.writeable = False
    return array


def geometry(board: Board) -> GeometryArray:
    """Return a new, writeable copy of a board's geometry: an array of one record."""
    return _master(board).copy()


def rules_of(board: Board) -> npt.NDArray[np.uint64]:
    """Return the first `RULES` words of a board's geometry record, which no search may change."""
    return _master(board).view(np.uint64)[:RULES]


class Seal:
    """Detects changes of a geometry record other than those that a search makes.

    A heuristic cannot be kept from writing to a memory address, but the write is detected.
    """

    def __init__(self, boards: GeometryArray) -> None:
        self._boards = boards
        self._before = boards.tobytes()

    @property
    def broken(self) -> bool:
        """Whether fields that describe the board or limit the search have changed."""
        now, before = self._boards.tobytes(), self._before
        if now[: 8 * RULES] != before[: 8 * RULES]:
            return True
        one, other = np.frombuffer(now, FIELDS)[0], np.frombuffer(before, FIELDS)[0]
        kept = all(one[field] == other[field] for field in _BUDGET_FIELDS)
        return not kept or one["limit"] not in (other["limit"], 0)


_BUDGET_FIELDS = ("clock", "dial", "deadline", "step_limit")
