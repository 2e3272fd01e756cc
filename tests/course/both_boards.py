"""Helpers: play a game on our board and a course board at once; import a submission."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from knightfall.course import Board
from knightfall.course.generations import generation_named
from knightfall.position import Position

Seen = tuple[Position, Any]
"""The same position twice: ours, and the course's with the players "white" and "black"."""

OF_THE_COURSE = ("isolation", "sample_players", "my_helpers")


def random_game(
    width: int, height: int, rng: random.Random, kind: type[Any] = Board, lasting: float = 0.0
) -> Iterator[Seen]:
    """Yield the positions of a random game, from both knights' placement to the end.

    `lasting` is how often a player goes where it has the fewest moves next: such games fill the
    board.
    """
    position, board = Position.start(width, height), kind("white", "black", width, height)
    while True:
        if position.placed:
            yield position, board.copy()
        moves = sorted(board.get_legal_moves())
        if not moves:
            return
        row, column = rng.choice(moves)
        if lasting and position.placed and rng.random() < lasting:
            row, column = min(moves, key=lambda cell: len(board._Board__get_moves(cell)))
        board.apply_move((row, column))
        position = position.play(position.board.name(row * width + column))


def imported(file: Path) -> ModuleType:
    """Import a submission as plain Python would, with the course's modules on the path."""
    places = [str(generation_named("2017b").folder), str(file.parent)]
    before = set(sys.modules)
    sys.path[:0] = places
    try:
        return importlib.import_module(file.stem)
    finally:
        del sys.path[: len(places)]
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in (*OF_THE_COURSE, file.stem):
                del sys.modules[name]
