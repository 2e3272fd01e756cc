"""Positions for several tests of the solver."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st
from naive_solver import plies_to_end
from strategies import WORDS

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver import proof_table


def ends(plies: int, within: int) -> bool:
    """Return what `ends_within(within)` must return for a game that lasts `plies`."""
    return within >= plies and within % 2 == plies % 2


def crowded(how_many: int, seed: int, most: int, sizes: list[Board]) -> list[Position]:
    """Draw positions with up to `most` open cells, many of which no game leads to."""
    rng = random.Random(seed)
    found = []
    for _ in range(how_many):
        board = rng.choice(sizes)
        number = 2 + rng.randint(0, min(most, board.cells - 2))
        # Half of the cells are close together, so that the game lasts a while.
        pool = range(board.cells)
        if rng.random() < 0.5:
            corner = rng.randrange(board.cells)
            near = sorted(pool, key=lambda cell: (board.distance[corner][cell], rng.random()))
            pool = near[: number + 3]
        white, black, *open = rng.sample(pool, min(number, len(pool)))
        found.append(Position(board, frozenset(open), white, black, rng.choice(["w", "b"])))
    return found


def reflected(how_many: int, seed: int, most: int, sizes: list[Board]) -> list[Position]:
    """Draw positions that are symmetric under point reflection; on odd boards the centre may be
    open.
    """
    rng = random.Random(seed)
    found = []
    for _ in range(how_many):
        board = rng.choice(sizes)
        last = board.cells - 1
        mover, *open = rng.sample(range(board.cells // 2), rng.randint(1, board.cells // 2))
        both = [*open[: most // 2], *(last - cell for cell in open[: most // 2])]
        if board.cells % 2 and rng.random() < 0.3:
            both.append(last // 2)
        found.append(Position(board, frozenset(both), mover, last - mover, rng.choice(["w", "b"])))
    return found


@st.composite
def places(draw: st.DrawFn) -> tuple[int, int, int]:
    """Draw a set of open cells and the cells of both knights; several draws often differ in little.

    At least one cell is open, as in every position that the table stores.
    """
    mover, waiter = draw(st.sampled_from([(0, 1), (1, 0), (0, 63), (63, 0), (62, 63), (5, 40)]))
    open = draw(st.one_of(WORDS, st.sampled_from([1 << 2, 3 << 2, 1 << 14, 1 << 16])))
    return open & ~(1 << mover | 1 << waiter) or 1 << 2, mover, waiter


class Proofs:
    """A proof table of a few buckets, used by one thread."""

    def __init__(self, buckets: int) -> None:
        self.table = np.zeros(buckets * proof_table.BUCKET, proof_table.ENTRY_DTYPE)
        self.states = np.zeros(1, proof_table.DTYPE)
        self.states["table"] = self.table.ctypes.data
        self.states["buckets"] = buckets - 1

    def store(self, place: tuple[int, int, int], data: int) -> None:
        proof_table.store(self.states[0], *place, data)

    def probe(self, place: tuple[int, int, int]) -> int:
        return int(proof_table.probe(self.states[0], *place))


def winning_answers(position: Position) -> int:
    """Return how many moves of the side to move win, by brute force."""
    return sum(plies_to_end(position.play(move)) % 2 == 0 for move in position.legal_moves)
