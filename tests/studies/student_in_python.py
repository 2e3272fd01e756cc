"""A student's agent as it was written: plain Python on a board of the course's kind.

Two functions call each other, the board is copied for every move, and an exception ends the search
when time is up. Only the clock is simulated: each call of the board and of the heuristic advances
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from knightfall.position import Position, Side
from knightfall.studies.student_options import StudentOptions

Cell = tuple[int, int]
STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
WORD = 2**64 - 1


class SearchTimeout(Exception):
    """Raised when the time is up."""


@dataclass
class Clock:
    """A simulated clock that counts nanoseconds of the steps, with the board's random generator."""

    costs: dict[str, int]
    limit: int
    word: int
    shuffled: bool
    spent: int = 0

    def spend(self, what: str, times: int = 1) -> None:
        self.spent += times * self.costs[what]

    def check(self) -> None:
        self.spend("call")
        if self.spent > self.limit:
            raise SearchTimeout

    def in_order(self, moves: list[Cell]) -> Iterator[Cell]:
        """Yield the moves in the order in which the board returns them."""
        left = list(moves)
        while left:
            at = 0
            if self.shuffled:
                self.word = (self.word * 6364136223846793005 + 1442695040888963407) & WORD
                at = ((self.word >> 32) * len(left)) >> 32
            yield left.pop(at)


class StudentsBoard:
    """A course-like board: cells are (row, column), player 1 is the one that searches."""

    def __init__(self, position: Position, clock: Clock) -> None:
        where = position.board
        self.width, self.height, self.clock = where.width, where.height, clock
        self.blank = {(where.row(cell), where.column(cell)) for cell in position.open}
        self.at: dict[int, Cell | None] = {}
        for player, side in enumerate(_sides(position), 1):
            cell = position.knight(side)
            self.at[player] = None if cell is None else (where.row(cell), where.column(cell))
        self.active = 1

    def moves(self, player: int) -> list[Cell]:
        """Return a player's moves without advancing the clock."""
        here = self.at[player]
        if here is None:  # not placed yet: any open cell
            return sorted(self.blank)
        row, column = here
        near = [(row + down, column + right) for down, right in STEPS]
        return sorted(cell for cell in near if cell in self.blank)

    def get_legal_moves(self) -> Iterator[Cell]:
        found = self.moves(self.active)
        self.clock.spend("list")
        self.clock.spend("list_move", len(found))
        return self.clock.in_order(found)

    def forecast_move(self, cell: Cell) -> StudentsBoard:
        self.clock.spend("forecast")
        after = object.__new__(StudentsBoard)
        after.width, after.height, after.clock = self.width, self.height, self.clock
        after.blank, after.at = self.blank - {cell}, {**self.at, self.active: cell}
        after.active = 3 - self.active
        return after


def _sides(position: Position) -> tuple[Side, Side]:
    return ("w", "b") if position.to_move == "w" else ("b", "w")


def improved(board: StudentsBoard) -> float:
    return float(len(board.moves(1)) - len(board.moves(2)))


def open_space(board: StudentsBoard) -> float:
    here = board.at[1]
    assert here is not None
    row, column = here
    around = [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return float(sum(cell in board.blank for cell in around))


def null(board: StudentsBoard) -> float:
    return 0.0


SCORES = {"improved": improved, "open_space": open_space, "null": null}


@dataclass
class Student:
    """A student's agent."""

    options: StudentOptions
    score_name: str
    depth: int | None
    clock: Clock

    def get_move(self, board: StudentsBoard) -> Cell | None:
        """Return the move, or None where the student's program answered (-1, -1)."""
        first = list(board.moves(1))
        self.clock.spend("list")
        self.clock.spend("list_move", len(first))
        legal = next(self.clock.in_order(first))
        answer = legal if self.options.lost in ("legal", "keeps") else None
        try:
            for depth in [self.depth] if self.depth is not None else range(1, 65):
                self.scored = 0
                found = self.search(board, depth, legal)
                if self.options.lost != "keeps" or found is not None:
                    answer = found
                if not self.scored:
                    break
        except SearchTimeout:
            pass
        return answer

    def search(self, board: StudentsBoard, depth: int, legal: Cell) -> Cell | None:
        best = legal if self.options.lost == "legal" else None
        self.root: Cell | None = None
        self.max_value(board, depth, -inf, inf, root=True)
        return best if self.root is None else self.root

    def better(self, value: float, best: float) -> bool:
        return value > best or (self.options.ties == "last" and value == best)

    def max_value(
        self, board: StudentsBoard, depth: int, alpha: float, beta: float, *, root: bool = False
    ) -> float:
        self.clock.check()
        if depth == 0:
            return self.leaf(board)
        best = -inf
        for move in board.get_legal_moves():
            after = board.forecast_move(move)
            if depth == 1 and self.options.leaves == "loop":
                value = self.leaf(after)
            else:
                value = self.min_value(after, depth - 1, alpha, beta)
            if self.better(value, best):
                best = value
                if root:
                    self.root = move
            if self.options.search == "alphabeta":
                if best >= beta:
                    return best
                alpha = max(alpha, best)
        return best

    def min_value(self, board: StudentsBoard, depth: int, alpha: float, beta: float) -> float:
        self.clock.check()
        if depth == 0:
            return self.leaf(board)
        worst = inf
        for move in board.get_legal_moves():
            after = board.forecast_move(move)
            if depth == 1 and self.options.leaves == "loop":
                value = self.leaf(after)
            else:
                value = self.max_value(after, depth - 1, alpha, beta)
            worst = min(worst, value)
            if self.options.search == "alphabeta":
                if worst <= alpha:
                    return worst
                beta = min(beta, worst)
        return worst

    def leaf(self, board: StudentsBoard) -> float:
        self.scored += 1
        own, other = board.moves(1), board.moves(2)
        self.clock.spend("score")
        self.clock.spend("score_open", len(board.blank))
        self.clock.spend("score_move", len(own) + len(other))
        if self.options.ends == "either":
            if not own:
                return -inf
            if not other:
                return inf
        if self.options.ends == "board" and not board.moves(board.active):
            return -inf if board.active == 1 else inf
        return SCORES[self.score_name](board) if None not in board.at.values() else 0.0
