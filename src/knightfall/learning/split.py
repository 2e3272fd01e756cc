"""Canonical forms of positions, and the split into training, validation and test openings.

A game belongs to the split of its opening, mirror images included. A tenth of a board's opening
classes is for the test, a tenth for validation. The board alone decides which, so an opening is for
the test in every set.

Games from different openings can reach the same position. Of a position that occurs several times,
images included, one is kept: for the test if it occurs there, else for validation, else for
training.

The canonical form is the mirror image with the smallest cell of the mover, then of the waiter, then
the smallest word of open cells. An opening's canonical form is the atlas's representative. Mover
and waiter are not exchanged: that would be another position.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.openings import seeded_order
from knightfall.solver.atlas import representatives

SPLITS = ("train", "validation", "test")
HELD_BACK = 0.1
"""The share of openings for validation, and the same share for the test; at least one each."""

SEED = 0
"""Never change it: training positions would become test positions of older sets."""


@cache
def classes(board: Board) -> dict[tuple[int, int], int]:
    """Return the index of each opening class, by its representative (mover's cell, other cell)."""
    return {cells: number for number, cells in enumerate(representatives(board))}


@cache
def class_splits(board: Board) -> npt.NDArray[np.uint8]:
    """Return the split of each opening class, as an index into `SPLITS`."""
    known, name = classes(board), board.name
    mixed = seeded_order(known, lambda on: f"split {SEED}/{board.text}/{name(on[0])}{name(on[1])}")
    held = max(1, round(HELD_BACK * len(known)))
    found = np.zeros(len(known), np.uint8)
    for place, cells in enumerate(mixed[: 2 * held]):
        found[known[cells]] = 2 if place < held else 1
    return found


def kept(keys: npt.NDArray[np.uint64], splits: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Mark one position to keep per key: a test position if any, else validation, else training."""
    order = np.lexsort((np.arange(len(keys)), len(SPLITS) - splits.astype(np.int8), keys))
    in_order = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = in_order[1:] != in_order[:-1]
    found = np.zeros(len(keys), np.bool_)
    found[order[first]] = True
    return found


# -- mirror images, many positions at once ----------------------------------------------------
#
# The same form as that of `Board.canonical`, with the open cells after the knights: a Python loop
# over the symmetries would take minutes for a million positions.


Word = npt.NDArray[np.uint64]
Cell = npt.NDArray[np.uint8]


@cache
def _tables(board: Board) -> list[tuple[Cell, list[Word]]]:
    """Return for each symmetry the image of a cell, and the image of each byte of a word."""
    found = []
    for image in board.symmetries:
        table = np.zeros((8, 256), np.uint64)
        for cell, there in enumerate(image):
            bytes_with_it = (np.arange(256) >> cell % 8 & 1).astype(bool)
            table[cell // 8, bytes_with_it] |= np.uint64(1 << there)
        found.append((np.array(image, np.uint8), list(table[: -(-board.cells // 8)])))
    return found


def canonical_forms(
    board: Board, open: Word, movers: Cell, waiters: Cell
) -> tuple[Word, Cell, Cell]:
    """Return the canonical form of each position."""
    in_bytes = np.ascontiguousarray(open, "<u8").view(np.uint8).reshape(-1, 8)
    best_open, best_pair = np.zeros(0, np.uint64), np.zeros(0, np.uint16)
    for number, (there, bytes_of) in enumerate(_tables(board)):
        pair = there[movers].astype(np.uint16) * 64 + there[waiters]
        turned = np.zeros(len(open), np.uint64)
        for place, table in enumerate(bytes_of):
            turned |= table[in_bytes[:, place]]
        if number == 0:
            best_open, best_pair = turned, pair
            continue
        before = (pair < best_pair) | ((pair == best_pair) & (turned < best_open))
        best_open = np.where(before, turned, best_open)
        best_pair = np.where(before, pair, best_pair)
    return best_open, (best_pair // 64).astype(np.uint8), (best_pair % 64).astype(np.uint8)


def keys(board: Board, open: Word, movers: Cell, waiters: Cell) -> Word:
    """Return a 64-bit hash for each position and board.

    Among ten million positions, the probability that two share a hash is a few in a million.
    """
    place = (movers.astype(np.uint64) << np.uint64(6)) | waiters
    place |= np.uint64(board.width << 20 | board.height << 12)
    return _mixed(_mixed(open) ^ _mixed(place + np.uint64(0x9E3779B97F4A7C15)))


def _mixed(words: Word) -> Word:
    """Return each word with its bits mixed (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
