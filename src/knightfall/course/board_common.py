"""Code shared by the course's boards: knight moves, shuffling, pictures, the game loop, set-up.

A course cell is (row, column), row 0 on top.  On the flat boards it is also a number, column by
column: row + column · height.
"""

from __future__ import annotations

import random
import timeit
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

Cell = tuple[int, int]
"""Row and column, row 0 on top."""

KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
"""The knight's moves as (rows, columns), in the order in which every course board tries them."""

Targets = tuple[tuple[int, Cell], ...]
"""The cells a knight's move away, each as its number and as (row, column)."""


@cache
def cells_by_column(width: int, height: int) -> tuple[Cell, ...]:
    """Return all cells of a board in the order of their numbers: column by column."""
    return tuple((row, column) for column in range(width) for row in range(height))


@cache
def knight_targets(width: int, height: int) -> tuple[Targets, ...]:
    """Return, for each cell number, the cells that a knight could reach on an empty board.

    Numbers outside the board have entries too; negative ones index from the end.  An agent that
    forecasts the resignation (-1, -1) then gets the same moves from there as on the original board.
    """
    most = width * height + 3  # the length of a flat board's list, which a move indexes
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
# `random.shuffle` takes more than half of the time of the course's board.  Agents see its order,
# so it can be neither left out nor changed.  `shuffle` below gives the same result for short
# lists by the same algorithm (Fisher-Yates): each item, from the last to the second, is swapped
# with a random one at or before it, whose index is drawn as random bits until it is small enough.

LIBRARY_SHUFFLE = random.shuffle
draw_bits = random.getrandbits

DRAWS = tuple(
    tuple((place, (place + 1).bit_length()) for place in range(length - 1, 0, -1))
    for length in range(len(KNIGHT_STEPS) + 1)
)
"""For each length of a list: the indices to swap, and how many random bits are drawn for each."""


def shuffle(moves: list[Cell]) -> None:
    """Shuffle at most eight moves exactly as `random.shuffle` does, only faster.

    The order and the state of the generator afterwards are the same.  If a program has replaced
    `random.shuffle`, the replacement is called.
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
"""The line ending of the course's boards, in this unusual order."""

Symbol = Callable[[int, int], str]
"""A function that returns the character to draw in a cell, given its row and column."""


def draw(width: int, height: int, symbol: Symbol) -> str:
    """Return a text picture of a board with numbered rows and columns."""
    margin = len(str(height - 1)) + 1
    lines = [" " * (margin + 3) + "   ".join(map(str, range(width)))]
    lines += (f"{row:<{margin}}{_cells(row, width, symbol)}" for row in range(height))
    return "".join(line + END_OF_LINE for line in lines)


def draw_cells(width: int, height: int, symbol: Symbol) -> str:
    """Return a text picture of a board without row and column numbers."""
    return "".join(_cells(row, width, symbol) + END_OF_LINE for row in range(height))


def _cells(row: int, width: int, symbol: Symbol) -> str:
    return " | " + "".join(f"{symbol(row, column)} | " for column in range(width))


# -- the game, by the wall clock ---------------------------------------------------------------


Reason = Literal["timeout", "forfeit", "illegal move"]
"""How a game was lost: by a late answer ("timeout"), by an illegal answer although legal moves
existed ("forfeit"), or because no legal move was left ("illegal move"), the ordinary end."""

TimeLeft = Callable[[], float]
"""A function that returns the milliseconds left for the current move; negative when time is up.

A function kept from an earlier move also reports the time of the current move.
"""

Ask = Callable[[Any, Any, list[Cell], TimeLeft], Any]
"""Calls a player's `get_move`, given the player, a board copy, the legal moves and `time_left`."""


def answers(board: Any, time_limit: float, ask: Ask) -> Iterator[tuple[Any, list[Cell], bool]]:
    """For each turn, yield the player's answer, its legal moves and whether the answer was late.

    The caller makes the move before the next iteration.  A player without moves is called, too.
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
    """Play a game to its end on `board` itself; return the winner and the reason.

    `record` is called with each move just before it is made.
    """
    asked = answers(board, time_limit, ask)
    while True:
        answer, legal_moves, late = next(asked)
        if late:
            return board.inactive_player, "timeout"
        if answer not in legal_moves:  # a list [row, column] never equals a tuple
            return board.inactive_player, "forfeit" if legal_moves else "illegal move"
        record(answer)
        board.apply_move(answer)


# -- setting up a position ---------------------------------------------------------------------


Knights = tuple[int | None, int | None]
"""The cells of player 1 and player 2 as `knightfall.board` numbers them; None if not placed."""


def lay_out(
    game: Any, open: int, knights: Knights, turn: tuple[Any, Any], owners: Mapping[int, int] = {}
) -> None:
    """Set up a position on a fresh course board, in place.

    `open` has a bit for each open cell; `turn` is (player to move, other player).  `owners` maps
    visited cells to 1 or 2, the player who visited them: the oldest board stores that.  Cells
    missing in `owners` count as player 1's.
    """
    game.move_count = game.width * game.height - open.bit_count()
    if hasattr(game, "__board_state__"):
        _oldest(game, open, knights, owners)
        game.__active_player__, game.__inactive_player__ = turn
    else:
        _flat(game, open, knights, int(turn[0] is not game._player_1))
        game._active_player, game._inactive_player = turn


def _flat(game: Any, open: int, knights: Knights, initiative: int) -> None:
    """Write `_board_state`: the cells by column, the player to move, player 2's and 1's cells."""
    width, height = game.width, game.height
    state: list[Any] = [
        1 - (open >> row * width + column & 1) for row, column in cells_by_column(width, height)
    ]
    first, second = (None if c is None else c // width + c % width * height for c in knights)
    game._board_state = [*state, initiative, second, first]


def _oldest(game: Any, open: int, knights: Knights, owners: Mapping[int, int]) -> None:
    width = game.width
    for row, column in cells_by_column(width, game.height):
        cell = row * width + column
        if not open >> cell & 1:
            game.__board_state__[row][column] = owners.get(cell, 1)
    for player, at in zip((game.__player_1__, game.__player_2__), knights, strict=True):
        if at is not None:
            game.__last_player_move__[player] = at // width, at % width
