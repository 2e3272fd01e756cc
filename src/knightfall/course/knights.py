"""Knights' moves on the course's boards, looked up, and shuffled as the course shuffled them.

A course cell is (row, column), row 0 on top.  On the flat boards it is also a number, column by
column: row + column · height.
"""

from __future__ import annotations

import random
from functools import cache

Cell = tuple[int, int]
"""Row and column, row 0 on top."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
"""In the order in which every board of the course tries them."""

Targets = tuple[tuple[int, Cell], ...]
"""The cells a knight's move away, each by its number and as (row, column)."""


@cache
def cells_by_column(width: int, height: int) -> tuple[Cell, ...]:
    """The cells in the order of their numbers."""
    return tuple((row, column) for column in range(width) for row in range(height))


@cache
def knight_targets(width: int, height: int) -> tuple[Targets, ...]:
    """For each cell of a board, by its number, where a knight could go if all were open.

    Numbers beside the board have their place too, negative ones from the end: an agent that
    resigns in its own forecasts, with (-1, -1), plays on from there as it did on the original.
    """
    most = width * height + 3  # as long as the list of a flat board, which a move must fit in
    return tuple(
        tuple(
            (row + down + (column + right) * height, (row + down, column + right))
            for down, right in KNIGHT_STEPS
            if 0 <= row + down < height and 0 <= column + right < width
        )
        for number in (*range(most), *range(-most, 0))
        for column, row in [divmod(number, height)]
    )


# -- the shuffle ---------------------------------------------------------------------------
#
# More than half of what the course's board costs is `random.shuffle`, and agents see its order,
# so it can be neither left out nor changed.  `shuffle` below is the same function for short
# lists: the last place first, each exchanges with a place not after it, which is drawn by so
# many bits of the global generator, again and again until it is small enough.

LIBRARY_SHUFFLE = random.shuffle
draw_bits = random.getrandbits

DRAWS = tuple(
    tuple((place, (place + 1).bit_length()) for place in range(length - 1, 0, -1))
    for length in range(len(KNIGHT_STEPS) + 1)
)
"""By the length of a list: the places to fill, and how many bits are drawn for each."""


def shuffle(moves: list[Cell]) -> None:
    """`random.shuffle` for at most eight moves: the same order, the same generator afterwards.

    Whoever has put something else in the place of `random.shuffle` gets that.
    """
    if random.shuffle is not LIBRARY_SHUFFLE:
        random.shuffle(moves)
        return
    for place, bits in DRAWS[len(moves)]:
        other = draw_bits(bits)
        while other > place:
            other = draw_bits(bits)
        moves[place], moves[other] = moves[other], moves[place]
