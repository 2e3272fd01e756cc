"""What opponents would reply to a position, for whoever learns from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.kernel.geometry import NO_LIMIT
from knightfall.opponents.models import OPPONENTS
from knightfall.opponents.room import room_here
from knightfall.position import Position
from knightfall.solver.engine import Engine


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
