"""What heuristics are asked to find out about them: positions from random games, either view."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.heuristics.signature import evaluate_many_at
from knightfall.isolation.run_isolated import ChildExited, IsolatedCall, start_isolated
from knightfall.kernel.geometry import geometry
from knightfall.kernel.interrupt import run_interruptibly, stop_function
from knightfall.kernel.rules import words
from knightfall.position import Position, Side, other
from knightfall.search.budget import LEAF_STEP_LIMIT

PATIENCE, SECOND_PROCESS = 3.0, 60.0
"""Seconds an evaluation may take, and a second process until it has answered everything."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """What is a position worth to a side?"""

    position: Position
    side: Side

    @property
    def words(self) -> tuple[int, int, int, int]:
        """As a heuristic is asked: open, me, opp, to_move."""
        return *words(self.position, self.side), words(self.position)[1]

    @property
    def place(self) -> str:
        """Where that is."""
        return f"{self.position.fen!r} for {self.side}"


class Unanswered(Exception):
    """The heuristic raised an error at a question, or `endless`: it did not return."""

    def __init__(self, question: Question, error: KnightfallError) -> None:
        super().__init__(str(error))
        self.question = question
        self.endless = isinstance(error, AgentFailure)


def sample(board: Board, number: int) -> list[Position]:
    """Positions from random games, always the same ones; fewer if there are not so many."""
    rng = random.Random(f"check {board.width}x{board.height}")
    found: dict[Position, None] = {}
    for _ in range(3 * number):
        if len(found) == number:
            break
        position, game = Position.start(board.width, board.height), list[Position]()
        while position.legal_moves:
            position = position.play(rng.choice(position.legal_moves))
            if position.placed and position.legal_moves:
                game.append(position)
        if game:
            found.setdefault(rng.choice(game))
    return list(found)


def questions_about(positions: Iterable[Position]) -> list[Question]:
    """From the mover's point of view, then from the other's."""
    return [Question(p, side) for p in positions for side in (p.to_move, other(p.to_move))]


def image(position: Position, symmetry: Sequence[int]) -> Position:
    """A position mirrored or turned."""
    assert position.white is not None
    assert position.black is not None
    return Position(
        position.board,
        frozenset(symmetry[cell] for cell in position.open),
        symmetry[position.white],
        symmetry[position.black],
        position.to_move,
    )


class Sheet:
    """Questions in a row, to be answered by compiled code with the limits of a search."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._rows = np.array([question.words for question in questions], np.uint64)
        self._boards = geometry(questions[0].position.board)
        self._boards["step_limit"] = LEAF_STEP_LIMIT
        self._values, self._done = np.zeros(len(questions)), np.zeros(1, np.int64)

    def run(self, ready: Evaluator) -> None:
        """Have them all answered, by a heuristic that is known to answer."""
        self._done[0] = 0
        evaluate_many_at(self._boards, ready.address, self._rows, self._values, self._done)

    def answers(self, ready: Evaluator) -> Values:
        """What a heuristic says; `Unanswered` where it fails."""
        try:
            with ready.explaining_errors(self._boards):
                run_interruptibly(
                    lambda: self.run(ready),
                    stop_function(self._boards),
                    progress=lambda: int(self._done[0]),
                    blamed=f"heuristic {ready.id}",
                    patience=PATIENCE,
                )
        except KnightfallError as error:
            # One that raised an error was counted as answered.
            at = int(self._done[0]) - (not isinstance(error, AgentFailure))
            raise Unanswered(self._questions[at], error) from None
        return self._values


def answers(ready: Evaluator, questions: Sequence[Question]) -> Values:
    """What a heuristic says; `Unanswered` where it fails."""
    return Sheet(questions).answers(ready)


# -- in a second process ---------------------------------------------------------------------


class SecondProcess:
    """Has a heuristic answer the same questions in another process, meanwhile."""

    def __init__(self, ready: Evaluator, board: Board, number: int) -> None:
        self._call: IsolatedCall | None = None
        if ready.available_elsewhere:
            self._call = start_isolated(_values, ready.id, board.width, board.height, number)

    def answers(self) -> Values | None:
        """What it was told; None if only this process knows the heuristic, or it takes too long."""
        if self._call is None:
            return None
        try:
            said = self._call.reply(SECOND_PROCESS)
            return np.array([float.fromhex(value) for value in said])
        except (ChildExited, TypeError, ValueError):
            return None

    def end(self) -> None:
        """It is not needed any more."""
        if self._call is not None:
            self._call.kill()


def _values(heuristic: str, width: int, height: int, number: int) -> list[str]:
    """Return a heuristic's answers as hexadecimal texts, which lose nothing on their way."""
    positions = sample(Board.of(width, height), number)
    values = answers(evaluator(heuristic), questions_about(positions))
    return [value.hex() for value in values.tolist()]
