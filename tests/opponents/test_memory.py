"""Tests of what one move of a game leaves to the next: the subtree and usable replies."""

from __future__ import annotations

from typing import Any

import numpy as np

from knightfall.kernel.rules import words
from knightfall.opponents import mcts
from knightfall.opponents.mcts import thread_workspace
from knightfall.opponents.mcts_state import NODE_DTYPE, WON
from knightfall.opponents.posterior import Posterior, SearchMemory, subtree
from knightfall.position import Position
from knightfall.solver.engine import Engine

LOST = Position.from_fen("7/7/1N5/7/7/5n1/7 w")


def searched(
    position: Position, nodes: int, posterior: Posterior
) -> tuple[mcts.Chance, SearchMemory]:
    engine = Engine(position.board)
    chance, after = mcts.best_chance(position, engine, nodes, None, 3, posterior, nodes)
    assert chance is not None
    assert after.memory is not None
    return chance, after.memory


def paths(tree: Any, at: int = 0) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """Return, by position, how often each move was tried in every node below a node of the tree."""
    node = tree[at]
    found = {(int(node["open"]), int(node["me"]), int(node["opp"])): tuple(node["tries"].tolist())}
    for child in node["child"][node["child"] != 0]:
        found |= paths(tree, int(child))
    return found


def test_a_subtree_is_what_its_root_leads_to() -> None:
    """Check the subtree of a small tree made by hand: node 0 has children 1 and 2, and node 1 has
    child 3.
    """
    tree = np.zeros(4, NODE_DTYPE)
    tree["open"] = [10, 11, 12, 13]
    tree["child"][0, 0, 1], tree["child"][0, 4, 2], tree["child"][1, 7, 7] = 1, 2, 3
    found = subtree(tree, 1)
    assert found["open"].tolist() == [11, 13]
    assert found["child"][0, 7, 7] == 1
    assert np.count_nonzero(found["child"]) == 1
    assert subtree(tree, 0)["open"].tolist() == [10, 11, 12, 13]


def test_the_tree_below_a_reply_is_kept() -> None:
    chance, memory = searched(LOST, 3_000_000, Posterior())
    left = LOST.play(chance.move)
    known = 0
    for reply in left.legal_moves:
        now = left.play(reply)
        below = memory.subtree_at(now)
        if not len(below):
            continue
        known += 1
        open, me, opp = words(now)
        assert (below["open"][0], below["me"][0], below["opp"][0]) == (open, me, opp)
        everything = paths(memory.tree)
        assert paths(below).items() <= everything.items()
        assert len(paths(below)) == len(below)
    assert known >= 1
    elsewhere = next(move for move in LOST.legal_moves if move != chance.move)
    after = LOST.play(elsewhere)
    assert not len(memory.subtree_at(after.play(after.legal_moves[0])))


def test_replies_that_may_come_are_kept() -> None:
    """Check that kept replies belong to positions that can still occur: their open cells are still
    open.
    """
    chance, memory = searched(LOST, 1_000_000, Posterior())
    open = words(LOST.play(chance.move))[0]
    assert len(memory.replies) > 5
    assert all(int(one) & ~open == 0 for one in memory.replies["open"])


def test_what_is_remembered_is_not_asked_again() -> None:
    """Check that the next search continues with the last one's tries and known replies."""
    chance, memory = searched(LOST, 3_000_000, Posterior())
    left = LOST.play(chance.move)
    now = max((left.play(one) for one in left.legal_moves), key=lambda p: _tries(memory, p))
    before = _tries(memory, now)
    assert before > 3
    again, later = searched(now, 1_000_000, Posterior(memory=memory))
    assert mcts.last_search_nodes() <= 1_000_000
    fresh, without = searched(now, 1_000_000, Posterior())
    assert later.tree["tries"][0].sum() == again.trials > before
    assert without.tree["tries"][0].sum() == fresh.trials


def test_replies_are_put_back() -> None:
    _, memory = searched(LOST, 1_000_000, Posterior())
    workspace = thread_workspace()
    workspace.begin(0)
    workspace.load_memory(memory, LOST)
    there = workspace.replies[workspace.replies["stamp"] == workspace.mcts_states["stamp"][0]]
    assert len(there) == len(memory.replies)

    def told(some: Any) -> set[Any]:
        names = ("open", "cells", "sure", "asked", "weights")
        return {tuple(one[name].tobytes() for name in names) for one in some}

    assert told(there) == told(memory.replies)


def test_moves_of_a_position_that_trials_found_won_are_tried() -> None:
    """Check that a search still returns a move if its root was already marked as won, after a
    blunder.
    """
    chance, memory = searched(LOST, 3_000_000, Posterior())
    left = LOST.play(chance.move)
    now = max((left.play(one) for one in left.legal_moves), key=lambda p: _tries(memory, p))
    root = int(np.flatnonzero(memory.tree["open"] == np.uint64(words(now)[0]))[0])
    memory.tree["state"][root] = WON
    memory.tree["tries"][root], memory.tree["visits"][root] = 0, 0
    found, _ = searched(now, 1_000_000, Posterior(memory=memory))
    assert found.trials > 0
    assert found.move in now.legal_moves


def _tries(memory: SearchMemory, position: Position) -> int:
    below = memory.subtree_at(position)
    return int(below["tries"][0].sum()) if len(below) else 0
