"""A student's agent on `knightfall.course.Board` against the course's kind of board.

The same agent and seed give the same shuffles and the same tree: positions, moves and the random
generator's state are checked to be equal.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course import Board, center_score, improved_score, null_score, open_move_score
from knightfall.position import Position, other

from .course_board import Cell, CourseBoard
from .measure import fastest
from .positions import FENS
from .result import Ratio, Result

SUMMARY = "Nodes per second of a student's alpha-beta on `knightfall.course.Board` ÷ on a plain one"
GOAL = 3.0
DEPTH = 6
ROUNDS = 10
POSITIONS = FENS[:5]  # one of each number of open cells
SCORES = {
    "null": null_score,
    "open": open_move_score,
    "improved": improved_score,
    "center": center_score,
}
JUDGED = "improved"
"""The score whose ratio has a goal: the one that students started from and compared theirs with."""


class ShuffledBoard(CourseBoard):
    """The list-of-cells board with the course's shuffle: the agent gets its moves in shuffled
    order.
    """

    def moves_from(self, cell: Cell) -> list[Cell]:
        """Return the open cells a knight's move from a cell, shuffled."""
        moves = self.in_order(cell)
        random.shuffle(moves)
        return moves


class Timeout(Exception):
    """Raised when the agent's time is up."""


class StudentAgent:
    """Alpha-beta as students hand it in: two functions, each call reads the clock."""

    def __init__(self, score: Callable[[Any, Any], float], depth: int) -> None:
        self.score = score
        self.depth = depth
        self.threshold = 10.0
        self.nodes = 0

    def get_move(self, game: Any, time_left: Callable[[], float]) -> Cell:
        """Return the move, or (-1, -1) where every line is lost."""
        self.time_left = time_left
        best, chosen = -inf, (-1, -1)
        alpha, beta = -inf, inf
        for move in game.get_legal_moves():
            value = self.min_value(game.forecast_move(move), self.depth - 1, alpha, beta)
            if value > best:
                best, chosen = value, move
            alpha = max(alpha, best)
        return chosen

    def min_value(self, game: Any, depth: int, alpha: float, beta: float) -> float:
        """Return the value of a position in which the opponent is to move."""
        if self.time_left() < self.threshold:
            raise Timeout
        self.nodes += 1
        if depth == 0:
            return self.score(game, self)
        value = inf
        for move in game.get_legal_moves():
            value = min(value, self.max_value(game.forecast_move(move), depth - 1, alpha, beta))
            if value <= alpha:
                return value
            beta = min(beta, value)
        return value

    def max_value(self, game: Any, depth: int, alpha: float, beta: float) -> float:
        """Return the value of a position in which this agent is to move."""
        if self.time_left() < self.threshold:
            raise Timeout
        self.nodes += 1
        if depth == 0:
            return self.score(game, self)
        value = -inf
        for move in game.get_legal_moves():
            value = max(value, self.min_value(game.forecast_move(move), depth - 1, alpha, beta))
            if value >= beta:
                return value
            alpha = max(alpha, value)
        return value


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure both boards on the same trees (checked: nodes, moves and random states)."""
    rows, ratios = [], {}
    for name, score in SCORES.items():
        nodes, spent = 0, {"ours": 0.0, "plain": 0.0}
        for fen in POSITIONS:
            position = Position.from_fen(fen)
            ours, plain = (search(kind, position, score, depth) for kind in (Board, ShuffledBoard))
            if ours != plain:
                raise AssertionError(f"{fen}, {name}: ours {ours[:2]}, plain {plain[:2]}")
            nodes += ours[0]
            sides = {
                side: lambda kind=kind, position=position, score=score: search(
                    kind, position, score, depth
                )
                for side, kind in (("ours", Board), ("plain", ShuffledBoard))
            }
            for side, seconds in fastest(sides, rounds).items():
                spent[side] += seconds
        ratio = spent["plain"] / spent["ours"]
        ratios[f"nodes per second, {name}"] = Ratio(ratio, GOAL if name == JUDGED else None)
        rows.append(
            {
                "heuristic": name,
                "nodes": nodes,
                **{f"{side}: nodes per second": nodes / spent[side] for side in spent},
            }
        )
    return Result(ratios=ratios, rows=rows, figures={"depth": depth, "positions": len(POSITIONS)})


def search(
    kind: type[Any], position: Position, score: Callable[[Any, Any], float], depth: int
) -> tuple[int, Cell, Any]:
    """Search a position; return nodes, move and the random generator's state."""
    student = StudentAgent(score, depth)
    game = laid_out(kind, position, student)
    random.seed(1)
    move = student.get_move(game, lambda: 1000.0)
    return student.nodes, move, random.getstate()


def laid_out(kind: type[Any], position: Position, mover: object) -> Any:
    """Return a position on a board of either kind, set through its private list."""
    where = position.board
    board = kind(mover, "the other", where.width, where.height)

    def number(cell: int | None) -> int:
        assert cell is not None, "both knights must be placed"
        return where.row(cell) + where.column(cell) * where.height

    state = [1] * (where.width * where.height)
    for cell in position.open:
        state[number(cell)] = 0
    mine, theirs = position.knight(position.to_move), position.knight(other(position.to_move))
    board._board_state = [*state, 0, number(theirs), number(mine)]
    return board


if __name__ == "__main__":
    for name, ratio in run().ratios.items():
        print(f"{name}: {ratio.value:.2f} {ratio.goal}")
