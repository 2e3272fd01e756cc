"""The posterior probability of each opponent model, given the opponent's moves.

Bayes' rule: a model that would have moved as the opponent did becomes more likely, another one less
likely.  No probability becomes 0, because an opponent that matches no model surprises them all now
and then.

An agent is asked about positions, not games.  So it stores the positions that it left to the
opponent: if a single reply leads from one of them to the position that it is asked about, both
belong to the same game, and that reply is an observed move.  Each game gets an agent of its own, so
the posterior depends on the game alone.

The search tree is kept from one move of a game to the next, too.  The statistics below a node count
only models that reply as the opponent did, so they remain valid there.  The replies of a model to a
position are also kept, and not searched again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.kernel.rules import words
from knightfall.opponents.mcts_state import WAYS
from knightfall.opponents.opponent_models import shipped_chances
from knightfall.position import Position, other

Records = npt.NDArray[Any]


@dataclass(frozen=True)
class SearchMemory:
    """The parts of a finished search that the next one reuses.

    `tree` is the search tree, with its root at index 0. `replies` are the rows of the reply table
    whose positions can still occur.
    """

    tree: Records
    replies: Records

    def subtree_at(self, position: Position) -> Records:
        """Return the subtree whose root is the position; empty if the tree does not contain it."""
        open, me, opp = words(position)
        tree = self.tree
        same = (tree["open"] == np.uint64(open)) & (tree["me"] == me) & (tree["opp"] == opp)
        found = np.flatnonzero(same)
        if not found.size:
            return tree[:0]
        return subtree(tree, int(found[np.argmax(tree["visits"][found])]))


def subtree(tree: Records, root: int) -> Records:
    """Return the nodes below and including `root` as a tree of their own."""
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


def memory_after(
    tree: Records, move: int, replies: Records, stamp: int, left: Position
) -> SearchMemory:
    """Return the parts of a search that are still of use after a move of the root was played.

    `move` is the index of that move, `left` the position that it leads to.
    """
    others = np.arange(WAYS) != move
    root = tree[:1].copy()
    tree["child"][0, others] = 0
    kept = subtree(tree, 0)
    tree[:1] = root
    open = np.uint64(words(left)[0])
    usable = (replies["stamp"] == stamp) & (replies["open"] & ~open == 0)
    return SearchMemory(kept, replies[usable])


PSEUDO_COUNT = 1.0
"""Pseudo-count: answers added to those of a model, spread evenly over all moves."""

MOST_KEPT = 16
"""The most posteriors kept, of a few megabytes each at most; the oldest is dropped first."""


@dataclass(frozen=True)
class ObservedMove:
    """A move of the opponent: the position before it, and the destination cell."""

    before: Position
    reply: int


@dataclass(frozen=True)
class ReplyEstimate:
    """The share (0 to 1) of a model's sampled replies that are a given move, and their number."""

    share: float
    answers: int

    def probability(self, ways: int) -> float:
        """Return the smoothed probability of the move, where `ways` moves are legal."""
        return (self.share * self.answers + PSEUDO_COUNT / ways) / (self.answers + PSEUDO_COUNT)


@dataclass(frozen=True)
class Posterior:
    """The probability of each model, and observed moves that are not yet included in it."""

    shares: tuple[float, ...] = field(default_factory=lambda: shipped_chances().shares)
    seen: tuple[ObservedMove, ...] = ()
    memory: SearchMemory | None = field(default=None, compare=False)

    def observing(self, seen: ObservedMove) -> Posterior:
        """Return the posterior with one more pending move, which `updated` will include."""
        return replace(self, seen=(*self.seen, seen))

    def updated(self, estimates: Sequence[ReplyEstimate | None], ways: int) -> Posterior:
        """Return the posterior that includes the earliest pending move.

        `estimates` has one for each model.  A model with None was not asked, and keeps its share
        relative to the average of the others.
        """
        likely = [None if one is None else one.probability(ways) for one in estimates]
        known = [(share, one) for share, one in zip(self.shares, likely, strict=True) if one]
        weight = sum(share for share, _ in known)
        usual = sum(share * one for share, one in known) / weight if weight else 1.0
        raw = [share * (one or usual) for share, one in zip(self.shares, likely, strict=True)]
        total = sum(raw)
        return replace(self, shares=tuple(one / total for one in raw), seen=self.seen[1:])


class GameHistory:
    """The posterior after each move of an agent, by the position that the move led to."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Position, Posterior] = OrderedDict()  # oldest first

    def posterior_at(self, position: Position) -> Posterior:
        """Return the posterior of the game that a position continues; the prior for a new game."""
        fallback: Posterior | None = None
        for before in predecessors(position):
            seen = ObservedMove(before, _waiter(position))
            kept = self._kept.get(before)
            if kept is not None:
                return kept.observing(seen)
            if (
                len(before.open) == before.board.cells - 2
            ):  # the first move of all, from a placement
                fallback = Posterior().observing(seen)
        return fallback or Posterior()

    def record(self, left: Position, posterior: Posterior) -> None:
        """Store the posterior after the agent's move to the position `left`."""
        self._kept.pop(left, None)
        self._kept[left] = posterior
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def _waiter(position: Position) -> int:
    cell = position.knight(other(position.to_move))
    assert cell is not None
    return cell


def predecessors(position: Position) -> list[Position]:
    """Return the positions from which the opponent's last move may have led to this one.

    Both knights are placed in each of them.
    """
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
