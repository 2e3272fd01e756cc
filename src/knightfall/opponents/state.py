"""What a search for practical chances carries along: its tree, its limits, its way down.

The tree's nodes are positions in which it is the searcher's turn.  A node has up to eight moves,
each of which has up to eight replies, and each reply leads to one other node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype

from knightfall.search.search_state import PLIES

WAYS = 8
"""No knight has more moves than this."""

FEATURES, JUDGES = 18, 5
"""What is known of a reply (`stranger.py`), of which so many are the choices of models."""

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
