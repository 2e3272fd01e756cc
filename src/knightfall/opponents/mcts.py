"""Find the move with the best practical chances by Monte-Carlo tree search.

Each trial is a game against an opponent that is drawn from the models and the stranger.  Down the
tree our own moves are chosen by the results of earlier trials, replies are the model's.  A node is
reached only by opponents that reply in this way, so its statistics are about them.  At the end of
the tree a playout begins, in which a search of our own moves for us.

A reply is drawn again in each trial from all moves that are equal for the model.  If ties were
always broken in the same way, the tree would learn a tie-breaking that a real opponent does not
have.

A trial is won as soon as the solver finds that the opponent has lost its win, and lost as soon as
the opponent's search has proven its win.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel.bits import Bits, count, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.interrupt import run_interruptibly, stop_function, stop_in, stopwatch
from knightfall.kernel.rules import (
    GEOMETRY,
    NO_LIMIT,
    Geometry,
    GeometryArray,
    geometry,
    moves,
    spread,
    words,
)
from knightfall.opponents.mcts_state import (
    MCTS_DTYPE,
    NODE,
    NODE_DTYPE,
    OPEN,
    RECORDS,
    REPLIES_DTYPE,
    SURE,
    WAYS,
    WON,
    Node,
    Records,
    lost_value,
    may_go_on,
    solver_finds_win,
)
from knightfall.opponents.opponent_models import (
    JUDGES,
    MODELS,
    OPPONENTS,
    OWN_PLAYOUT,
    OpponentModel,
    Posterior,
    ReplyEstimate,
    SearchMemory,
    apportion,
    memory_after,
    seeds,
    shipped_chances,
    shuffled_turns,
)
from knightfall.opponents.replies import ask_about, one_reply, put_back, reply
from knightfall.position import Position
from knightfall.search.budget import LEAF_STEP_LIMIT
from knightfall.search.run_search import SEARCHES, settings_for
from knightfall.search.search_state import DTYPE as STATE_DTYPE
from knightfall.search.search_state import SETTINGS, SETTINGS_DTYPE
from knightfall.search.transposition_table import new_table
from knightfall.solver.engine import Engine

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_tree = types.Array(NODE, 1, "C")
_numbers = types.Array(_i64, 1, "C")

# -- trials, compiled ---------------------------------------------------------------------------


CUT = -1.0
"""Value of a trial that was cut short."""


@compiled(types.void(GEOMETRY, NODE, _u64, _i64, _i64))
def _init_node(board: Geometry, node: Node, open: Bits, me: int, opp: int) -> None:
    """Initialise a node for a position; moves that leave the opponent fewest moves come first."""
    node.open, node.me, node.opp = open, me, opp
    values = [0 for _ in range(WAYS)]
    number = 0
    left = moves(board, open, me)
    while left != _u64(0):
        cell = first(left)
        left = rest(left)
        after = open & ~(_u64(1) << _u64(cell))
        mine, theirs = moves(board, after, cell), moves(board, after, opp)
        value = 8 * count(theirs) - 4 * count(mine)
        value += 2 * (count(spread(board, theirs) & after) - count(spread(board, mine) & after))
        at = number
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            node.cells[at] = node.cells[at - 1]
            at -= 1
        values[at] = value
        node.cells[at] = cell
        number += 1
    node.number = number
    node.state = OPEN
    node.visits = 0
    for move in range(WAYS):
        node.tries[move] = 0
        node.total[move] = 0.0
        for way in range(WAYS):
            node.child[move, way] = 0


@compiled(_i64(NODE, _f64))
def _select_move(node: Node, explore: float) -> int:
    """Return the index of the move to try: the best by mean value plus exploration.

    A move that was never tried gets the mean value of the node: there are too few trials to try
    every move of every node.
    """
    total = 0.5
    for move in range(node.number):
        total += node.total[move]
    usual = total / (node.visits + 1)
    curious = explore * math.sqrt(node.visits + 1) / node.number
    best, chosen = -1.0, 0
    for move in range(node.number):
        tries = node.tries[move]
        value = node.total[move] / tries if tries > 0 else usual
        value += curious / (1 + tries)
        if value > best:
            best, chosen = value, move
    return chosen


@compiled(_f64(RECORDS, SETTINGS, SETTINGS, _u64, _i64, _i64))
def _playout(records: Records, own: Any, opponent: Any, open: Bits, me: int, opp: int) -> float:
    """Return the value of a playout, with us to move in a position not known to be won."""
    board, mcts = records.boards[0], records.mcts_states[0]
    while moves(board, open, me) != _u64(0):
        cell = one_reply(records, own, open, me, opp)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            return 1.0
        me = cell
        open &= ~(_u64(1) << _u64(me))
        if moves(board, open, opp) == _u64(0):
            return 1.0
        cell = one_reply(records, opponent, open, opp, me)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            break
        opp = cell
        open &= ~(_u64(1) << _u64(opp))
        if solver_finds_win(records, mcts.settle_late, open, me, opp):
            return 1.0
    return lost_value(board, open)


@compiled(_f64(RECORDS, _tree, _i64))
def _trial(records: Records, tree: Any, model: int) -> float:
    """Play one trial against a model; return its value, and leave its path in `mcts`."""
    board, mcts, players = records.boards[0], records.mcts_states[0], records.players
    at = 0
    mcts.length = 0
    while True:
        node = tree[at]
        if node.state == WON:
            return 1.0
        if node.number == 0:
            return lost_value(board, node.open)
        move = _select_move(node, mcts.explore)
        mcts.nodes[mcts.length] = at
        mcts.moves[mcts.length] = move
        mcts.length += 1
        me, opp = _i64(node.cells[move]), node.opp
        open = node.open & ~(_u64(1) << _u64(me))
        theirs = moves(board, open, opp)
        if theirs == _u64(0):
            return 1.0
        cell = reply(records, model, open, opp, me)
        if cell < 0:
            return CUT
        if cell & SURE != 0:
            return lost_value(board, open)
        way = count(theirs & ((_u64(1) << _u64(cell)) - _u64(1)))
        opp = cell
        open &= ~(_u64(1) << _u64(opp))
        at = _i64(node.child[move, way])
        if at != 0:
            continue
        # The stranger is not a search, so in playouts one of its judges plays in its place.
        judge = mcts.trials % len(mcts.judges)
        stand_in = model if model < mcts.stranger else mcts.judges[judge]
        won = solver_finds_win(records, mcts.settle_cells, open, me, opp)
        if mcts.used < len(tree):
            at = mcts.used
            mcts.used += 1
            node.child[move, way] = at
            _init_node(board, tree[at], open, me, opp)
            tree[at].state = WON if won else OPEN
        if won:
            return 1.0
        own = players[len(players) - 1]
        return _playout(records, own, players[stand_in], open, me, opp)


@compiled(types.void(RECORDS, _tree, _numbers, _u64, _i64, _i64))
def run_trials(
    records: Records, tree: Any, order: Any, open: Bits, mover: int, waiter: int
) -> None:
    """Play trials against the models of `order`, in turn, until a limit is reached.

    ``tree[0]`` then has the number of trials of each move, and the sum of their values.  The nodes
    of all searches count towards the limit.
    """
    mcts = records.mcts_states[0]
    if mcts.used == 0:
        _init_node(records.boards[0], tree[0], open, mover, waiter)
        mcts.used = 1
    idle = 0
    while mcts.trials < mcts.most_trials and idle < mcts.enough_idle and may_go_on(mcts):
        before = mcts.spent
        model = order[mcts.trials % len(order)]
        value = _trial(records, tree, model)
        if value == CUT:
            return
        mcts.trials += 1
        idle = idle + 1 if mcts.spent == before else 0
        for step in range(mcts.length):
            node = tree[mcts.nodes[step]]
            move = mcts.moves[step]
            node.visits += 1
            node.tries[move] += 1
            node.total[move] += value


# -- the workspace of one thread ----------------------------------------------------------------


TREE = 8192
"""Size of the search tree, in nodes."""

REPLIES = 1 << 14
"""Size of the table of replies, in positions."""

WEIGHING_SHARE, ASKED = 0.15, (2, 8)
"""Share of the budget for updating the posterior, and the least and largest number of searches per
model, with different seeds: many moves are equal."""

ONE_ANSWER = 2000
"""Approximate number of nodes of one search by a model."""

KNOWN = 16
"""Number of answers that an exactly known distribution of replies counts as."""

TRUTH_CELLS = 33
"""With this many open cells or fewer, the exact result is a feature of the stranger's replies."""

