"""What opponents would reply to a position, and how likely the next reply is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.kernel.clock import stop_in
from knightfall.kernel.geometry import NO_LIMIT
from knightfall.position import Position
from knightfall.practical.chances import LETS_GO, NAMES, shipped
from knightfall.practical.models import MODELS, OPPONENTS
from knightfall.practical.room import TRUTH_CELLS, room_here
from knightfall.practical.stranger import weigh_up
from knightfall.solver.engine import Engine


def likeliest_error(
    position: Position, engine: Engine, nodes: int, deadline: float | None
) -> tuple[tuple[str, float] | None, int]:
    """The move after which the stranger is likeliest to let go of its win with the next reply.

    With it comes how likely that is, and the nodes that it took: nobody is asked but the solver.
    None if they do not suffice, or if nothing is known because too many cells are open.
    """
    if len(position.open) - 1 > TRUTH_CELLS:
        return None, 0
    room = room_here()
    boards, practices = room.board(position.board), room.practices
    room.begin(0, limit=nodes, samples=1, hurried=1)
    practices["habits"] = shipped().in_a_hurry
    boards["clock"] = 0
    whom = np.arange(len(OPPONENTS)) == len(MODELS)
    best: tuple[str, float] | None = None
    with engine.lent() as (solver_boards, solver_states):
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None, 0
            for records in (practices, boards, solver_boards):
                stop_in(records, left)
        where = boards, room.states, solver_boards, solver_states
        for move in position.legal_moves:
            after = position.play(move)
            entry = room.ask(whom, where, after)
            if entry["asked"][len(MODELS)] == 0:
                return None, int(practices["spent"][0])
            ways = len(after.legal_moves)
            features, likely = practices["features"][0, :ways], practices["probabilities"][0, :ways]
            error = float(features[:, NAMES.index(LETS_GO)] @ likely)
            if best is None or error > best[1]:
                best = move, error
    return best, int(practices["spent"][0])


@dataclass(frozen=True)
class Outlook:
    """The replies to a position in board order: what is known of them, and who would choose them.

    `features` has a row for each reply, `shares` a row for each opponent.
    """

    cells: tuple[int, ...]
    features: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]


def outlook(position: Position, engine: Engine, samples: int = 2) -> Outlook:
    """How all opponents would reply to a position, in which there must be two moves or more."""
    room = room_here()
    boards = room.board(position.board)
    room.begin(0, limit=NO_LIMIT, samples=samples)
    boards["clock"] = 0
    with engine.lent() as (solver_boards, solver_states):
        where = boards, room.states, solver_boards, solver_states
        entry = room.ask(np.ones(len(OPPONENTS), np.bool_), where, position)
    cells = sorted(map(position.board.cell, position.legal_moves))
    weights = entry["weights"][: len(OPPONENTS), : len(cells)].astype(np.float64)
    return Outlook(
        cells=tuple(cells),
        features=room.practices["features"][0, : len(cells)].copy(),
        shares=weights / weights.sum(1, keepdims=True),
    )


def stranger_shares(features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How likely the stranger makes each of some replies, by their features."""
    room = room_here()
    room.begin(0)
    ways = len(features)
    room.practices["features"][0, :ways] = features
    weigh_up(room.practices[0], ways)
    found: npt.NDArray[np.float64] = room.practices["probabilities"][0, :ways].copy()
    return found
