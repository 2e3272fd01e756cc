"""The course's boards laid out as a position is, whoever has played there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knightfall.course.knights import cells_by_column

Knights = tuple[int | None, int | None]
"""The cells of player 1 and player 2 as our boards number them; None before the placement."""


def lay_out(
    game: Any, open: int, knights: Knights, turn: tuple[Any, Any], owners: Mapping[int, int] = {}
) -> None:
    """Fill a fresh board: `open` has a bit for each open cell, `turn` is whoever is to move, then
    the other.  The first board tells whose cells were (`owners`; player 1's if nobody knows).
    """
    game.move_count = game.width * game.height - open.bit_count()
    if hasattr(game, "__board_state__"):
        _oldest(game, open, knights, owners)
        game.__active_player__, game.__inactive_player__ = turn
    else:
        _flat(game, open, knights, int(turn[0] is not game._player_1))
        game._active_player, game._inactive_player = turn


def _flat(game: Any, open: int, knights: Knights, initiative: int) -> None:
    """The cells column by column, who is to move, and player 2's cell first."""
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
