"""What a search for practical chances carries along: its tree, its limits, its way down.

The tree's nodes are positions in which it is the searcher's turn.  A node has up to eight moves,
each of which has up to eight replies, and each reply leads to one other node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype

from knightfall.search.state import PLIES

WAYS = 8
"""No knight has more moves than this."""

MOST_SEATS = 128
"""How many opponents there are at most: each is a model with a seed of its own."""

OPEN, WON = 0, 1
"""Of a node: nothing is known or it is lost, or it is won."""

NOT_ASKED, RESIGNS, SURE = 255, 254, 64
"""Of a reply: unknown yet; none; a flag on the cell, that the opponent sees its win to the end."""

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
        ("reply", "u1", (WAYS, MOST_SEATS)),  # by move and opponent
    ],
    align=True,
)
NODE = from_dtype(NODE_DTYPE)

PRACTICE_DTYPE = np.dtype(
    [
        ("limit", "i8"),  # nodes that all of it may take; 0 stops it at once
        ("clock", "u8"),  # as in the board's record
        ("dial", "u8"),
        ("reading", "i8", (2,)),
        ("deadline", "i8"),
        ("most_trials", "i8"),
        ("enough_idle", "i8"),  # trials in a row that took no node: there is nothing new to learn
        ("explore", "f8"),
        ("settle_cells", "i8"),  # with so few open cells the solver is asked in the tree,
        ("settle_late", "i8"),  # with so few beyond it,
        ("settle_nodes", "i8"),  # for so many nodes
        ("generation", "u8"),  # of the searches' tables
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
