"""A compiled search called directly: `knightfall.search.run_search` without its clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, records_for, settings_for
from knightfall.search.table import table_for


@dataclass(frozen=True)
class Found:
    """What a search answers; two searches of the same tree answer alike."""

    nodes: int
    score: float
    pv: tuple[int, ...]


class Call:
    """One search of one position to a fixed depth, ready to be called any number of times."""

    def __init__(self, position: Position, depth: int) -> None:
        settings = settings_for(SEARCHES["alphabeta"], evaluator("null"), Budget(depth=depth))
        settings["table"], generation = table_for(int(settings["entries"][0]))
        self.boards, self.states = records_for(position.board, settings, generation)
        self.position = position
        self.words = words(position)

    def compiled(self, search: Callable[..., None], heuristic: Evaluator) -> None:
        """Run one of knightfall's own searches."""
        # All calls share this thread's table: each run needs a generation that no other has.
        _, self.states["generation"] = table_for(int(self.states["entries"][0]))
        self.states["symmetric"] = heuristic.symmetric
        self.states["heuristic"] = heuristic.address
        search(self.boards[0], self.states[0], *self.words)

    @property
    def found(self) -> Found:
        """What the last run found."""
        state = self.states[0]
        pv = tuple(int(cell) for cell in state["pv"][: state["length"]])
        return Found(int(state["nodes"]), float(state["score"]), pv)

    @property
    def root_order(self) -> list[int]:
        """The root's moves in the order the last run (of a search that keeps it) took them."""
        number = len(self.position.legal_moves)
        return [int(cell) for cell in self.states[0]["root"][:number]]
