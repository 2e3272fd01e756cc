"""What may be learned from, and what is kept to see how well that went.

A game belongs where its opening belongs, with all mirror images: of the classes of openings of a
board a tenth is for the test, a tenth for validation.  Which ones depends on the board alone, so
an opening is for the test in every set that is ever made.

Games from different openings can meet.  Of a position that occurs several times, images included,
one is kept: for the test if it occurs there, else for validation, else for training.
"""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.solver.atlas import representatives

SPLITS = ("train", "validation", "test")
HELD_BACK = 0.1
"""The share of openings for validation, and as many for the test; at least one of each."""

SEED = 0
"""Changed, it would make training positions of what others tested on."""


@cache
def classes(board: Board) -> dict[tuple[int, int], int]:
    """The classes of openings by number: the cells of mover and waiter in the first of each."""
    return {cells: number for number, cells in enumerate(representatives(board))}


@cache
def class_splits(board: Board) -> npt.NDArray[np.uint8]:
    """For each class of openings, where it belongs, as a place in `SPLITS`."""

    def lot(cells: tuple[int, int]) -> bytes:
        text = f"split {SEED}/{board.text}/{board.name(cells[0])}{board.name(cells[1])}"
        return hashlib.sha256(text.encode()).digest()

    known = classes(board)
    held = max(1, round(HELD_BACK * len(known)))
    found = np.zeros(len(known), np.uint8)
    for place, cells in enumerate(sorted(known, key=lot)[: 2 * held]):
        found[known[cells]] = 2 if place < held else 1
    return found


def kept(keys: npt.NDArray[np.uint64], splits: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which positions are kept: of those with one key, the first in the last of their splits."""
    order = np.lexsort((np.arange(len(keys)), len(SPLITS) - splits.astype(np.int8), keys))
    in_order = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = in_order[1:] != in_order[:-1]
    found = np.zeros(len(keys), np.bool_)
    found[order[first]] = True
    return found
