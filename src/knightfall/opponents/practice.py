"""Practical chances from Python: a position and what may be spent on it, the move to try."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel.geometry import NO_LIMIT, GeometryArray
from knightfall.kernel.interrupt import run_interruptibly, stop_function, stop_in, stopwatch
from knightfall.kernel.rules import words
from knightfall.opponents.beliefs import Beliefs, Memory, Told, remembered
from knightfall.opponents.opponent_models import (
    JUDGES,
    MODELS,
    ONESELF,
    OPPONENTS,
    OpponentModel,
    seats,
    seeds,
    shipped,
    shuffle,
)
from knightfall.opponents.practice_state import (
    NODE_DTYPE,
    OPEN,
    PRACTICE_DTYPE,
    REPLIES_DTYPE,
    Records,
)
from knightfall.opponents.replies import put_back
from knightfall.opponents.reply_logit import ask_about
from knightfall.opponents.trials import practise
from knightfall.position import Position
from knightfall.search.run_search import SEARCHES, board_for, settings_for
from knightfall.search.search_state import DTYPE as STATE_DTYPE
from knightfall.search.search_state import SETTINGS_DTYPE
from knightfall.search.table import new_table
from knightfall.solver.engine import Engine

# -- where one thread practises, with what was learned of opponents, and asks them --------------


EXPLORE = 1.5
"""How curious the choice among own moves is."""

SETTLE_CELLS, SETTLE_LATE, SETTLE_NODES = 39, 31, 20_000
"""In the tree the solver is asked when so few cells are open, and beyond it, where it is asked at
every turn, later; it may take so many nodes: less than a millisecond, and nearly always enough."""

EARLY_CELLS, EARLY_NODES = 37, 500
"""Beyond the tree, while so many cells are open, hunters hardly ever let go of a win: a search of
fewer nodes will do."""

TREE = 8192
"""Own positions that are remembered."""

MOST_TRIALS, ENOUGH_IDLE = 100_000, 1000
"""Trials in all, and in a row that led to nothing new: then everything has been tried."""

REPLIES = 1 << 14
"""Positions for which it is remembered how players reply."""

WEIGHING_SHARE, ASKED = 0.15, (2, 8)
"""What is spent on finding out whom one plays against, and how often each model is asked, at least
and at most: with different seeds, for equal moves are many."""

ONE_ANSWER = 2000
"""Nodes that an answer takes, more or less."""

KNOWN = 16
"""What is known for sure of a model counts as much as so many answers."""

TRUTH_CELLS = 33
"""With so few open cells the stranger is thought to see somewhat of the truth."""

UNLIKELY = 0.002
"""A model with less than this share is not asked any more."""


_SETTINGS = {
    "most_trials": MOST_TRIALS,
    "enough_idle": ENOUGH_IDLE,
    "explore": EXPLORE,
    "early_cells": EARLY_CELLS,
    "early_nodes": EARLY_NODES,
    "settle_cells": SETTLE_CELLS,
    "settle_nodes": SETTLE_NODES,
    "settle_late": SETTLE_LATE,
    "truth_cells": TRUTH_CELLS,
}


class Workspace:
    """The records, tables and tree with which one thread practises."""

    def __init__(self) -> None:
        self.states = np.zeros(1, STATE_DTYPE)
        self.practices = np.zeros(1, PRACTICE_DTYPE)
        self.tree = np.zeros(TREE, NODE_DTYPE)
        self.tree["visits"] = 0  # have its memory at hand, not only promised; so with replies
        self.boards: dict[Board, GeometryArray] = {}
        self.tables: dict[int, Any] = {}
        self.replies = np.zeros(REPLIES, REPLIES_DTYPE)
        self.replies["stamp"] = 0
        stranger = np.zeros(1, SETTINGS_DTYPE)  # which is asked otherwise
        searches = [self._player(model) for model in MODELS]
        self.players = np.concatenate([*searches, stranger, self._player(ONESELF)])

    def _player(self, model: OpponentModel) -> Any:
        settings = settings_for(SEARCHES[model.method], evaluator(model.heuristic), model.budget)
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

    def begin(self, seed: int, **settings: int) -> None:
        """A new practice: nothing is spent or known yet."""
        practices = self.practices
        generation, stamp = practices["generation"][0], practices["stamp"][0]
        practices[:] = np.zeros(1, PRACTICE_DTYPE)
        practices["generation"], practices["stamp"] = generation, stamp + 1
        words = seeds(seed, len(self.players) + 1)
        practices["seed"], self.players["seed"] = words[0], words[1:]
        practices["habits"] = shipped().habits
        practices["judges"] = [MODELS.index(judge) for judge in JUDGES]
        practices["stranger"] = len(MODELS)
        for name in ("alphabeta", "plain_deepening"):
            practices[name] = SEARCHES[name].address
        for name, value in {**_SETTINGS, **settings}.items():
            practices[name] = value

    def recall(self, memory: Memory | None, position: Position) -> None:
        """Go on where an earlier move of the game left off."""
        if memory is None:
            return
        put_back(self.replies, self.practices, memory.replies)
        known = memory.below(position)
        self.tree[: len(known)] = known
        self.tree["state"][0] = OPEN  # were it known to be won, no move of it would be tried
        self.practices["used"] = len(known)

    def remember(self, name: str, left: Position) -> Memory:
        """What a later move of the game may go on from, after a move that led to `left`."""
        root, (practice,) = self.tree[0], self.practices
        cells = root["cells"][: root["number"]]
        move = int(np.flatnonzero(cells == left.board.cell(name))[0])
        tree = self.tree[: practice["used"]]
        return remembered(tree, move, self.replies, practice["stamp"], left)

    def records(self, board: Board, lent: tuple[Any, Any]) -> Records:
        """Return what compiled code works on, with the records that the solver lends."""
        mine = self.practices, self.replies, self.players
        return Records(self.board(board), self.states, *lent, *mine)

    def weigh(self, beliefs: Beliefs, records: Records, nodes: int) -> Beliefs:
        """Reckon with the moves that were seen, for about so many nodes each."""
        while beliefs.seen:
            seen = beliefs.seen[0]
            cells = sorted(map(seen.before.board.cell, seen.before.legal_moves))
            likely = np.array([share > UNLIKELY for share in beliefs.shares])
            asked = min(max(nodes // (int(likely.sum()) * ONE_ANSWER), ASKED[0]), ASKED[1])
            self.practices["samples"] = asked
            told: list[Told | None] = [None] * len(OPPONENTS)
            if len(cells) > 1:
                entry = self.ask(likely, records, seen.before)
                for number in np.flatnonzero(likely & (entry["asked"][: len(OPPONENTS)] > 0)):
                    weights = entry["weights"][number]
                    share = float(weights[cells.index(seen.reply)] / weights.sum())
                    told[number] = Told(share, min(KNOWN, int(entry["asked"][number])))
            beliefs = beliefs.weighed(told, len(cells))
        return beliefs

    def ask(self, whom: Any, records: Records, position: Position) -> Any:
        """Ask some opponents what they would reply, and return the position's row of the table."""
        return self.replies[ask_about(records, whom, *words(position))]


