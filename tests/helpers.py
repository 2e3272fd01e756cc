"""Fixed boards and positions for tests that are not property tests; a check for other packages.

If there are too many for a quick suite, it tests some of them and `make test-slow` all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

from knightfall.board import MOST_CELLS, SMALLEST_SIDE, Board
from knightfall.position import Position

EVERY_BOARD = [
    Board.of(width, height)
    for width in range(SMALLEST_SIDE, MOST_CELLS // SMALLEST_SIDE + 1)
    for height in range(SMALLEST_SIDE, MOST_CELLS // width + 1)
]
"""All sizes of boards."""

FULL_WORD = [Board.of(8, 8), Board.of(4, 16), Board.of(16, 4)]
"""The boards whose last cell is bit 63."""

NEARLY_FULL_WORD = [Board.of(3, 21), Board.of(21, 3), Board.of(9, 7), Board.of(7, 9)]
"""The longest boards, and others of 63 cells."""

some_and_all = pytest.mark.parametrize(
    "step", [pytest.param(5, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
"""Parametrizes a test by its step through very many cases: the quick suite tests every fifth case.
"""


def times_the_examples(factor: float) -> settings:
    """Return settings with a multiple of the current profile's number of examples."""
    return settings(max_examples=round(factor * settings.default.max_examples))


def at_length(*values: object) -> object:
    """Return a case for `parametrize` that runs only in the long tests; quick cases must exist
    beside it.
    """
    return pytest.param(*values, marks=pytest.mark.slow)


def random_game(start: Position, rng: random.Random) -> Iterator[Position]:
    """Return a position and all that follow in a game of random legal moves."""
    position = start
    yield position
    while position.legal_moves:
        position = position.play(rng.choice(position.legal_moves))
        yield position


def random_positions(
    width: int, height: int, how_many: int, seed: int, *, min_placed: int = 0
) -> list[Position]:
    """Return reachable positions, each drawn from a separate random game.

    `min_placed` is the least number of knights on the board (0, 1 or 2).
    """
    rng = random.Random(seed)
    games = (list(random_game(Position.start(width, height), rng)) for _ in range(how_many))
    return [rng.choice(game[min_placed:]) for game in games]


def need(*packages: str) -> None:
    """Skip the calling module if a package is not installed.

    Nothing is imported: every process of a test run collects the module, and only one runs it.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)
