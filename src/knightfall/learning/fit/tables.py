"""Positions as tables of features, one for each view.

What is learned of a position depends on who looks at it.  For the hunter it is the truth: does it
win by best play?  For the runner, who nearly always loses so, it is also what may come of it: did
it win the game that was really played, against a hunter worth the name?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.heuristics.features import FEATURES, describe_all
from knightfall.heuristics.model_file import VIEWS
from knightfall.heuristics.race import RACE, race_all
from knightfall.kernel.geometry import geometry

Floats = npt.NDArray[np.float32]
SEEN_BY: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "linear": (FEATURES, describe_all),
    "net": (RACE, race_all),
}
"""What each kind of model looks at: the names of its features, and what counts them."""

LATE = 44 / 49
"""Before so much of the board is gone nearly every position is the hunter's: nothing to learn."""


@dataclass(frozen=True)
class Table:
    """Positions of one view: a row of features each, whether the player wins, and the share of the
    board that is open.
    """

    features: Floats
    wins: Floats
    phase: Floats

    def __len__(self) -> int:
        return len(self.wins)


@dataclass(frozen=True)
class Labelled:
    """Positions of a board, and what is known of each; `serious`: its hunter was not a weak one."""

    open: npt.NDArray[np.uint64]
    mover: npt.NDArray[np.uint8]
    waiter: npt.NDArray[np.uint8]
    wins: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    serious: npt.NDArray[np.bool_]


def tables(board: Board, positions: Labelled, kind: str) -> dict[str, Table]:
    """The positions of a board by view, with the features of a kind of model."""
    names, describe = SEEN_BY[kind]
    colour = np.array([board.colour(cell) for cell in range(board.cells)], np.int8)
    hunts = colour[positions.mover] == colour[positions.waiter]
    features = np.zeros((len(hunts), len(names)), np.float32)
    describe(
        geometry(board),
        np.ascontiguousarray(positions.open, np.uint64),
        np.ascontiguousarray(positions.mover),
        np.ascontiguousarray(positions.waiter),
        features,
    )
    phase = features[:, names.index("open cells")] / np.float32(board.cells)
    soon = phase < LATE
    wins, won, serious = positions.wins > 0, positions.result > 0, soon & positions.serious
    views = (
        (hunts & soon, wins),
        (~hunts & soon, ~wins),
        (~hunts & serious, wins | won),
        (hunts & serious, ~wins | ~won),
    )
    return {
        view: Table(features[chosen], target[chosen].astype(np.float32), phase[chosen])
        for view, (chosen, target) in zip(VIEWS, views, strict=True)
    }


def joined(parts: Iterable[dict[str, Table]]) -> dict[str, Table]:
    """The tables of several boards as one."""
    listed = list(parts)
    return {
        view: Table(
            np.concatenate([part[view].features for part in listed]),
            np.concatenate([part[view].wins for part in listed]),
            np.concatenate([part[view].phase for part in listed]),
        )
        for view in VIEWS
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
