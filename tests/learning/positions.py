"""Positions of a set as the rules know them."""

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
    """Each of them, the mover being the first player."""
    for row in range(len(found)):
        board = Board.named(found.boards[found.board[row]])
        yield position(board, found.open[row], found.mover[row], found.waiter[row])


def images(position: Position) -> set[Position]:
    """A position turned and mirrored in every way: not by the code that is tested."""
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
    """The Parquet files of a set."""
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}
