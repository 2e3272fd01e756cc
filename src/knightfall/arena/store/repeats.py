"""Pairs that were played before, move for move: they tell nothing new and do not count."""

from __future__ import annotations

from knightfall.arena.game.records import PairRecord
from knightfall.arena.plan.plan import may_repeat
from knightfall.arena.store.run import Run


class Repeats:
    """Remembers the pairs of a run, as far as any can be repeated."""

    def __init__(self, run: Run) -> None:
        self._plan = run.plan
        self._possible = may_repeat(run.plan)
        self._seen: set[tuple[int, str, bytes, bytes]] = set()
        if self._possible:
            for pair in run.pairs():
                self.seen(pair)

    def seen(self, pair: PairRecord) -> bool:
        """Whether its match has had this very pair before; from now on it has."""
        if not self._possible:
            return False
        match = pair.task.number % len(self._plan.matches)
        first, second = pair.games
        what = (match, pair.task.opening, first.cells, second.cells)
        if what in self._seen:
            return True
        self._seen.add(what)
        return False
