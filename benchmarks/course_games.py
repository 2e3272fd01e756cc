"""Whole games in plain Python on the course's kind of board.

The agents play like knightfall's, move for move (`arena` checks it): the same root order, the same
node budget, the last finished depth. Everything else is done as in a student's code.
"""

from __future__ import annotations

from math import inf

import numpy as np

from knightfall.agents import Agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import agent_with_seed
from knightfall.kernel.rules import geometry, words
from knightfall.position import Position
from knightfall.search.search_state import DTYPE, any_move

from .course_board import CourseBoard, set_up
from .course_heuristics import SCORES
from .course_search import CourseSearch


class CourseAgent:
    """A knightfall agent rewritten as a student's: random, minimax or plain deepening."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        score = SCORES[agent.heuristic or "null"]
        self.search = CourseSearch(score, pruning=agent.kind != "minimax")

    def move(self, position: Position) -> str:
        """Return the move; the agent keeps no state between moves."""
        board, budget = position.board, self.agent.budget
        order = [(board.row(c), board.column(c)) for c in root_order(position, self.agent.seed)]
        chosen = order[0]
        if self.agent.kind != "random":
            game = set_up(CourseBoard, position, self.search)
            if self.agent.kind == "minimax":
                _, chosen = self.search.best(game, order, budget.depth or 3)
            else:
                _, chosen = self.search.deepen(game, order, budget.nodes or inf)
        return board.name(board.at(*chosen))


def root_order(position: Position, seed: int) -> list[int]:
    """Return the order in which knightfall's searches try the root's moves (a seeded shuffle)."""
    states = np.zeros(1, DTYPE)
    states["seed"] = seed
    any_move(geometry(position.board)[0], states[0], *words(position))
    return [int(cell) for cell in states[0]["root"][: len(position.legal_moves)]]


def course_game(task: PairTask, game: int) -> list[str]:
    """Play one game of a pair; return its moves."""
    players = {
        side: CourseAgent(agent_with_seed(text, task.seed))
        for side, text in task.seats(game).items()
    }
    position, moves = Position.from_fen(task.opening), []
    while position.winner is None:
        moves.append(players[position.to_move].move(position))
        position = position.play(moves[-1])
    return moves
