"""What the environments share: observations and masks, settings, and the sequence of episodes.

An observation has the shape (height, width, planes) and holds zeros and ones.  Row 0 is the top
row, as in the numbering of cells (see `knightfall.board`).  The action that names a cell is its
number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side, other

Planes = npt.NDArray[np.int8]

PLANES = (
    "own knight",
    "opponent's knight",
    "open cells",
    "cells that the own knight could go to if it were its turn",
    "cells that the opponent's knight could go to if it were its turn",
    "all ones if it is the observer's turn",
    "all ones if the observer is the hunter",
)
"""What the ones of each plane of an observation mean."""


def planes_space(board: Board) -> spaces.Space[Planes]:
    """Return the space of the observations on a board."""
    return spaces.Box(0, 1, (board.height, board.width, len(PLANES)), np.int8)


def planes_of(position: Position, side: Side) -> Planes:
    """Return the planes of a position as a side sees them."""
    board = position.board
    planes = np.zeros((board.cells, len(PLANES)), np.int8)
    for plane, knight in enumerate((position.knight(side), position.knight(other(side)))):
        if knight is not None:
            planes[knight, plane] = 1
    planes[list(position.open), 2] = 1
    planes[position.targets(side), 3] = 1
    planes[position.targets(other(side)), 4] = 1
    planes[:, 5] = position.to_move == side
    planes[:, 6] = position.hunter == side
    return planes.reshape(board.height, board.width, len(PLANES))


def mask_of(board: Board, cells: Iterable[int]) -> Planes:
    """Return an array with a one for each of the cells: a mask for `Discrete.sample`."""
    mask = np.zeros(board.cells, np.int8)
    mask[list(cells)] = 1
    return mask


# -- settings and episodes -----------------------------------------------------------------------
#
# The generator of an environment draws one word when it is seeded.  The words of all its episodes
# follow from that by SplitMix64 (Steele, Lea and Flood), which the compiled environment computes,
# too: a thousand NumPy generators could not be advanced in compiled code.


PLACEMENTS = ("random", "free")
SIDES = ("random", "w", "b")
RENDER_MODES = ("human", "ansi", "rgb_array")

GOLDEN = 0x9E3779B97F4A7C15
_WORD = 2**64 - 1


def checked(option: str, value: object, accepted: tuple[str, ...]) -> str:
    """Return the value of an option.  Raise an error if it is not one of the accepted ones."""
    if value in accepted:
        return str(value)
    raise KnightfallError(f"{option}={value!r} must be one of {', '.join(map(repr, accepted))}")


@lru_cache
def openings(board: Board) -> tuple[tuple[int, int], ...]:
    """Return the cells of both knights in all openings in which either knight could move."""
    found = []
    for white in range(board.cells):
        for black in range(board.cells):
            if white != black:
                position = opening(board, white, black)
                if position.targets("w") and position.targets("b"):
                    found.append((white, black))
    return tuple(found)


def opening(board: Board, white: int, black: int) -> Position:
    """Return the position with the knights on two cells and all other cells open."""
    return Position(board, frozenset(range(board.cells)) - {white, black}, white, black, "w")


class Episode(NamedTuple):
    """The beginning of an episode: the position, the learner's side, the opponent's seed."""

    position: Position
    side: Side
    opponent_seed: int


@dataclass
class Episodes:
    """The seeded sequence of episodes of one environment."""

    board: Board
    placement: str
    side: str
    word: int | None = None
    """The state of the generator; None before the first seed."""

    def seed(self, generator: np.random.Generator) -> None:
        """Begin the sequence that a generator determines."""
        self.word = first_word(generator)

    def next(self) -> Episode:
        """Return the next episode."""
        chance, seed = self._draw(), self._draw()
        side: Side = "w"
        if self.side == "b" or (self.side == "random" and chance & 1):
            side = "b"
        position = Position.start(self.board.width, self.board.height)
        if self.placement == "random":
            pairs = openings(self.board)
            position = opening(self.board, *pairs[((chance >> 32) * len(pairs)) >> 32])
        return Episode(position, side, seed >> 1 | 1)

    def _draw(self) -> int:
        """Return the next word of SplitMix64."""
        assert self.word is not None, "the episodes are seeded at the first reset"
        self.word = word = (self.word + GOLDEN) & _WORD
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
        return word ^ (word >> 31)


def first_word(generator: np.random.Generator) -> int:
    """Return the word from which the episodes of a generator follow."""
    return int(generator.integers(2**64, dtype=np.uint64))


def given_start(options: dict[str, Any] | None, board: Board) -> Position | None:
    """Return the position that the reset option ``fen`` asks for; None if there is none."""
    fen = (options or {}).get("fen")
    if fen is None:
        return None
    position = Position.from_fen(fen)
    if position.board != board:
        raise KnightfallError(
            f"fen {fen!r} is on a {position.board.text} board, and the environment is {board.text}"
        )
    if position.winner is not None:
        raise KnightfallError(f"fen {fen!r}: the game is over; an episode needs a legal move")
    return position


def cell_of(action: Any) -> int:
    """Return an action as a number.  Raise an error if it is not a whole number."""
    try:
        return index(action)
    except TypeError:
        raise KnightfallError(
            f"action {action!r} must be a whole number: that of the cell to go to"
        ) from None
