"""Records of the Monte-Carlo tree search: its tree, its table of replies, its limits.

The tree's nodes are positions in which the searcher is to move.  A node has up to eight moves, each
of which has up to eight replies, and each reply leads to one other node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, count, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry
from knightfall.search.search_state import PLIES, SETTINGS, STATE
from knightfall.solver.proof_table import STATE as SOLVER_STATE
from knightfall.solver.winloss import who_wins

WAYS = 8
"""The largest number of moves of a knight."""

FEATURES, JUDGES = 18, 5
"""Number of features of a reply (`replies.py`), and how many of them are choices of models."""

MOST_PLAYERS = 24
"""Largest number of models, including the stranger."""

OPEN, WON = 0, 1
"""State of a node: not known to be won, or won for the searcher."""

SURE = 64
"""Flag on the cell of a reply: the model's search has proven that it wins."""

NODE_DTYPE = np.dtype(
    [
        ("open", "u8"),
        ("me", "i8"),
        ("opp", "i8"),
        ("state", "i8"),
        ("number", "i8"),  # number of moves; the most forcing come first
        ("visits", "i8"),
        ("tries", "i8", (WAYS,)),  # by move
        ("total", "f8", (WAYS,)),
        ("cells", "u1", (WAYS,)),
        ("child", "i4", (WAYS, WAYS)),  # by move and reply, 0 = none yet
    ],
    align=True,
)
NODE = from_dtype(NODE_DTYPE)

REPLIES_DTYPE = np.dtype(
    [
        ("open", "u8"),
        ("cells", "i8"),  # cells of mover and waiter, packed
        ("stamp", "u8"),  # stamp of the search that wrote the row; rows with another count as empty
        ("sure", "u8"),  # a bit for each player: its search has proven that it wins
        ("asked", "u1", (MOST_PLAYERS,)),  # number of answers of each player
        ("weights", "u1", (MOST_PLAYERS, WAYS)),  # weights of each player's moves, in board order
    ],
    align=True,
)
REPLIES = from_dtype(REPLIES_DTYPE)

MCTS_DTYPE = np.dtype(
    [
        ("limit", "i8"),  # nodes of all searches together; 0 stops the search at once
        ("clock", "u8"),  # "clock" to "deadline" are as in the board's record
        ("dial", "u8"),
        ("reading", "i8", (2,)),
        ("deadline", "i8"),
        ("most_trials", "i8"),
        ("enough_idle", "i8"),  # trials in a row without a new node, after which to stop
        ("explore", "f8"),  # weight of exploration in the choice among our own moves
        ("early_cells", "i8"),  # in playouts with more open cells, where hunters hardly err,
        ("early_nodes", "i8"),  # searches get only this many nodes
        ("settle_cells", "i8"),  # in the tree, the solver is asked up to this many open cells
        ("settle_late", "i8"),  # in playouts, the solver is asked up to this many open cells
        ("settle_nodes", "i8"),  # largest number of nodes of one call of the solver
        ("generation", "u8"),  # generation of the searches' transposition tables
        # Addresses of the searches that play the first of their best moves in a shuffled order
        ("alphabeta", "u8"),
        ("plain_deepening", "u8"),
        ("stamp", "u8"),  # rows of the table of replies with this stamp are valid
        ("seed", "u8"),  # seed of the random numbers
        ("draws", "u8"),  # number of random numbers drawn so far
        ("stranger", "i8"),  # index of the stranger among the players
        ("truth_cells", "i8"),  # up to this many open cells the solver rates the stranger's replies
        ("judges", "i8", (JUDGES,)),  # indices of the models whose choices are features
        ("logit_weights", "f8", (FEATURES,)),
        ("features", "f8", (WAYS, FEATURES)),  # features of the replies to the current position
        ("probabilities", "f8", (WAYS,)),
        ("samples", "i8"),  # answers per player whose first does not show all equal moves
        # results
        ("spent", "i8"),
        ("trials", "i8"),
        ("used", "i8"),  # number of nodes in the tree
        # the path of the current trial through the tree
        ("length", "i8"),
        ("nodes", "i8", (PLIES,)),
        ("moves", "i8", (PLIES,)),
    ],
    align=True,
)
MCTS = from_dtype(MCTS_DTYPE)

Node = Any
Mcts = Any


# -- limits, and the solver ---------------------------------------------------------------------


_u64, _i64, _f64 = types.uint64, types.int64, types.float64
BOARDS = types.Array(GEOMETRY, 1, "C")
STATES = types.Array(STATE, 1, "C")
SOLVER_STATES = types.Array(SOLVER_STATE, 1, "C")


class Records(NamedTuple):
    """The records and tables that all functions of the search need, passed as one argument.

    The solver has a board and a state of its own.  `replies` is the table of replies.  The last of
    the `players` chooses our own moves in playouts.
    """

    boards: Any
    states: Any
    solver_boards: Any
    solver_states: Any
    mcts_states: Any
    replies: Any
    players: Any


REPLY_TABLE = types.Array(REPLIES, 1, "C")
RECORDS = types.NamedTuple(
    (
        *(BOARDS, STATES, BOARDS, SOLVER_STATES),
        *(types.Array(MCTS, 1, "C"), REPLY_TABLE, types.Array(SETTINGS, 1, "C")),
    ),
    Records,
)

LENGTH_COUNTS = 0.05
"""Value of a lost game that fills the whole board; shorter ones get less: they are easier to win.
"""


@compiled(types.boolean(MCTS))
def may_go_on(mcts: Mcts) -> bool:
    """Return whether nodes and time are left."""
    if mcts.spent >= mcts.limit:
        return False
    return (  # type: ignore[no-any-return]
        mcts.clock == _u64(0) or nanoseconds(mcts.clock, mcts.dial) < mcts.deadline
    )


@compiled(_i64(RECORDS, _u64, _i64, _i64))
def ask_solver(records: Records, open: Bits, mover: int, waiter: int) -> int:
    """Return 1 if the mover wins, 0 if it loses, −1 if the solver's nodes do not suffice."""
    mcts, state = records.mcts_states[0], records.solver_states[0]
    before = state.nodes
    left = min(mcts.settle_nodes, mcts.limit - mcts.spent)
    records.solver_boards[0].limit = before + left
    found = who_wins(records.solver_boards, records.solver_states, open, mover, waiter)
    mcts.spent += state.nodes - before
    return found


@compiled(types.boolean(RECORDS, _i64, _u64, _i64, _i64))
def solver_finds_win(records: Records, cells: int, open: Bits, mover: int, waiter: int) -> bool:
    """Return whether the solver finds within its nodes that the mover wins.

    False, without a search, if more than `cells` cells are open.
    """
    if count(open) > cells or not may_go_on(records.mcts_states[0]):
        return False
    return ask_solver(records, open, mover, waiter) == 1


@compiled(_f64(GEOMETRY, _u64))
def lost_value(board: Geometry, open: Bits) -> float:
    """Return the value of a game lost with these cells open: a longer game is worth more."""
    return LENGTH_COUNTS * (1.0 - count(open) / count(board.every))
