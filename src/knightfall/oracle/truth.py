"""Which moves keep a won position won: the solver's answers, for whoever judges moves by them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver.engine import Engine
from knightfall.solver.solve import Solver

Tick = Callable[[], None]


def _nobody() -> None:
    pass


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
        found: list[bool] = []
        self._patiently(lambda: found.append(self._solver.wins(position)))
        return found[0]

    def winning_moves(self, position: Position, tick: Tick = _nobody) -> tuple[str, ...]:
        """The moves after which the opponent has lost, in board order; none in a lost position.

        `tick` is called as each move is decided.
        """
        found: list[str] = []

        def look() -> None:
            entry = self._solver.entry(position)
            if entry is not None:
                found.extend(entry.winning_moves)
            elif not position.placed or self._solver.wins(position):
                for move in position.legal_moves:
                    if not self._solver.wins(position.play(move)):
                        found.append(move)
                    tick()

        self._patiently(look)
        return tuple(found)

    def _patiently(self, work: Callable[[], object]) -> None:
        """Do some work; Ctrl-C ends it, and with it this object's use.

        Python hears of signals only between byte codes, and one question about a large board may
        take minutes of compiled code: so it is asked in another thread while this one listens.
        """
        if threading.current_thread() is not threading.main_thread():
            work()
            return
        failures: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        worker = threading.Thread(target=run, name="knightfall-oracle", daemon=True)
        worker.start()
        try:
            worker.join()
        except BaseException:  # Ctrl-C
            self._engine.stop()
            worker.join()
            raise
        if failures:
            raise failures[0]
