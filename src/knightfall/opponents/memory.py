"""What trials have found out, kept from one move of a game to the next.

Whoever replied as the opponent did has come to the node of the position that is reached now: what
was counted there is still true of those who may be meant.  And how a player replies to a position
need not be asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.kernel.rules import words
from knightfall.opponents.state import WAYS
from knightfall.position import Position

Records = npt.NDArray[Any]


@dataclass(frozen=True)
class Memory:
    """A tree, of which node 0 is the root, and replies to positions that may still come."""

    tree: Records
    replies: Records

    def below(self, position: Position) -> Records:
        """The tree whose root is a position, as far as there is one."""
        open, me, opp = words(position)
        tree = self.tree
        same = (tree["open"] == np.uint64(open)) & (tree["me"] == me) & (tree["opp"] == opp)
        found = np.flatnonzero(same)
        if not found.size:
            return tree[:0]
        return subtree(tree, int(found[np.argmax(tree["visits"][found])]))


def subtree(tree: Records, root: int) -> Records:
    """The nodes below one of a tree, itself the first, as a tree of their own."""
    levels, level = [np.array([root])], np.array([root])
    while level.size:
        children = tree["child"][level]
        level = children[children != 0]
        levels.append(level)
    order = np.concatenate(levels)
    there = np.zeros(len(tree), np.int32)
    there[order] = np.arange(len(order))
    found: Records = tree[order]
    found["child"] = np.where(found["child"] != 0, there[found["child"]], 0)
    return found


def remembered(tree: Records, move: int, replies: Records, stamp: int, left: Position) -> Memory:
    """What is worth keeping when a move was chosen, by its number, and led to position `left`."""
    others = np.arange(WAYS) != move
    root = tree[:1].copy()
    tree["child"][0, others] = 0
    kept = subtree(tree, 0)
    tree[:1] = root
    open = np.uint64(words(left)[0])
    usable = (replies["stamp"] == stamp) & (replies["open"] & ~open == 0)
    return Memory(kept, replies[usable])
