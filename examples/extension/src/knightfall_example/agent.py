"""The kind of agent ``worst(HEURISTIC)``: the move after which the heuristic is worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.position import Position
from knightfall.search.budget import Report


@dataclass(frozen=True)
class WorstAgent(Agent):
    """An agent that looks one ply ahead and takes the worst move; ties go to the first."""

    kind = "worst"
    summary = "the move after which the heuristic is worst"
    example = "worst(improved)"

    def prepare(self, board: Board | None = None) -> Self:
        """Load the heuristic, so that the first move is not slow."""
        self.evaluator.value(Position.from_moves(["a1", "b1"]))
        return self

    def analyse_with(self, position: Position) -> Report:
        """Return the move with the least value for the side that makes it."""
        side = position.to_move
        values = {
            move: self.evaluator.value(position.play(move), side) for move in position.legal_moves
        }
        move = min(values, key=values.__getitem__)
        return Report(
            move, values[move], False, None, depth=1, nodes=len(values), seconds=0.0, pv=(move,)
        )
