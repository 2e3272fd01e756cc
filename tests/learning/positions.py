"""Positions of a data set as `Position` objects, and their mirror images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from knightfall.board import Board
from knightfall.learning.data import Positions
from knightfall.learning.shard_builder import cells_of
from knightfall.position import Position


def position(board: Board, open: int, mover: int, waiter: int) -> Position:
    return Position(board, frozenset(cells_of(int(open))), int(mover), int(waiter), "w")


def positions(found: Positions) -> Iterator[Position]:
    """Yield each position, with the mover as the first player."""
    for row in range(len(found)):
        board = Board.named(found.boards[found.board[row]])
        yield position(board, found.open[row], found.mover[row], found.waiter[row])


def images(position: Position) -> set[Position]:
    """Return all rotations and reflections of a position, without the code under test."""
    assert position.white is not None
    assert position.black is not None
    return {
        Position(
            position.board,
            frozenset(there[cell] for cell in position.open),
            there[position.white],
            there[position.black],
            position.to_move,
        )
        for there in position.board.symmetries
    }


def files(folder: Path) -> dict[str, bytes]:
    """Return the Parquet files of a set by name."""
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}
