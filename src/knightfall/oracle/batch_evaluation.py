"""Evaluate a heuristic on a batch of positions from random games, for either side."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.c_signature import evaluate_many_at
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.isolation.run_isolated import ChildExited, IsolatedCall, start_isolated
from knightfall.kernel.interrupt import run_interruptibly, stop_function
from knightfall.kernel.rules import geometry, words
from knightfall.position import Position, Side, other
from knightfall.search.budget import LEAF_STEP_LIMIT

PATIENCE, SECOND_PROCESS = 3.0, 60.0
"""Time limits in seconds: of one evaluation, and of all in the second process."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """A position and the side whose value is wanted."""

    position: Position
    side: Side

    @property
    def words(self) -> tuple[int, int, int, int]:
        """The arguments of a heuristic: open, me, opp, to_move."""
        return *words(self.position, self.side), words(self.position)[1]

    def __str__(self) -> str:
        return f"{self.position.fen!r} for {self.side}"


class EvaluationFailed(Exception):
    """The heuristic raised an error at a viewpoint or, if `endless`, did not return."""

    def __init__(self, viewpoint: Viewpoint, error: KnightfallError) -> None:
        super().__init__(str(error))
        self.viewpoint = viewpoint
        self.endless = isinstance(error, AgentFailure)


def sample(board: Board, number: int) -> list[Position]:
    """Return `number` positions from random games, fewer on tiny boards; the same every time."""
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


def both_viewpoints(positions: Iterable[Position]) -> list[Viewpoint]:
    """Return two viewpoints per position: the mover's, then its opponent's."""
    return [Viewpoint(p, side) for p in positions for side in (p.to_move, other(p.to_move))]


def mirrored(position: Position, symmetry: Sequence[int]) -> Position:
    """Return the position under a symmetry of the board."""
    assert position.white is not None
    assert position.black is not None
    return Position(
        position.board,
        frozenset(symmetry[cell] for cell in position.open),
        symmetry[position.white],
        symmetry[position.black],
        position.to_move,
    )


class Batch:
    """A batch of viewpoints, evaluated by compiled code with the step limit of a search."""

    def __init__(self, viewpoints: Sequence[Viewpoint]) -> None:
        self._questions = viewpoints
        self._rows = np.array([viewpoint.words for viewpoint in viewpoints], np.uint64)
        self._boards = geometry(viewpoints[0].position.board)
        self._boards["step_limit"] = LEAF_STEP_LIMIT
        self._values, self._done = np.zeros(len(viewpoints)), np.zeros(1, np.int64)

    def run(self, ready: Evaluator) -> None:
        """Evaluate all viewpoints, with a heuristic that is known to return at each of them."""
        self._done[0] = 0
        evaluate_many_at(self._boards, ready.address, self._rows, self._values, self._done)

    def evaluate(self, ready: Evaluator) -> Values:
        """Return a heuristic's values at all viewpoints.  Raise `EvaluationFailed` if one fails."""
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
            # An evaluation that raised an error is counted as done; one that hangs is not.
            at = int(self._done[0]) - (not isinstance(error, AgentFailure))
            raise EvaluationFailed(self._questions[at], error) from None
        return self._values


def evaluate(ready: Evaluator, viewpoints: Sequence[Viewpoint]) -> Values:
    """Return the values of a heuristic at viewpoints.  Raise `EvaluationFailed` if one fails."""
    return Batch(viewpoints).evaluate(ready)


# -- in a second process ---------------------------------------------------------------------


class SecondProcess:
    """A second process that evaluates the same viewpoints, so that the values can be compared."""

    def __init__(self, ready: Evaluator, board: Board, number: int) -> None:
        self._call: IsolatedCall | None = None
        if ready.available_elsewhere:
            self._call = start_isolated(_values, ready.id, board.width, board.height, number)

    def values(self) -> Values | None:
        """Return the other process's values; None if it could not load the heuristic, or failed."""
        if self._call is None:
            return None
        try:
            reply = self._call.reply(SECOND_PROCESS)
            return np.array([float.fromhex(value) for value in reply])
        except (ChildExited, TypeError, ValueError):
            return None

    def end(self) -> None:
        """Kill the process."""
        if self._call is not None:
            self._call.kill()


def _values(heuristic: str, width: int, height: int, number: int) -> list[str]:
    """Return a heuristic's values on `number` positions as hexadecimal text, which is exact."""
    positions = sample(Board.of(width, height), number)
    values = evaluate(evaluator(heuristic), both_viewpoints(positions))
    return [value.hex() for value in values.tolist()]
