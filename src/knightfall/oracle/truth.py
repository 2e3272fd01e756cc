"""Which moves keep a won position won: the solver's answers, for whoever judges moves by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from knightfall.board import Board
from knightfall.kernel.interrupt import interruptibly
from knightfall.position import Position
from knightfall.solver.engine import Engine
from knightfall.solver.solve import Solver

Answer = TypeVar("Answer")
Tick = Callable[[], None]


class Truth:
    """Exact answers about the positions of one board.

    It has an engine to itself: an agent that asks the process's common one must not play better
    for being judged.
    """

    def __init__(self, board: Board) -> None:
        self._engine = Engine(board)
        self._solver = Solver(self._engine)

    def wins(self, position: Position) -> bool:
        """Whether the side to move wins."""
        return self._patiently(lambda: self._solver.wins(position))

    def winning_moves(self, position: Position, tick: Tick = lambda: None) -> tuple[str, ...]:
        """The moves after which the opponent has lost, in board order; none in a lost position.

        `tick` is called as each move is decided.
        """
        return self._patiently(lambda: self._solver.winning_moves(position, tick))

    def plies(self, position: Position) -> int:
        """How many plies the game still lasts if both sides play their best."""
        return self._patiently(lambda: self._solver.plies(position))

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        """The answer to a question; Ctrl-C ends it, and with it this object's use."""
        found: list[Answer] = []
        interruptibly(lambda: found.append(ask()), self._engine.stop)
        return found[0]
