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
from knightfall.practical.asking import answers
from knightfall.practical.beliefs import Beliefs
from knightfall.practical.models import MODELS, ONESELF, Model, seats, seeds, shuffle
from knightfall.practical.state import MOST_SEATS, NODE_DTYPE, PRACTICE_DTYPE
from knightfall.practical.trials import practise
from knightfall.search.settings import board_for, settings_for
from knightfall.search.state import DTYPE as STATE_DTYPE
from knightfall.search.stopwatch import stopwatch
from knightfall.search.table import new_table
from knightfall.solver.engine import Engine

EXPLORE = 1.0
"""How curious the choice among own moves is."""

SETTLE_CELLS, SETTLE_LATE, SETTLE_NODES = 39, 31, 20_000
"""In the tree the solver is asked when so few cells are open, and beyond it, where it is asked at
every turn, later; it may take so many nodes: less than a millisecond, and nearly always enough."""

TREE = 8192
"""Own positions that are remembered."""

MOST_TRIALS, ENOUGH_IDLE = 100_000, 1000
"""Trials in all, and in a row that led to nothing new: then everything has been tried."""

SOON, NODES_SOON = 0.3, 5_000_000
"""What is done within a third of a second need not be interruptible."""

SEAT_NODES, FEWEST_SEATS = 30_000, 8
"""There is an opponent for so many nodes, and at least so many: each has to be met often."""

WEIGHING_SHARE, ASKED = 0.15, (2, 16)
"""What is spent on finding out whom one plays against, and how often each model is asked, at least
and at most: with different seeds, for equal moves are many."""

ONE_ANSWER = 2000
"""Nodes that an answer takes, more or less."""

UNLIKELY = 0.005
"""A model with less than this share is not asked any more."""


@dataclass(frozen=True)
class Chance:
    """A move, how often it wins against the models (0 to 1), and what it took to know."""

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
        self.models = np.concatenate([self._player(model) for model in MODELS])
        self.selves = self._player(ONESELF)

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

    def seated(self, places: list[int], seed: int) -> Any:
        """Opponents of these models, each with a seed of its own."""
        players = self.models[places]
        players["seed"] = seeds(seed, len(places))
        self.selves["seed"] = players["seed"][0]
        return players

    def weigh(self, beliefs: Beliefs, boards: GeometryArray, seed: int, nodes: int) -> Beliefs:
        """Reckon with the moves that were seen, for about so many nodes each."""
        while beliefs.seen:
            seen = beliefs.seen[0]
            ways = len(seen.before.legal_moves)
            likely = [at for at, share in enumerate(beliefs.shares) if share > UNLIKELY]
            asked = min(max(nodes // (len(likely) * ONE_ANSWER), ASKED[0]), ASKED[1])
            players = self.seated(sorted(likely * asked), seed)
            found = np.full(len(players), -1)
            if ways > 1:
                answers(boards, self.states, self.practices, players, *words(seen.before), found)
            told = dict(zip(likely, found.reshape(-1, asked), strict=True))
            hits = [
                None
                if at not in told or (told[at] < 0).any()
                else int((told[at] == seen.reply).sum())
                for at in range(len(MODELS))
            ]
            beliefs = beliefs.weighed(hits, asked, ways)
        return beliefs


_here = threading.local()


def _room() -> _Room:
    if not hasattr(_here, "room"):
        _here.room = _Room()
    room: _Room = _here.room
    return room


def best_chance(
    position: Position,
    engine: Engine,
    nodes: int,
    deadline: float | None,
    seed: int,
    beliefs: Beliefs,
    worth: float,
) -> tuple[Chance | None, Beliefs]:
    """The move that wins most often; both knights must stand, and there must be moves.

    At most so many nodes, searches and solver together, and until the deadline
    (`time.perf_counter`); `worth` is a guess of how many nodes that comes to.  None if not even one
    trial came to its end.  With it comes what is believed of the opponent now.
    """
    room = _room()
    boards, practices = room.board(position.board), room.practices
    generation = practices["generation"][0]
    practices[:] = np.zeros(1, PRACTICE_DTYPE)
    practices["generation"] = generation
    practices["limit"] = min(nodes, int(2 * worth * WEIGHING_SHARE))
    practices["most_trials"], practices["enough_idle"] = MOST_TRIALS, ENOUGH_IDLE
    practices["explore"] = EXPLORE
    practices["settle_cells"], practices["settle_nodes"] = SETTLE_CELLS, SETTLE_NODES
    practices["settle_late"] = SETTLE_LATE
    boards["clock"] = 0
    alarms = []
    with engine.lent() as (solver_boards, solver_states):
        left = None
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None, beliefs
            for records in (practices, boards, solver_boards):
                stop_in(records, left)
        beliefs = room.weigh(beliefs, boards, seed, int(worth * WEIGHING_SHARE))
        number = int(min(max(worth // SEAT_NODES, FEWEST_SEATS), MOST_SEATS))
        places = seats(beliefs.shares, number)
        opponents = room.seated(places, seed)
        begins: Any = np.searchsorted(places, range(len(MODELS) + 1))
        turns: Any = np.array([places[seat] for seat in shuffle(seed, number)])
        practices["limit"] = nodes
        if deadline is not None:
            # The searches reset their limit, but nobody resets this one.
            alarms = [stopwatch().stop_at(deadline, practices)]

        def run() -> None:
            practise(
                *(boards, room.states, solver_boards, solver_states, practices),
                *(room.tree, opponents, begins, room.selves, turns, *words(position)),
            )

        try:
            if (left is not None and left <= SOON) or nodes <= NODES_SOON:
                run()
            else:
                interruptibly(run, limit_to_nothing(practices), left)
        finally:
            for alarm in alarms:
                alarm.cancel()
    return _read(position, room), beliefs


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
