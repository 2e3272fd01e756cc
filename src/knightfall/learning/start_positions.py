"""Where games of a tuning begin: from some openings to tune on, from others to confirm.

The openings are split as those of labelled positions are (`knightfall.learning.split`): what is for
training is tuned on, what is held back confirms.  A board has too few openings for that, so games
also begin a move of each side later.  Mirror images count once, and a position that both parts lead
to is kept for the confirmation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.rules import words
from knightfall.learning.split import canonical_forms, class_splits, classes, kept, keys
from knightfall.openings import shuffled
from knightfall.position import Position

SAMPLE = 300
"""Positions in which the terms of a sum are compared."""


@dataclass(frozen=True)
class Starts:
    """The positions, as FENs, to tune on and to confirm with."""

    tuning: tuple[str, ...]
    confirmation: tuple[str, ...]

    def of_generation(self, number: int, pairs: int, seed: int) -> list[str]:
        """So many to tune on: each generation goes on where the last one stopped."""
        found: list[str] = []
        at = number * pairs
        while len(found) < pairs:
            turn, place = divmod(at + len(found), len(self.tuning))
            order = shuffled(self.tuning, seed, turn)
            found += order[place : place + pairs - len(found)]
        return found


@lru_cache(maxsize=4)
def starts(board: Board) -> Starts:
    """Those of a board; they depend on nothing else."""
    found: list[Position] = []
    held: list[bool] = []
    for (mover, waiter), split in zip(classes(board), class_splits(board).tolist(), strict=True):
        everywhere = frozenset(range(board.cells))
        opening = Position(board, everywhere - {mover, waiter}, mover, waiter, "w")
        for one in _beginning(opening):
            found.append(one)
            held.append(split != 0)
    open, movers, waiters = zip(*(words(one) for one in found), strict=True)
    cells = np.array(open, np.uint64), np.array(movers, np.uint8), np.array(waiters, np.uint8)
    once = kept(keys(board, *canonical_forms(board, *cells)), np.array(held, np.uint8))
    parts: dict[bool, list[str]] = {False: [], True: []}
    for one, is_held, stays in zip(found, held, once.tolist(), strict=True):
        if stays:
            parts[is_held].append(one.fen)
    if not all(parts.values()):
        raise KnightfallError(
            f"board {board.text} has too few openings to tune on some and to confirm with others"
        )
    return Starts(tuple(parts[False]), tuple(parts[True]))


def _beginning(opening: Position) -> Iterator[Position]:
    """An opening and all that comes of it when each side has moved, if there is a move to make."""
    if opening.winner is not None:
        return
    yield opening
    for move in opening.legal_moves:
        between = opening.play(move)
        for reply in between.legal_moves:
            after = between.play(reply)
            if after.winner is None:
                yield after


def sample(tuning: tuple[str, ...], seed: int) -> list[Position]:
    """Positions of all phases, by random moves from those to tune on."""
    rng = random.Random(f"sizes {seed}")
    found: list[Position] = []
    while len(found) < SAMPLE:
        position = Position.from_fen(rng.choice(tuning))
        line = [position]
        while line[-1].winner is None:
            line.append(line[-1].play(rng.choice(line[-1].legal_moves)))
        found.append(rng.choice(line[:-1]))
    return found
