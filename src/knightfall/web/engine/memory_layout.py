"""Memory layout of the browser's engine: one block of memory, addressed from its base.

::

    base   BOARD     SEARCH     PROOF      SUM        PROOFS         TABLE
           the       one        one        the terms  the solver's   a search's
           geometry  search's   solver's   of a sum   table, 16 MB   table, 8 MB
           record    state      state

A browser has no Python to fill in the geometry record, so compiled code does: it writes, field by
field, what `knightfall.kernel.rules` writes; a test compares all boards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from knightfall.board import UNREACHABLE
from knightfall.kernel.bits import Bits, bit
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import FIELDS, GEOMETRY, NO_LIMIT, POCKET, RINGS
from knightfall.search.search_state import DTYPE as SEARCH_DTYPE
from knightfall.search.transposition_table import ENTRY_DTYPE
from knightfall.solver.proof_table import BUCKET
from knightfall.solver.proof_table import DTYPE as PROOF_DTYPE
from knightfall.solver.proof_table import ENTRY_DTYPE as PROOF_ENTRY

LINE = 64
"""Alignment of each part in bytes: a line of the processor's cache."""

MOST_PARTS = 64
"""Most heuristics in a sum, including those inside its stages."""

_each = (MOST_PARTS,)
SUM_DTYPE = np.dtype(
    [
        ("terms", "i8"),
        ("term_weight", "f8", _each),
        ("term_open", "i8", _each),  # powers of the phase and of 1 − phase
        ("term_filled", "i8", _each),
        ("term_end", "i8", _each),  # number of the first part after those of the term
        ("parts", "i8"),  # a term has one part, or one for each heuristic in its stages
        ("address", "u8", _each),
        ("parameter", "f8", _each),
        ("weight", "f8", _each),
        ("open", "i8", _each),
        ("filled", "i8", _each),
        ("least", "f8", _each),  # the phases at which the part counts: least ≤ phase < below
        ("below", "f8", _each),
        ("current", "f8"),  # the parameter of the part that is being evaluated
        ("clock", "u8"),  # the address of the page's clock
    ],
    align=True,
)

PROOFS = 1 << 20
"""Entries of the solver's table, as many as the native engine has by default."""

ENTRIES = 1 << 18
"""Most entries of a search's table: as many as the native engine uses for four million nodes."""


def _line(size: int) -> int:
    return -(-size // LINE) * LINE


BOARD_AT = 0
SEARCH_AT = BOARD_AT + _line(FIELDS.itemsize)
PROOF_AT = SEARCH_AT + _line(SEARCH_DTYPE.itemsize)
SUM_AT = PROOF_AT + _line(PROOF_DTYPE.itemsize)
PROOFS_AT = SUM_AT + _line(SUM_DTYPE.itemsize)
TABLE_AT = PROOFS_AT + PROOFS * PROOF_ENTRY.itemsize
READING_AT = BOARD_AT + int(FIELDS.fields["reading"][1])  # type: ignore[index]
ENTRY_SIZE = ENTRY_DTYPE.itemsize
BUCKETS = PROOFS // BUCKET
SIZE = TABLE_AT + ENTRIES * ENTRY_SIZE
"""Size of the whole block in bytes."""


# -- records at an address --------------------------------------------------------------------


def arrays(record: Any) -> Any:
    """Return a function for compiled code: address of a record → array with that one record.

    The searches and the solver take arrays, and a browser has no NumPy to make them.
    """
    kind = types.Array(record, 1, "C")

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(kind)(context, builder)
            size = context.get_constant(types.intp, record.size)
            populate_array(
                array,
                data=builder.inttoptr(values[0], array.data.type),
                shape=[context.get_constant(types.intp, 1)],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return kind(types.uint64), emit

    return at


# -- the geometry record ----------------------------------------------------------------------


_u64, _i64 = types.uint64, types.int64


@compiled(_u64(GEOMETRY, _i64, _i64), cache=False)
def _columns(board: Any, low: int, high: int) -> Bits:
    found = _u64(0)
    for cell in range(board.cells):
        if low <= board.column[cell] <= high:
            found |= bit(cell)
    return found  # type: ignore[no-any-return]


@compiled(types.void(GEOMETRY, _i64), cache=False)
def _steps_from(board: Any, cell: int) -> None:
    """Write the cells that are a knight's move away from a cell, and those adjacent to it."""
    row, column = board.row[cell], board.column[cell]
    near, touching = _u64(0), _u64(0)
    for there in range(board.cells):
        down, right = abs(board.row[there] - row), abs(board.column[there] - column)
        if down * right == 2:
            near |= bit(there)
        elif max(down, right) == 1:
            touching |= bit(there)
    board.knight[cell], board.touching[cell] = near, touching


@compiled(types.void(GEOMETRY, _i64), cache=False)
def _distances_from(board: Any, start: int) -> None:
    """Write the cells at each knight distance from a cell, ring by ring."""
    for there in range(board.cells):
        board.distance[start, there] = UNREACHABLE
    reached = edge = bit(start)
    for steps in range(RINGS):
        board.ring[start, steps] = edge
        after = _u64(0)
        for there in range(board.cells):
            if edge & bit(there) != _u64(0):
                board.distance[start, there] = steps
                after |= board.knight[there]
        edge = after & ~reached
        reached |= edge


@compiled(types.void(GEOMETRY), cache=False)
def _symmetries(board: Any) -> None:
    """Write the symmetries: the identity, reversed columns and rows, then these transposed."""
    last_row, last_column = board.height - 1, board.width - 1
    board.symmetries = 8 if board.width == board.height else 4
    for number in range(board.symmetries):
        for cell in range(board.cells):
            row, column = board.row[cell], board.column[cell]
            if number & 2:
                row = last_row - row
            if number & 1:
                column = last_column - column
            if number & 4:
                row, column = column, row
            board.symmetry[number, cell] = row * board.width + column
        board.symmetry[number, POCKET] = POCKET


@compiled(types.void(GEOMETRY, _i64, _i64), cache=False)
def lay_out(board: Any, width: int, height: int) -> None:
    """Write the whole geometry record of a board; the record must be zero before."""
    board.width, board.height, board.cells = width, height, width * height
    last_row, last_column = height - 1, width - 1
    every, corners, dark = _u64(0), _u64(0), _u64(0)
    for cell in range(board.cells):
        row, column = cell // width, cell % width
        board.row[cell], board.column[cell] = row, column
        every |= bit(cell)
        if (row == 0 or row == last_row) and (column == 0 or column == last_column):
            corners |= bit(cell)
        if (row + column) % 2:
            dark |= bit(cell)
    board.every, board.corners, board.dark = every, corners, dark
    for cell in range(board.cells):
        _steps_from(board, cell)
    board.knight[POCKET] = every
    for cell in range(board.cells):
        _distances_from(board, cell)
    _symmetries(board)
    board.stride = _u64(width)
    board.not_first, board.not_first_two = (
        _columns(board, 1, last_column),
        _columns(board, 2, last_column),
    )
    board.not_last = _columns(board, 0, last_column - 1)
    board.not_last_two = _columns(board, 0, last_column - 2)
    board.limit = board.step_limit = NO_LIMIT
