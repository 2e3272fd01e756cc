"""Positions as tables of features, by the role of the mover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.heuristics.features import FEATURES, NUMBER, describe_all
from knightfall.heuristics.model_file import ROLES
from knightfall.kernel.geometry import geometry

Floats = npt.NDArray[np.float32]
LATE = 44 / 49
"""Before so much of the board is gone nearly every position is the hunter's: nothing to learn."""


@dataclass(frozen=True)
class Table:
    """Positions of one role: a row of features each, and whether the mover wins."""

    features: Floats
    wins: Floats

    @property
    def phase(self) -> Floats:
        """The share of the board that is open."""
        found: Floats = self.features[:, NUMBER - 2] / self.features[:, NUMBER - 1]
        return found

    def __len__(self) -> int:
        return len(self.wins)


def tables(
    board: Board,
    open: npt.NDArray[np.uint64],
    mover: npt.NDArray[np.uint8],
    waiter: npt.NDArray[np.uint8],
    wins: npt.NDArray[np.int8],
) -> dict[str, Table]:
    """The positions of a board by the mover's role."""
    colour = np.array([board.colour(cell) for cell in range(board.cells)], np.int8)
    hunts = colour[mover] == colour[waiter]
    features = np.zeros((len(open), NUMBER), np.float32)
    words = np.ascontiguousarray(open, np.uint64)
    describe_all(
        geometry(board), words, np.ascontiguousarray(mover), np.ascontiguousarray(waiter), features
    )
    soon = features[:, FEATURES.index("open cells")] < LATE * board.cells
    found = {}
    for role, chosen in zip(ROLES, (hunts & soon, ~hunts & soon), strict=True):
        found[role] = Table(features[chosen], wins[chosen].astype(np.float32))
    return found


def joined(parts: Iterable[dict[str, Table]]) -> dict[str, Table]:
    """The tables of several boards as one."""
    listed = list(parts)
    return {
        role: Table(
            np.concatenate([part[role].features for part in listed]),
            np.concatenate([part[role].wins for part in listed]),
        )
        for role in ROLES
    }


@dataclass(frozen=True)
class Scale:
    """Mean and spread of each feature, so that models see numbers around zero."""

    mean: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]

    @classmethod
    def of(cls, features: Floats) -> Scale:
        """That of a table; a feature that never changes keeps its spread of 1."""
        spread = features.std(axis=0, dtype=np.float64)
        return cls(features.mean(axis=0, dtype=np.float64), np.where(spread < 1e-6, 1.0, spread))

    def applied(self, features: Floats) -> Floats:
        """The features, scaled."""
        found: Floats = ((features - self.mean) / self.spread).astype(np.float32)
        return found