_here = threading.local()


def thread_workspace() -> Workspace:
    """Return this thread's workspace, creating it on first use."""
    if not hasattr(_here, "workspace"):
        _here.workspace = Workspace()
    workspace: Workspace = _here.workspace
    return workspace


# -- the move to try ----------------------------------------------------------------------------


SOON, NODES_SOON = 0.3, 5_000_000
"""What is done within a third of a second need not be interruptible."""

TURNS = 128
"""Trials after which all models were met, each as often as it is due."""

SAMPLES = 4
"""How often a player is asked about a position whose equal moves cannot be told."""


@dataclass(frozen=True)
class Chance:
    """A move, how often it wins against the models (0 to 1), and what it took to know."""

    move: str
    rate: float
    trials: int
    nodes: int


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
    workspace = thread_workspace()
    boards, practices = workspace.board(position.board), workspace.practices
    limit = min(nodes, int(2 * worth * WEIGHING_SHARE))
    workspace.begin(seed, limit=limit)
    boards["clock"] = 0
    alarms = []
    with engine.lent() as lent:
        left = None
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None, beliefs
            for each in (practices, boards, lent[0]):
                stop_in(each, left)
        records = workspace.records(position.board, lent)
        workspace.recall(beliefs.memory, position)
        beliefs = workspace.weigh(beliefs, records, int(worth * WEIGHING_SHARE))
        places = seats(beliefs.shares, TURNS)
        turns: Any = np.array([places[seat] for seat in shuffle(seed, TURNS)])
        practices["limit"] = nodes
        practices["samples"] = SAMPLES
        if deadline is not None:
            # The searches reset their limit, but nobody resets this one.
            alarms = [stopwatch().stop_at(deadline, practices)]

        def run() -> None:
            practise(records, workspace.tree, turns, *words(position))

        try:
            if (left is not None and left <= SOON) or nodes <= NODES_SOON:
                run()
            else:
                run_interruptibly(run, stop_function(practices), left)
        finally:
            for alarm in alarms:
                alarm.cancel()
    chance = _read(position, workspace)
    memory = None
    if chance is not None:
        memory = workspace.remember(chance.move, position.play(chance.move))
    return chance, replace(beliefs, memory=memory)


def _read(position: Position, workspace: Workspace) -> Chance | None:
    root, practice = workspace.tree[0], workspace.practices[0]
    number = int(root["number"])
    tries, total = root["tries"][:number], root["total"][:number]
    if not tries.any():
        return None
    rates = total / np.maximum(tries, 1)
    best = max(range(number), key=lambda move: (tries[move], rates[move]))
    return Chance(
        move=position.board.name(int(root["cells"][best])),
        rate=float(rates[best]),
        trials=int(tries.sum()),
        nodes=int(practice["spent"]),
    )


def spent_here() -> int:
    """The nodes that this thread's last practice took, also where nothing came of it."""
    return int(thread_workspace().practices["spent"][0])


def warm_up(board: Board) -> None:
    """Make ready what the first practice on a board would."""
    shipped()
    thread_workspace().board(board)


# -- what opponents would reply, for whoever learns from it -------------------------------------


@dataclass(frozen=True)
class ReplyFeatures:
    """The replies to a position in board order: what is known of them, and who would choose them.

    `features` has a row for each reply, `shares` a row for each opponent.
    """

    cells: tuple[int, ...]
    features: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]


def reply_features(position: Position, engine: Engine, samples: int = 2) -> ReplyFeatures:
    """How all opponents would reply to a position, in which there must be two moves or more."""
    workspace = thread_workspace()
    boards = workspace.board(position.board)
    workspace.begin(0, limit=NO_LIMIT, samples=samples)
    boards["clock"] = 0
    with engine.lent() as lent:
        records = workspace.records(position.board, lent)
        entry = workspace.ask(np.ones(len(OPPONENTS), np.bool_), records, position)
    cells = sorted(map(position.board.cell, position.legal_moves))
    weights = entry["weights"][: len(OPPONENTS), : len(cells)].astype(np.float64)
    return ReplyFeatures(
        cells=tuple(cells),
        features=workspace.practices["features"][0, : len(cells)].copy(),
        shares=weights / weights.sum(1, keepdims=True),
    )
