"""The kinds of agents that play for practical chances: ``champion`` and ``perfect(swindle)``."""

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
    """An agent that keeps what is won and takes what is lost from those who can be fooled."""

    kind = "champion"
    summary = "the best we have: keeps what is won, takes what is lost from those who can be fooled"
    example = "champion(time=150ms)"
    default = Budget(time=150_000)
    searches_with: ClassVar[str] = "learned_net"
    """The heuristic of its searches where nothing is known."""

    @cached_property
    def memory(self) -> Any:
        """What is remembered from one move to the next, of proofs and of the opponent."""
        from knightfall.opponents.champion import GameMemory

        return GameMemory()

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        from knightfall.opponents import champion

        champion.warm_up(board or Board.of(7, 7), self.budget, self.memory, self.searches_with)
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        from knightfall.opponents import champion

        return champion.choose(position, self.budget, self.seed, self.memory, self.searches_with)


@dataclass(frozen=True)
class SwindlingAgent(ChampionAgent):
    """A perfect agent that plays lost positions for the mistakes of usual players."""

    kind = "perfect"
    summary = PerfectAgent.summary
    example = "perfect(swindle, time=150ms)"
    words = ("swindle",)
    searches_with = "improved"

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        yield "swindle"
