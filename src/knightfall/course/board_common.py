"""What the course's boards have in common: knights' moves, their shuffle, pictures, the game loop.

A course cell is (row, column), row 0 on top.  On the flat boards it is also a number, column by
column: row + column · height.
"""

from __future__ import annotations

import random
import timeit
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal

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


# -- pictures ----------------------------------------------------------------------------------


END_OF_LINE = "\n\r"
"""In this order: so the course's boards have it."""

Symbol = Callable[[int, int], str]
"""What stands in a cell, by its row and column."""


def draw(width: int, height: int, symbol: Symbol) -> str:
    """Numbered columns and rows, and in each cell its symbol."""
    margin = len(str(height - 1)) + 1
    lines = [" " * (margin + 3) + "   ".join(map(str, range(width)))]
    lines += (f"{row:<{margin}}{_cells(row, width, symbol)}" for row in range(height))
    return "".join(line + END_OF_LINE for line in lines)


def draw_cells(width: int, height: int, symbol: Symbol) -> str:
    """The same without the numbers."""
    return "".join(_cells(row, width, symbol) + END_OF_LINE for row in range(height))


def _cells(row: int, width: int, symbol: Symbol) -> str:
    return " | " + "".join(f"{symbol(row, column)} | " for column in range(width))


# -- the game, by the wall clock ---------------------------------------------------------------


Reason = Literal["timeout", "forfeit", "illegal move"]
"""How a game ended: the loser answered late; illegally though it could have moved; or had no
legal move left, which is the ordinary end."""

TimeLeft = Callable[[], float]
"""The milliseconds left for the move that is being thought about; less than 0 when they are over.

Whoever keeps one from an earlier move is told about the present one.
"""

Ask = Callable[[Any, Any, list[Cell], TimeLeft], Any]
"""How a player is asked: the player, a copy of the board, its legal moves, the time left."""


def answers(board: Any, time_limit: float, ask: Ask) -> Iterator[tuple[Any, list[Cell], bool]]:
    """Ask the active player, again and again: its answer, its legal moves, whether it was late.

    Who goes on makes the move in between.  A player without legal moves is asked, too.
    """
    start = 0.0

    def time_left() -> float:
        return time_limit - 1000.0 * (timeit.default_timer() - start)

    while True:
        legal_moves = board.get_legal_moves()
        game_copy = board.copy()
        start = timeit.default_timer()
        answer = ask(board.active_player, game_copy, legal_moves, time_left)
        late = time_left() < 0
        yield answer, legal_moves, late


def play_out(
    board: Any, time_limit: float, ask: Ask, record: Callable[[Any], None]
) -> tuple[Any, Reason]:
    """Play to the end on `board` itself; the winner, and how it came about.

    `record` gets each move just before it is made.
    """
    asked = answers(board, time_limit, ask)
    while True:
        answer, legal_moves, late = next(asked)
        if late:
            return board.inactive_player, "timeout"
        if answer not in legal_moves:  # a list [row, column] never is
            return board.inactive_player, "forfeit" if legal_moves else "illegal move"
        record(answer)
        board.apply_move(answer)
