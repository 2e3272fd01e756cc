"""``knightfall learn chances``: games of hunters, the fit, and what it is worth."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from knightfall.display.progress import progress
from knightfall.errors import KnightfallError
from knightfall.files import atomic_writer, make_folder
from knightfall.kernel.rules import words
from knightfall.learning.chances.decisions import POPULATION, UNSEEN, USUAL, Decision, decisions
from knightfall.learning.chances.fit import Table, fit_shares, fit_weights
from knightfall.learning.chances.report import ChancesReport, error_rate, judged
from knightfall.learning.images import first_images, keys
from knightfall.practical.chances import Chances, as_json

GAMES = 1600
"""Hunted to learn from; a fifth of that to judge by, with known hunters and with others."""

FEWEST = 20
DIGITS = 4


def learn(folder: Path, games: int = GAMES, seed: int = 0) -> ChancesReport:
    """Learn the chances and write ``chances.json`` into a folder."""
    start = time.perf_counter()
    if games < FEWEST:
        raise KnightfallError(f"games={games} are too few to learn from: give {FEWEST} or more")
    make_folder(folder)
    held = max(games // 5, len(UNSEEN))
    with progress("hunting", games + 2 * held) as done:
        train = decisions(POPULATION, "train", games, seed, done)
        known = decisions(POPULATION, "test", held, seed, lambda now: done(games + now))
        other = decisions(UNSEEN, "test", held, seed, lambda now: done(games + held + now))
    train = without(train, [*known, *other])
    habits = np.round(fit_weights(Table.of(train)), DIGITS)
    chances = Chances(habits, fit_shares([one for one in train if one.hunter in USUAL], habits))
    made_by = {
        "command": "knightfall learn chances",
        "games": games,
        "seed": seed,
        "decisions": len(train),
    }
    with atomic_writer(folder / "chances.json") as file:
        file.write((json.dumps(as_json(chances, made_by), indent=1) + "\n").encode())
    rate = error_rate(train)
    return ChancesReport(
        chances=chances,
        learned_from=len(train),
        judged=[
            judged("known hunters", known, chances, rate),
            judged("other hunters", other, chances, rate),
        ],
        folder=str(folder),
        seed=seed,
        seconds=time.perf_counter() - start,
    )


def without(some: Sequence[Decision], others: Sequence[Decision]) -> list[Decision]:
    """Those whose position, or an image of it, is not among that of others."""
    there = set(_keys(others).tolist())
    return [one for one, key in zip(some, _keys(some).tolist(), strict=True) if key not in there]


def _keys(some: Sequence[Decision]) -> npt.NDArray[np.uint64]:
    if not some:
        return np.zeros(0, np.uint64)
    board = some[0].position.board
    open, movers, waiters = zip(*(words(one.position) for one in some), strict=True)
    cells = np.array(movers, np.uint8), np.array(waiters, np.uint8)
    return keys(board, *first_images(board, np.array(open, np.uint64), *cells))
