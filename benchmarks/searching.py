"""Call a compiled search directly: `knightfall.search.run_search` without its clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, records_for, settings_for
from knightfall.search.transposition_table import table_for


@dataclass(frozen=True)
class Found:
    """The result of a search; two searches that visit the same tree have equal results."""

    nodes: int
    score: float
    pv: tuple[int, ...]


class Call:
    """One search of one position to a fixed depth, which can be repeated."""

    def __init__(self, position: Position, depth: int) -> None:
        settings = settings_for(SEARCHES["alphabeta"], evaluator("null"), Budget(depth=depth))
        settings["table"], generation = table_for(int(settings["entries"][0]))
        self.boards, self.states = records_for(position.board, settings, generation)
        self.position = position
        self.words = words(position)

    def compiled(self, search: Callable[..., None], heuristic: Evaluator) -> None:
        """Run one of knightfall's own searches."""
        # All calls share this thread's table, so each run needs a new generation.
        _, self.states["generation"] = table_for(int(self.states["entries"][0]))
        self.states["symmetric"] = heuristic.symmetric
        self.states["heuristic"] = heuristic.address
        search(self.boards[0], self.states[0], *self.words)

    @property
    def found(self) -> Found:
        """Return the result of the last run."""
        state = self.states[0]
        pv = tuple(int(cell) for cell in state["pv"][: state["length"]])
        return Found(int(state["nodes"]), float(state["score"]), pv)

    @property
    def root_order(self) -> list[int]:
        """Return the root's moves in the order of the last run, if the search keeps it."""
        number = len(self.position.legal_moves)
        return [int(cell) for cell in self.states[0]["root"][:number]]
