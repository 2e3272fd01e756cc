"""What a search for practical chances carries along: its tree, its limits, its way down.

The tree's nodes are positions in which it is the searcher's turn.  A node has up to eight moves,
each of which has up to eight replies, and each reply leads to one other node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, count, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry
from knightfall.search.search_state import PLIES, SETTINGS, STATE
from knightfall.solver.proof_table import STATE as SOLVER_STATE
from knightfall.solver.winloss import who_wins

WAYS = 8
"""No knight has more moves than this."""

FEATURES, JUDGES = 18, 5
"""What is known of a reply (`reply_logit.py`), of which so many are the choices of models."""

MOST_PLAYERS = 24
"""Models and the stranger, at most."""

OPEN, WON = 0, 1
"""Of a node: nothing is known or it is lost, or it is won."""

SURE = 64
"""A flag on the cell of a reply: who makes it sees its win to the end."""

NODE_DTYPE = np.dtype(
    [
        ("open", "u8"),
        ("me", "i8"),
        ("opp", "i8"),
        ("state", "i8"),
        ("number", "i8"),  # of moves, the most forcing first
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
        ("cells", "i8"),  # mover and waiter, packed
        ("stamp", "u8"),  # of the practice that it belongs to; any other's does not count
        ("sure", "u8"),  # by player, a bit: it sees its win to the end
        ("asked", "u1", (MOST_PLAYERS,)),  # how often each was asked
        ("weights", "u1", (MOST_PLAYERS, WAYS)),  # how likely each of its moves is, in board order
    ],
    align=True,
)
REPLIES = from_dtype(REPLIES_DTYPE)

PRACTICE_DTYPE = np.dtype(
    [
        ("limit", "i8"),  # nodes that all of it may take; 0 stops it at once
        ("clock", "u8"),  # as in the board's record
        ("dial", "u8"),
        ("reading", "i8", (2,)),
        ("deadline", "i8"),
        ("most_trials", "i8"),
        ("enough_idle", "i8"),  # trials in a row that took no node: there is nothing new to learn
        ("explore", "f8"),  # how curious the choice among own moves is
        ("early_cells", "i8"),  # with more open cells than this, nobody goes wrong yet:
        ("early_nodes", "i8"),  # so many nodes tell how the game goes on
        ("settle_cells", "i8"),  # with so few open cells the solver is asked in the tree,
        ("settle_late", "i8"),  # with so few beyond it,
        ("settle_nodes", "i8"),  # for so many nodes
        ("generation", "u8"),  # of the searches' tables
        # The addresses of the searches that keep the first of their best moves, in a shuffled order
        ("alphabeta", "u8"),
        ("plain_deepening", "u8"),
        ("stamp", "u8"),  # of the replies that count
        ("seed", "u8"),  # of what is left to chance,
        ("draws", "u8"),  # of which there was so much
        ("stranger", "i8"),  # its number among the players
        ("truth_cells", "i8"),  # with so few open cells the solver is asked about its replies
        ("judges", "i8", (JUDGES,)),  # the numbers of the models whose choices it goes by
        ("habits", "f8", (FEATURES,)),  # its weights
        ("features", "f8", (WAYS, FEATURES)),  # of the replies that it looks at
        ("probabilities", "f8", (WAYS,)),
        ("samples", "i8"),  # how often a player is asked whose equal moves cannot be told
        # what came of it
        ("spent", "i8"),
        ("trials", "i8"),
        ("used", "i8"),  # nodes of the tree
        # the way down the tree
        ("length", "i8"),
        ("nodes", "i8", (PLIES,)),
        ("moves", "i8", (PLIES,)),
    ],
    align=True,
)
PRACTICE = from_dtype(PRACTICE_DTYPE)

Node = Any
Practice = Any


# -- whether to go on, and what the solver says -------------------------------------------------


_u64, _i64, _f64 = types.uint64, types.int64, types.float64
BOARDS = types.Array(GEOMETRY, 1, "C")
STATES = types.Array(STATE, 1, "C")
SOLVER_STATES = types.Array(SOLVER_STATE, 1, "C")


class Records(NamedTuple):
    """What a practice works on, as one value that its functions pass on.

    The solver has a board and a state of its own; `replies` is a table, and of the `players` the
    last is oneself.
    """

    boards: Any
    states: Any
    solver_boards: Any
    solver_states: Any
    practices: Any
    replies: Any
    players: Any


REPLY_TABLE = types.Array(REPLIES, 1, "C")
RECORDS = types.NamedTuple(
    (
        *(BOARDS, STATES, BOARDS, SOLVER_STATES),
        *(types.Array(PRACTICE, 1, "C"), REPLY_TABLE, types.Array(SETTINGS, 1, "C")),
    ),
    Records,
)

LENGTH_COUNTS = 0.05
"""What a lost game is worth at most, if it fills the whole board: long ones are harder to win."""


@compiled(types.boolean(PRACTICE))
def may_go_on(practice: Practice) -> bool:
    """Whether there are nodes and time left."""
    if practice.spent >= practice.limit:
        return False
    return (  # type: ignore[no-any-return]
        practice.clock == _u64(0) or nanoseconds(practice.clock, practice.dial) < practice.deadline
    )


@compiled(types.boolean(RECORDS, _i64, _u64, _i64, _i64))
def wins(records: Records, cells: int, open: Bits, mover: int, waiter: int) -> bool:
    """Whether the solver, asked with so few open cells, soon finds that the mover wins."""
    practice, state = records.practices[0], records.solver_states[0]
    if count(open) > cells or not may_go_on(practice):
        return False
    before = state.nodes
    left = min(practice.settle_nodes, practice.limit - practice.spent)
    records.solver_boards[0].limit = before + left
    found = who_wins(records.solver_boards, records.solver_states, open, mover, waiter)
    practice.spent += state.nodes - before
    return found == 1


@compiled(_f64(GEOMETRY, _u64))
def lost(board: Geometry, open: Bits) -> float:
    """The value of a lost game that ends, as far as it matters, with these cells open."""
    return LENGTH_COUNTS * (1.0 - count(open) / count(board.every))
