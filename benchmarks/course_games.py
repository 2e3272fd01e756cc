"""Whole games as the course played them: plain Python over the course's kind of board.

The agents are ours, move for move (`arena` checks it): the same root order, the same budget of
nodes, the last depth that was finished.  Everything else is done the way a student's code does it.
"""

from __future__ import annotations

import numpy as np

from knightfall.agents import Agent
from knightfall.arena.game.play import seated
from knightfall.arena.game.records import PairTask
from knightfall.kernel.geometry import geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.state import DTYPE, PROVEN, WIN
from knightfall.search.ties import any_move
from knightfall.studies.costs.course_board import Cell, CourseBoard, Score, set_up
from knightfall.studies.costs.in_python import SCORES


class OutOfNodes(Exception):
    """As the course's SearchTimeout, but counted."""


class CourseAgent:
    """One of our agents, rewritten as a student's: random, minimax or plain deepening."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.score: Score = SCORES[agent.heuristic or "null"]
        self.nodes = 0
        self.limit = agent.budget.nodes or 10**18

    def move(self, position: Position) -> str:
        """The move, and nothing kept from one to the next."""
        board = position.board
        order = [(board.row(c), board.column(c)) for c in root_order(position, self.agent.seed)]
        if self.agent.kind == "random":
            return board.name(board.at(*order[0]))
        game = set_up(CourseBoard, position, self)
        self.nodes = 0
        if self.agent.kind == "minimax":
            chosen = self._root(game, order, self.agent.budget.depth or 3, pruning=False)[1]
        else:
            chosen = self._deepen(game, order)
        return board.name(board.at(*chosen))

    def _deepen(self, game: CourseBoard, order: list[Cell]) -> Cell:
        chosen, depth = order[0], 0
        try:
            while depth < 64:
                depth += 1
                value, move = self._root(game, order, depth, pruning=True)
                if self.nodes >= self.limit:
                    break
                chosen = move
                if abs(value) >= PROVEN and abs(value) <= WIN:
                    break
        except OutOfNodes:
            pass
        return chosen

    def _root(
        self, game: CourseBoard, order: list[Cell], depth: int, pruning: bool
    ) -> tuple[float, Cell]:
        self.nodes += 1
        best, chosen = -2.0 * WIN, order[0]
        for move in order:
            beta = -best if pruning else 2.0 * WIN
            value = -self._value(game.forecast_move(move), depth - 1, 1, -2.0 * WIN, beta, pruning)
            if value > best:
                best, chosen = value, move
        return best, chosen

    def _value(
        self, game: CourseBoard, depth: int, ply: int, alpha: float, beta: float, pruning: bool
    ) -> float:
        if self.nodes >= self.limit:
            raise OutOfNodes
        self.nodes += 1
        moves = game.get_legal_moves()
        if not moves:
            return ply - WIN
        if depth == 0:
            value = self.score(game, self)
            return value if game.active_player == self else -value
        best = -2.0 * WIN
        for move in moves:
            after = game.forecast_move(move)
            value = -self._value(after, depth - 1, ply + 1, -beta, -alpha, pruning)
            if value > best:
                best = value
                if pruning and value > alpha:
                    alpha = value
                    if alpha >= beta:
                        break
        return best


def root_order(position: Position, seed: int) -> list[int]:
    """The order in which our searches try the root's moves: the course's shuffle, but seeded."""
    states = np.zeros(1, DTYPE)
    states["seed"] = seed
    any_move(geometry(position.board), states, *words(position))
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