UNLIKELY = 0.002
"""Models less likely than this are not asked any more."""


_SETTINGS = {
    "most_trials": 100_000,
    "enough_idle": 1000,
    "explore": 1.5,
    "early_cells": 37,
    "early_nodes": 500,
    "settle_cells": 39,
    "settle_late": 31,  # fewer than in the tree, because playouts ask the solver after every reply
    "settle_nodes": 20_000,  # less than a millisecond, and nearly always enough
    "truth_cells": TRUTH_CELLS,
}
"""The settings that all searches share; `MCTS_DTYPE` explains them."""


class Workspace:
    """The records, tables and tree of one thread's searches."""

    def __init__(self) -> None:
        self.states = np.zeros(1, STATE_DTYPE)
        self.mcts_states = np.zeros(1, MCTS_DTYPE)
        self.tree = np.zeros(TREE, NODE_DTYPE)
        self.tree["visits"] = 0  # writing makes the system allocate the pages now; also below
        self.boards: dict[Board, GeometryArray] = {}
        self.tables: dict[int, Any] = {}
        self.replies = np.zeros(REPLIES, REPLIES_DTYPE)
        self.replies["stamp"] = 0
        stranger = np.zeros(1, SETTINGS_DTYPE)  # unused: the stranger is not a search
        searches = [self._player(model) for model in MODELS]
        self.players = np.concatenate([*searches, stranger, self._player(OWN_PLAYOUT)])

    def _player(self, model: OpponentModel) -> Any:
        settings = settings_for(SEARCHES[model.method], evaluator(model.heuristic), model.budget)
        entries = int(settings["entries"][0])
        if entries not in self.tables:
            self.tables[entries] = new_table(entries)
        settings["table"] = self.tables[entries].ctypes.data
        return settings

    def board(self, board: Board) -> GeometryArray:
        """Return this thread's geometry of a board."""
        if board not in self.boards:
            self.boards[board] = geometry(board, LEAF_STEP_LIMIT)
        return self.boards[board]

    def begin(self, seed: int, **settings: int) -> None:
        """Begin a new search: reset its record, and invalidate all replies in the table."""
        mcts_states = self.mcts_states
        generation, stamp = mcts_states["generation"][0], mcts_states["stamp"][0]
        mcts_states[:] = np.zeros(1, MCTS_DTYPE)
        mcts_states["generation"], mcts_states["stamp"] = generation, stamp + 1
        words = seeds(seed, len(self.players) + 1)
        mcts_states["seed"], self.players["seed"] = words[0], words[1:]
        mcts_states["logit_weights"] = shipped_chances().logit_weights
        mcts_states["judges"] = [MODELS.index(judge) for judge in JUDGES]
        mcts_states["stranger"] = len(MODELS)
        for name in ("alphabeta", "plain_deepening"):
            mcts_states[name] = SEARCHES[name].address
        for name, value in {**_SETTINGS, **settings}.items():
            mcts_states[name] = value

    def load_memory(self, memory: SearchMemory | None, position: Position) -> None:
        """Load the tree and the replies of an earlier move of the same game."""
        if memory is None:
            return
        put_back(self.replies, self.mcts_states, memory.replies)
        known = memory.subtree_at(position)
        self.tree[: len(known)] = known
        self.tree["state"][0] = OPEN  # if it were marked as won, none of its moves would be tried
        self.mcts_states["used"] = len(known)

    def save_memory(self, name: str, left: Position) -> SearchMemory:
        """Return the subtree and replies for the next search, after move `name` led to `left`."""
        root, (mcts,) = self.tree[0], self.mcts_states
        cells = root["cells"][: root["number"]]
        move = int(np.flatnonzero(cells == left.board.cell(name))[0])
        tree = self.tree[: mcts["used"]]
        return memory_after(tree, move, self.replies, mcts["stamp"], left)

    def records(self, board: Board, lent: tuple[Any, Any]) -> Records:
        """Return the records of the compiled search; `lent` are the two that the solver lends."""
        mine = self.mcts_states, self.replies, self.players
        return Records(self.board(board), self.states, *lent, *mine)

    def update_posterior(self, posterior: Posterior, records: Records, nodes: int) -> Posterior:
        """Return the posterior with all pending moves included; each takes about `nodes` nodes."""
        while posterior.seen:
            seen = posterior.seen[0]
            cells = sorted(map(seen.before.board.cell, seen.before.legal_moves))
            likely = np.array([share > UNLIKELY for share in posterior.shares])
            asked = min(max(nodes // (int(likely.sum()) * ONE_ANSWER), ASKED[0]), ASKED[1])
            self.mcts_states["samples"] = asked
            estimates: list[ReplyEstimate | None] = [None] * len(OPPONENTS)
            if len(cells) > 1:
                entry = self.ask_opponents(likely, records, seen.before)
                for number in np.flatnonzero(likely & (entry["asked"][: len(OPPONENTS)] > 0)):
                    weights = entry["weights"][number]
                    share = float(weights[cells.index(seen.reply)] / weights.sum())
                    answers = min(KNOWN, int(entry["asked"][number]))
                    estimates[number] = ReplyEstimate(share, answers)
            posterior = posterior.updated(estimates, len(cells))
        return posterior

    def ask_opponents(self, mask: Any, records: Records, position: Position) -> Any:
        """Find the replies of the opponents in `mask`; return the position's row of the table."""
        return self.replies[ask_about(records, mask, *words(position))]


_here = threading.local()


def thread_workspace() -> Workspace:
    """Return this thread's workspace, creating it on first use."""
    if not hasattr(_here, "workspace"):
        _here.workspace = Workspace()
    workspace: Workspace = _here.workspace
    return workspace


# -- the move with the best chances -------------------------------------------------------------


SOON, NODES_SOON = 0.3, 5_000_000
"""Searches up to this many seconds or nodes are not made interruptible."""

TURNS = 128
"""Length of the cycle of opponents in which each occurs in proportion to its probability."""

SAMPLES = 4
"""Searches per model and position if its ties cannot be determined from one."""


@dataclass(frozen=True)
class Chance:
    """A move with its win rate against the models (0 to 1), and the number of trials."""

    move: str
    rate: float
    trials: int


def best_chance(
    position: Position,
    engine: Engine,
    nodes: int,
    deadline: float | None,
    seed: int,
    posterior: Posterior,
    worth: float,
) -> tuple[Chance | None, Posterior]:
    """Return the move that wins most trials, and the new posterior.

    Both knights must be placed, and there must be a legal move.  The search takes at most `nodes`
    nodes, including the solver's, and ends at `deadline` (by `time.perf_counter`); `worth` is an
    estimate of the nodes that it will take.  The move is None if no trial was completed.
    """
    workspace = thread_workspace()
    boards, mcts_states = workspace.board(position.board), workspace.mcts_states
    limit = min(nodes, int(2 * worth * WEIGHING_SHARE))
    workspace.begin(seed, limit=limit)
    boards["clock"] = 0
    alarms = []
    with engine.lent() as lent:
        left = None
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None, posterior
            for each in (mcts_states, boards, lent[0]):
                stop_in(each, left)
        records = workspace.records(position.board, lent)
        workspace.load_memory(posterior.memory, position)
        posterior = workspace.update_posterior(posterior, records, int(worth * WEIGHING_SHARE))
        places = apportion(posterior.shares, TURNS)
        turns: Any = np.array([places[seat] for seat in shuffled_turns(seed, TURNS)])
        mcts_states["limit"] = nodes
        mcts_states["samples"] = SAMPLES
        if deadline is not None:
            # The stopwatch sets this limit to 0; unlike the searches' limits it is never reset.
            alarms = [stopwatch().stop_at(deadline, mcts_states)]

        def run() -> None:
            run_trials(records, workspace.tree, turns, *words(position))

        try:
            if (left is not None and left <= SOON) or nodes <= NODES_SOON:
                run()
            else:
                run_interruptibly(run, stop_function(mcts_states), left)
        finally:
            for alarm in alarms:
                alarm.cancel()
    chance = _read(position, workspace)
    memory = None
    if chance is not None:
        memory = workspace.save_memory(chance.move, position.play(chance.move))
    return chance, replace(posterior, memory=memory)


def _read(position: Position, workspace: Workspace) -> Chance | None:
    root = workspace.tree[0]
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
    )


def last_search_nodes() -> int:
    """Return the nodes of this thread's last search, even if it completed no trial."""
    return int(thread_workspace().mcts_states["spent"][0])


def warm_up(board: Board) -> None:
    """Prepare what the first search on a board needs."""
    shipped_chances()
    thread_workspace().board(board)


# -- replies with their features, for learning --------------------------------------------------


@dataclass(frozen=True)
class ReplyFeatures:
    """The replies to a position, in board order, with their features.

    `features` has a row for each reply; `shares` has a row for each opponent, with the probability
    of each reply.
    """

    cells: tuple[int, ...]
    features: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]


def reply_features(position: Position, engine: Engine, samples: int = 2) -> ReplyFeatures:
    """Return the features of each reply to a position, and every opponent's probabilities."""
    workspace = thread_workspace()
    boards = workspace.board(position.board)
    workspace.begin(0, limit=NO_LIMIT, samples=samples)
    boards["clock"] = 0
    with engine.lent() as lent:
        records = workspace.records(position.board, lent)
        entry = workspace.ask_opponents(np.ones(len(OPPONENTS), np.bool_), records, position)
    cells = sorted(map(position.board.cell, position.legal_moves))
    weights = entry["weights"][: len(OPPONENTS), : len(cells)].astype(np.float64)
    return ReplyFeatures(
        cells=tuple(cells),
        features=workspace.mcts_states["features"][0, : len(cells)].copy(),
        shares=weights / weights.sum(1, keepdims=True),
    )
