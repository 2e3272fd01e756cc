"""Whole games as the course played them: plain Python over the course's kind of board.

The agents are ours, move for move (`arena` checks it): the same root order, the same budget of
nodes, the last depth that was finished.  Everything else is done the way a student's code does it.
"""

from __future__ import annotations

from math import inf

import numpy as np

from knightfall.agents import Agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import seated
from knightfall.kernel.geometry import geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.search_state import DTYPE, any_move

from .course_board import CourseBoard, set_up
from .course_heuristics import SCORES
from .course_search import CourseSearch


class CourseAgent:
    """One of our agents, rewritten as a student's: random, minimax or plain deepening."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        score = SCORES[agent.heuristic or "null"]
        self.search = CourseSearch(score, pruning=agent.kind != "minimax")

    def move(self, position: Position) -> str:
        """The move, and nothing kept from one to the next."""
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
    """The order in which our searches try the root's moves: the course's shuffle, but seeded."""
    states = np.zeros(1, DTYPE)
    states["seed"] = seed
    any_move(geometry(position.board)[0], states[0], *words(position))
    return [int(cell) for cell in states[0]["root"][: len(position.legal_moves)]]


def course_game(task: PairTask, game: int) -> list[str]:
    """The moves of one game of a pair."""
    players = {
        side: CourseAgent(seated(text, task.seed)) for side, text in task.seats(game).items()
    }
    position, moves = Position.from_fen(task.opening), []
    while position.winner is None:
        moves.append(players[position.to_move].move(position))
        position = position.play(moves[-1])
    return moves
