"""Labelled positions, read for learning: each once, and none on both sides of the split.

::

    from knightfall.learning import data

    train = data.read("positions", "train")
    test = data.read("positions", "test", board="7x7")
    train.open, train.mover, train.waiter, train.wins      # numpy arrays, a position each
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.errors import KnightfallError, nearest
from knightfall.learning.settings import Settings, Shard, read_settings
from knightfall.learning.shards import Columns, read_shard
from knightfall.learning.split import SPLITS, kept


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions as columns, in the order of their files; see `knightfall.learning.shards`.

    Each is turned to the first of its mirror images.  `board`, `mover_agent` and `waiter_agent` are
    places in `boards` and `agents`.
    """

    open: npt.NDArray[np.uint64]
    mover: npt.NDArray[np.uint8]
    waiter: npt.NDArray[np.uint8]
    wins: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    hunter: npt.NDArray[np.int8]
    ply: npt.NDArray[np.uint8]
    drawn: npt.NDArray[np.uint8]
    opening: npt.NDArray[np.uint16]
    game: npt.NDArray[np.uint32]
    key: npt.NDArray[np.uint64]
    mover_agent: npt.NDArray[np.uint8]
    waiter_agent: npt.NDArray[np.uint8]
    split: npt.NDArray[np.uint8]
    board: npt.NDArray[np.uint8]
    cells: npt.NDArray[np.uint8]
    boards: tuple[str, ...]
    agents: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.open)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Positions:
        """Some of them."""
        some: dict[str, Any] = {
            name: column[chosen] if isinstance(column, np.ndarray) else column
            for name, column in vars(self).items()
        }
        return Positions(**some)


def read(
    folder: str | Path, split: str, board: str | None = None, *, partial: bool = False
) -> Positions:
    """The positions of a split (train, validation or test), of all boards or of one.

    No position is there twice, and none has an image in another split.  A set that is not
    complete is refused, unless `partial` says that what there is will do.
    """
    if split not in SPLITS:
        raise KnightfallError(f"split {split!r} is not one of {', '.join(SPLITS)}")
    folder = Path(folder)
    settings = read_settings(folder)
    shards = settings.shards()
    if board is not None:
        name = Board.named(board).text
        if name not in settings.shares:
            hint = nearest(name, settings.shares)
            raise KnightfallError(
                f"{str(folder)!r} has no board {name}: it has {', '.join(settings.shares)}{hint}"
            )
        shards = [shard for shard in shards if shard.board == name]
    there = [shard for shard in shards if (folder / shard.name).exists()]
    if not there or (len(there) < len(shards) and not partial):
        raise KnightfallError(
            f"{str(folder)!r} is not complete: {len(there)} of {len(shards)} files are there; go "
            f"on with: {settings.command(str(folder))}"
        )
    found = everything(folder, settings, there)
    return found.where(kept(found.key, found.split) & (found.split == SPLITS.index(split)))


def everything(folder: Path, settings: Settings, shards: list[Shard]) -> Positions:
    """All positions of some files, those that are there several times included."""
    boards = tuple(settings.shares)
    agents: dict[str, int] = {}
    parts: list[Columns] = []
    for shard in shards:
        columns, names = read_shard(folder, settings, shard)
        codes = np.array([agents.setdefault(name, len(agents)) for name in names], np.uint8)
        for who in ("mover_agent", "waiter_agent"):
            columns[who] = codes[columns[who]]
        here = np.full(len(columns["open"]), boards.index(shard.board), np.uint8)
        cells = np.full_like(here, Board.named(shard.board).cells)
        parts.append({**columns, "board": here, "cells": cells})
    whole: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    return Positions(**whole, boards=boards, agents=tuple(agents))
