"""The truth about the positions of a game: does whoever is to move win?

A game is labelled from its end: a position from which a lost one was reached is won, without a
question.  Only the others are asked of the solver, and there the game is mostly over in a moment.
"""

from __future__ import annotations

import random

from knightfall.board import Board
from knightfall.learning.games import Game, Words, cells_of
from knightfall.position import Position
from knightfall.solver.atlas import lookup
from knightfall.solver.engine import Engine

EARLY = 0.84
"""With more than this share of the board open, nearly every position is the hunter's."""

EARLY_KEPT = 0.1
"""This share of early positions is labelled all the same."""

MOST_OPEN = 41
"""On boards larger than 7×7, more open cells than this take the solver too long."""

LARGEST = 49
TABLE_MB = 64


class Judge:
    """Tells who wins the positions of one board."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._engine = Engine(board, table_mb=TABLE_MB)

    def wins(self, position: Words) -> bool:
        """Whether the mover wins."""
        open, mover, waiter = position
        asked = Position(self._board, frozenset(cells_of(open)), mover, waiter, "w")
        known = lookup(asked) if len(asked.open) == self._board.cells - 2 else None
        return self._engine.wins(asked) if known is None else known.mover_wins

    def label(self, game: Game, plies: list[int]) -> list[bool]:
        """Whether the mover wins at each of these plies, which are told in ascending order."""
        labels: dict[int, bool] = {len(game.positions) - 1: False}
        for ply in reversed(plies):
            lost_next = labels.get(ply + 1) is False
            labels[ply] = lost_next or self.wins(game.positions[ply])
        return [labels[ply] for ply in plies]


def plies_to_label(game: Game, rng: random.Random) -> list[int]:
    """Which positions of a game are taken: all in which there is a move, but few early ones."""
    cells = game.board.cells
    early = EARLY * cells if cells <= LARGEST else MOST_OPEN
    rate = EARLY_KEPT if cells <= LARGEST else 0.0
    taken = []
    for ply, (open, _, _) in enumerate(game.positions[:-1]):
        if open.bit_count() <= early or rng.random() < rate:
            taken.append(ply)
    return taken
