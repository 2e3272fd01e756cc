"""Practical chances from Python: a position and what may be spent on it, the move to try."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel.clock import stop_in
from knightfall.kernel.geometry import GeometryArray
from knightfall.kernel.interrupt import interruptibly, limit_to_nothing
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.practical.models import MIXTURE, ONESELF, SEEDS, Model, order, seeds
from knightfall.practical.state import MOST_TYPES, NODE_DTYPE, PRACTICE_DTYPE
from knightfall.practical.trials import practise
from knightfall.search.settings import board_for, settings_for
from knightfall.search.state import DTYPE as STATE_DTYPE
from knightfall.search.stopwatch import stopwatch
from knightfall.search.table import new_table
from knightfall.solver.engine import Engine

EXPLORE = 0.5
"""How curious the choice among own moves is."""

SETTLE_CELLS, SETTLE_NODES = 39, 20_000
"""In trials the solver is asked when so few cells are open, and may take so many nodes: less than
a millisecond, and nearly always enough."""

TREE = 8192
"""Own positions that are remembered."""

MOST_TRIALS, ENOUGH_IDLE = 100_000, 500
"""Trials in all, and in a row that led to nothing new: then everything has been tried."""

SOON, NODES_SOON = 0.3, 5_000_000
"""What is done within a third of a second need not be interruptible."""

assert len(MIXTURE) * SEEDS <= MOST_TYPES


@dataclass(frozen=True)
class Chance:
    """A move, how often it wins against the mixture (0 to 1), and what it took to know."""

    move: str
    rate: float
    trials: int
    nodes: int


class _Room:
    """Where one thread practises: its records, its tables, its tree."""

    def __init__(self) -> None:
        self.states = np.zeros(1, STATE_DTYPE)
        self.practices = np.zeros(1, PRACTICE_DTYPE)
        self.tree = np.zeros(TREE, NODE_DTYPE)
        self.tree["visits"] = 0  # have its memory at hand, not only promised
        self.boards: dict[Board, GeometryArray] = {}
        self.tables: dict[int, Any] = {}
        self.opponents = np.concatenate([self._player(m) for m in MIXTURE for _ in range(SEEDS)])
        self.selves = self._player(ONESELF)
        self.orders: dict[int, Any] = {}

    def _player(self, model: Model) -> Any:
        settings = settings_for(model.method, evaluator(model.heuristic), model.budget)
        entries = int(settings["entries"][0])
        if entries not in self.tables:
            self.tables[entries] = new_table(entries)
        settings["table"] = self.tables[entries].ctypes.data
        return settings

    def board(self, board: Board) -> GeometryArray:
        """The geometry of a board, for this thread alone."""
        if board not in self.boards:
            self.boards[board] = board_for(board)
        return self.boards[board]

    def order(self, seed: int) -> Any:
        """Whom to meet, in this order; the opponents' seeds are set, too."""
        if seed not in self.orders:
            if len(self.orders) > 64:
                self.orders.clear()
            self.orders[seed] = np.array(order(seed)), np.array(seeds(seed), np.uint64)
        turns, words = self.orders[seed]
        self.opponents["seed"] = words
        self.selves["seed"] = words[0]
        return turns


_here = threading.local()


def _room() -> _Room:
    if not hasattr(_here, "room"):
        _here.room = _Room()
    room: _Room = _here.room
    return room


def best_chance(
    position: Position, engine: Engine, nodes: int, deadline: float | None, seed: int
) -> Chance | None:
    """The move that wins most often; both knights must stand, and there must be moves.

    At most so many nodes, searches and solver together, and until the deadline
    (`time.perf_counter`).  None if not even one trial came to its end.
    """
    room = _room()
    boards, practices = room.board(position.board), room.practices
    turns = room.order(seed)
    generation = practices["generation"][0]
    practices[:] = np.zeros(1, PRACTICE_DTYPE)
    practices["generation"] = generation
    practices["limit"] = nodes
    practices["most_trials"], practices["enough_idle"] = MOST_TRIALS, ENOUGH_IDLE
    practices["explore"] = EXPLORE
    practices["settle_cells"], practices["settle_nodes"] = SETTLE_CELLS, SETTLE_NODES
    boards["clock"] = 0
    alarms = []
    with engine.lent() as (solver_boards, solver_states):
        left = None
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None
            for records in (practices, boards, solver_boards):
                stop_in(records, left)
            # The searches reset their limit, but nobody resets this one.
            alarms = [stopwatch().stop_at(deadline, practices)]

        def run() -> None:
            practise(
                *(boards, room.states, solver_boards, solver_states, practices),
                *(room.tree, room.opponents, room.selves, turns, *words(position)),
            )

        try:
            if (left is not None and left <= SOON) or nodes <= NODES_SOON:
                run()
            else:
                interruptibly(run, limit_to_nothing(practices), left)
        finally:
            for alarm in alarms:
                alarm.cancel()
    return _read(position, room)


def _read(position: Position, room: _Room) -> Chance | None:
    root, practice = room.tree[0], room.practices[0]
    number = int(root["number"])
    tries, total = root["tries"][:number], root["total"][:number]
    if practice["trials"] == 0:
        return None
    rates = total / np.maximum(tries, 1)
    best = max(range(number), key=lambda move: (tries[move], rates[move]))
    return Chance(
        move=position.board.name(int(root["cells"][best])),
        rate=float(rates[best]),
        trials=int(practice["trials"]),
        nodes=int(practice["spent"]),
    )


def spent_here() -> int:
    """The nodes that this thread's last practice took, also where nothing came of it."""
    return int(_room().practices["spent"][0])


def warm_up(board: Board) -> None:
    """Make ready what the first practice on a board would."""
    _room().board(board)
