"""Agents that play for practical chances: ``champion`` and ``perfect(swindle)``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from knightfall.agents.kinds import PerfectAgent
from knightfall.board import Board
from knightfall.position import Position
from knightfall.search.budget import Budget, Report


@dataclass(frozen=True)
class ChampionAgent(PerfectAgent):
    """An agent that keeps won positions, and plays lost ones for the opponent's mistakes."""

    kind = "champion"
    summary = "the strongest: keeps won positions, plays lost ones for the opponent's mistakes"
    example = "champion(time=150ms)"
    default = Budget(time=150_000)
    searches_with: ClassVar[str] = "learned_net"
    """The heuristic of its searches in positions that the solver cannot decide."""

    @cached_property
    def memory(self) -> Any:
        """What this agent keeps from move to move: solver tables, and the model of the opponent."""
        from knightfall.opponents.champion import GameMemory

        return GameMemory()

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        from knightfall.opponents import champion

        champion.warm_up(board or Board.of(7, 7), self.budget, self.memory, self.searches_with)
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        from knightfall.opponents.champion import choose
        from knightfall.search.run_search import without_collection

        with without_collection(self.budget):
            return choose(position, self.budget, self.seed, self.memory, self.searches_with)


@dataclass(frozen=True)
class SwindlingAgent(ChampionAgent):
    """A perfect agent that plays lost positions for the mistakes of typical players."""

    kind = "perfect"
    summary = PerfectAgent.summary
    example = "perfect(swindle, time=150ms)"
    words = ("swindle",)
    searches_with = "improved"

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        yield "swindle"
