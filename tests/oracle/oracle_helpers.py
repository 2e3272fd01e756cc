"""A plain solver with which grades and annotations are compared."""

from __future__ import annotations

from naive_solver import plies_to_end

from knightfall.board import Board
from knightfall.position import Position

BOARD = Board.of(4, 5)


def mover_wins(position: Position) -> bool:
    return plies_to_end(position) % 2 == 1


def naive_winning_moves(position: Position) -> list[str]:
    return [move for move in position.legal_moves if not mover_wins(position.play(move))]
