"""What an opponent has shown of itself: which of the models it may be, by the moves it made.

Bayes' rule: a model that would have moved as the opponent did becomes more likely, one that would
not less.  No model is ever ruled out, for an opponent that is none of them will now and then
surprise all.

An agent is asked about positions, not games.  So it remembers the positions that it left behind:
one from which a single reply leads to the position it is asked about belongs to the same game, and
the reply is a move that it has seen.  The memory is the agent's own, and the arena makes an agent
for each game, so that what is believed depends on the game alone.

What trials have found out is kept from one move of a game to the next, too.  Whoever replied as the
opponent did has come to the node of the position that is reached now: what was counted there is
still true of those who may be meant.  And how a player replies to a position need not be asked
twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.kernel.rules import words
from knightfall.opponents.opponent_models import shipped
from knightfall.opponents.practice_state import WAYS
from knightfall.position import Position, other

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


SURPRISES = 1.0
"""Answers that a model is thought to have given beside those asked for, over all moves alike."""

MOST_KEPT = 16
"""Positions that were left behind: more than a game has that one goes back to.  What is kept of
one is some megabytes at most."""


@dataclass(frozen=True)
class Seen:
    """A move of the opponent's: the position it was made in, and the cell it went to."""

    before: Position
    reply: int


@dataclass(frozen=True)
class Told:
    """The share of a move among so many answers of an opponent."""

    share: float
    answers: int

    def likely(self, ways: int) -> float:
        """How likely it makes the move, one of so many."""
        return (self.share * self.answers + SURPRISES / ways) / (self.answers + SURPRISES)


@dataclass(frozen=True)
class Beliefs:
    """How likely each model is, and moves of the opponent that were not reckoned with yet."""

    shares: tuple[float, ...] = field(default_factory=lambda: shipped().shares)
    seen: tuple[Seen, ...] = ()
    memory: Memory | None = field(default=None, compare=False)

    def after(self, seen: Seen) -> Beliefs:
        """One more move was seen."""
        return replace(self, seen=(*self.seen, seen))

    def weighed(self, told: Sequence[Told | None], ways: int) -> Beliefs:
        """With the earliest unweighed move: what each opponent was found to think of it.

        None where one was not asked, which leaves it as it was beside the others.
        """
        likely = [None if one is None else one.likely(ways) for one in told]
        known = [(share, one) for share, one in zip(self.shares, likely, strict=True) if one]
        weight = sum(share for share, _ in known)
        usual = sum(share * one for share, one in known) / weight if weight else 1.0
        raw = [share * (one or usual) for share, one in zip(self.shares, likely, strict=True)]
        total = sum(raw)
        return replace(self, shares=tuple(one / total for one in raw), seen=self.seen[1:])


class Recollection:
    """The games that one agent is playing, by the positions that it left behind."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Position, Beliefs] = OrderedDict()  # oldest first

    def recall(self, position: Position) -> Beliefs:
        """Return what the agent believes of its opponent when it is asked about a position."""
        fallback: Beliefs | None = None
        for before in predecessors(position):
            seen = Seen(before, _waiter(position))
            kept = self._kept.get(before)
            if kept is not None:
                return kept.after(seen)
            if (
                len(before.open) == before.board.cells - 2
            ):  # the first move of all, from a placement
                fallback = Beliefs().after(seen)
        return fallback or Beliefs()

    def keep(self, left: Position, beliefs: Beliefs) -> None:
        """Remember what was believed when a position was left to the opponent."""
        self._kept.pop(left, None)
        self._kept[left] = beliefs
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def _waiter(position: Position) -> int:
    cell = position.knight(other(position.to_move))
    assert cell is not None
    return cell


def predecessors(position: Position) -> list[Position]:
    """The positions from which the opponent's last move may have led here, both knights placed."""
    if not position.placed:
        return []
    mover, cell = other(position.to_move), _waiter(position)
    still = position.knight(position.to_move)
    return [
        Position(
            position.board,
            position.open | {cell},
            start if mover == "w" else position.white,
            start if mover == "b" else position.black,
            mover,
        )
        for start in position.board.knight[cell]
        if start not in position.open and start != still
    ]
