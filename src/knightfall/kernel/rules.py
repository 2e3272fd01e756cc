"""The rules of the game, compiled, on sets of cells as 64-bit words.

A position is four numbers: the set of open cells, the mover's cell, the opponent's cell, and (where
it matters) the side whose value is computed.  A knight in the pocket stands on `POCKET`, from where
every cell is one move away, so that placement needs no code of its own.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, POCKET, bitset, geometry
from knightfall.position import Position, Side, other

Geometry = Any
"""The board's record (`knightfall.kernel.geometry`)."""

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
