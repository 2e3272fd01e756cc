"""The compiled board and the rules on it, in machine words.

A board is one flat record, its geometry, which compiled code takes as a single pointer.  Python
reads the same fields by the same names (`geometry.knight[cell]`), so that the same source of a
heuristic runs compiled and interpreted.

A position is four numbers: the set of open cells, the mover's cell, the opponent's cell, and (where
it matters) the side whose value is computed.  A knight in the pocket stands on `POCKET`, from where
every cell is one move away, so that placement needs no code of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from knightfall.board import Board
from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.position import Position, Side, other

# -- the board ----------------------------------------------------------------------------------

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

Geometry = Any
"""The board's record, in compiled code and as an interpreted heuristic gets it."""

GeometryArray = npt.NDArray[Any]
"""An array of one such record."""


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


def geometry(board: Board, step_limit: int = NO_LIMIT) -> GeometryArray:
    """Return a new, writeable copy of a board's geometry: an array of one record.

    A single evaluation on it may take `step_limit` steps.
    """
    boards = _master(board).copy()
    boards["step_limit"] = step_limit
    return boards


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


# -- the rules ----------------------------------------------------------------------------------

_u64, _i64 = types.uint64, types.int64


@compiled(_u64(GEOMETRY, _u64, _i64))
def moves(board: Geometry, open: Bits, cell: int) -> Bits:
    """Return the open cells a knight's move from a cell."""
    return open & board.knight[_u64(cell)]  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, _u64, _i64))
def mobility(board: Geometry, open: Bits, cell: int) -> int:
    """Return how many open cells are a knight's move from a cell."""
    return count(open & board.knight[cell])


@compiled(_i64(GEOMETRY, _u64, _i64))
def space(board: Geometry, open: Bits, cell: int) -> int:
    """Return how many of the up to eight cells that touch a cell are open."""
    return count(open & board.touching[cell])


@compiled(_i64(GEOMETRY, _u64, _u64))
def onward(board: Geometry, open: Bits, cells: Bits) -> int:
    """Return the sum of the mobilities of the cells of a set."""
    total = 0
    while cells != _u64(0):
        total += mobility(board, open, first(cells))
        cells = rest(cells)
    return total


@compiled(_u64(GEOMETRY, _u64))
def spread(board: Geometry, cells: Bits) -> Bits:
    """Return every cell a knight's move from any cell of a set, all at once.

    Shifting the whole word moves all cells alike.  Sideways first (one or two columns, with the
    columns that would wrap around masked out), then two or one rows up and down::

          .  2  .  1  .       1: one column aside, two rows away
          2' .  .  .  1'      2: the same to the left
          .  .  ♞  .  .       1', 2': two columns aside, one row away
          2' .  .  .  1'
          .  2  .  1  .
    """
    one = ((cells << _u64(1)) & board.not_first) | ((cells >> _u64(1)) & board.not_last)
    two = ((cells << _u64(2)) & board.not_first_two) | ((cells >> _u64(2)) & board.not_last_two)
    row = board.stride
    rows = row + row
    return ((one << rows) | (one >> rows) | (two << row) | (two >> row)) & board.every  # type: ignore[no-any-return]


@compiled(_u64(GEOMETRY, _u64, _i64))
def reach(board: Geometry, open: Bits, cell: int) -> Bits:
    """Return every open cell a knight could get to through open cells, if it were alone."""
    reached = open & board.knight[cell]
    edge = reached
    while edge != _u64(0):
        edge = spread(board, edge) & open & ~reached
        reached |= edge
    return reached  # type: ignore[no-any-return]


@compiled(_i64(GEOMETRY, _u64, _i64))
def path_bound(board: Geometry, region: Bits, cell: int) -> int:
    """Return an upper bound of the steps of any knight's path from a cell through a region.

    A path alternates colours and uses each cell once: s cells of the knight's own colour and o of
    the other allow at most min(2·o, 2·s+1) steps.
    """
    dark = count(region & board.dark)
    light = count(region) - dark
    if (board.dark >> _u64(cell)) & _u64(1) != _u64(0):
        return min(2 * light, 2 * dark + 1)
    return min(2 * dark, 2 * light + 1)


@compiled(_i64(GEOMETRY, _u64, _u64))
def tightest(board: Geometry, open: Bits, cells: Bits) -> int:
    """Return the cell of a set with the least mobility: Warnsdorff's rule for long paths."""
    chosen, fewest = 0, 65
    while cells != _u64(0):
        cell = first(cells)
        ways = mobility(board, open, cell)
        if ways < fewest:
            chosen, fewest = cell, ways
        cells = rest(cells)
    return chosen


@compiled(_i64(GEOMETRY, _u64, _i64, _i64, _i64))
def perft(board: Geometry, open: Bits, mover: int, waiter: int, depth: int) -> int:
    """Return the number of lines of exactly `depth` plies."""
    if depth == 0:
        return 1
    left = moves(board, open, mover)
    if depth == 1:
        return count(left)
    lines = 0
    while left != _u64(0):
        cell = first(left)
        lines += perft(board, open & ~(_u64(1) << _u64(cell)), waiter, cell, depth - 1)
        left = rest(left)
    return lines


# -- openings that are mirror images ------------------------------------------------------------
#
# With both knights placed and no move made, 7×7 has 2,352 openings in 315 classes.  Later in a game
# mirror images hardly ever occur, and looking for them would cost more than it saves.


@compiled(types.boolean(GEOMETRY, _u64, _i64, _i64))
def is_opening(board: Geometry, open: Bits, mover: int, waiter: int) -> bool:
    """Return whether every cell is open but those the knights stand on."""
    filled = open
    if mover != POCKET:
        filled |= _u64(1) << _u64(mover)
    if waiter != POCKET:
        filled |= _u64(1) << _u64(waiter)
    return filled == board.every  # type: ignore[no-any-return]


@compiled(types.UniTuple(_i64, 2)(GEOMETRY, _i64, _i64))
def canonical_opening(board: Geometry, mover: int, waiter: int) -> tuple[int, int]:
    """Return the knights' cells in the smallest mirror image of an opening."""
    best = mover * 128 + waiter
    for number in range(1, board.symmetries):
        image = board.symmetry[number, mover] * 128 + board.symmetry[number, waiter]
        best = min(best, image)
    return best // 128, best % 128


# -- from and to plain Python -------------------------------------------------------------------


def words(position: Position, side: Side | None = None) -> tuple[int, int, int]:
    """Return (open, cell of `side`, cell of its opponent); by default `side` is to move."""
    side = side or position.to_move
    mine, theirs = position.knight(side), position.knight(other(side))
    return (
        bitset(position.open),
        POCKET if mine is None else mine,
        POCKET if theirs is None else theirs,
    )


def perft_of(position: Position, depth: int) -> int:
    """Return the number of lines of exactly `depth` plies from a position."""
    open, mover, waiter = words(position)
    return perft(geometry(position.board)[0], open, mover, waiter, depth)
