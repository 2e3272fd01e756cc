"""A game in progress: where it began, what was played, who plays whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from knightfall.notation.scoresheet import NO_MOVES, RESIGNED
from knightfall.position import Position, Side, other

if TYPE_CHECKING:
    from knightfall.agents import Agent


@dataclass
class Game:
    """A person against an agent.

    `line` holds every position from the start on, so taking back is dropping the last ones.
    """

    line: list[Position]
    you: Side
    agent: Agent
    resigned: bool = False
    """Whether the person gave up,"""
    agent_resigned: bool = False
    """and whether the agent did."""
    moves: list[str] = field(default_factory=list)
    file: Path | None = None

    @property
    def start(self) -> Position:
        """The position the game began with."""
        return self.line[0]

    @property
    def position(self) -> Position:
        """The position now."""
        return self.line[-1]

    @property
    def your_turn(self) -> bool:
        """Whether the person is to move."""
        return self.position.to_move == self.you

    @property
    def winner(self) -> Side | None:
        """Who has won, or None while the game goes on."""
        if self.resigned or self.agent_resigned:
            return other(self.you) if self.resigned else self.you
        return self.position.winner

    @property
    def reason(self) -> str:
        """Why the game ended."""
        return RESIGNED if self.resigned or self.agent_resigned else NO_MOVES

    def play(self, move: str) -> None:
        """Play a legal move."""
        self.line.append(self.position.play(move))
        self.moves.append(move)

    def undo(self) -> list[str]:
        """Take back the person's last move and what followed it; the moves taken back."""
        turns = [at for at, position in enumerate(self.line[:-1]) if position.to_move == self.you]
        if not turns:
            return []
        taken = self.moves[turns[-1] :]
        del self.line[turns[-1] + 1 :], self.moves[turns[-1] :]
        return taken
