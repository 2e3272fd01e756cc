"""A board's geometry, laid out by compiled code: a browser has no Python to do it.

It writes, field by field, what `knightfall.kernel.geometry` writes; a test compares all boards.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.board import UNREACHABLE
from knightfall.kernel.bits import Bits, bit
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, NO_LIMIT, POCKET, RINGS

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
    """The cells a knight's move from a cell, and those that touch it."""
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
    """Ring by ring, the cells at each knight distance."""
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
    """The identity first, then rows and columns turned over, then the same transposed."""
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
    """Write all that a board's record holds; it must be zero before."""
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
