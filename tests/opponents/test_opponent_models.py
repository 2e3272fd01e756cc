"""Tests of the posterior over opponent models, and of what a move leaves to the next."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.kernel.rules import words
from knightfall.opponents import mcts
from knightfall.opponents.mcts import thread_workspace
from knightfall.opponents.mcts_state import NODE_DTYPE, WON
from knightfall.opponents.opponent_models import (
    MODELS,
    MOST_KEPT,
    OPPONENTS,
    GameHistory,
    ObservedMove,
    Posterior,
    ReplyEstimate,
    SearchMemory,
    apportion,
    predecessors,
    seeds,
    shipped_chances,
    shuffled_turns,
    subtree,
)
from knightfall.position import Position, other
from knightfall.search.run_search import SEARCHES
from knightfall.solver.engine import Engine

PRIOR = shipped_chances().shares
OPENING = Position.from_fen("7/7/1N5/7/7/5n1/7 w")


def test_shares_by_hand() -> None:
    """Compare the posterior of two models, one of which predicted the reply, with Bayes' rule and a
    pseudo-count.
    """
    shares = (0.5, 0.3, 0.2) + (0.0,) * (len(OPPONENTS) - 3)
    seen = ObservedMove(OPENING, 0)
    told = [ReplyEstimate(1.0, 2), ReplyEstimate(0.0, 2), None] + [None] * (len(OPPONENTS) - 3)
    after = Posterior(shares, (seen,)).updated(told, 4)
    assert after.seen == ()
    likely = [(2 + 1 / 4) / 3, (1 / 4) / 3]
    usual = (0.5 * likely[0] + 0.3 * likely[1]) / 0.8
    raw = [0.5 * likely[0], 0.3 * likely[1], 0.2 * usual]
    assert after.shares[:3] == pytest.approx([one / sum(raw) for one in raw])
    assert after.shares[2] == pytest.approx(0.2)  # no estimate, so no change


@given(
    st.lists(
        st.builds(ReplyEstimate, st.floats(0, 1), st.integers(1, 16)) | st.none(),
        min_size=len(OPPONENTS),
        max_size=len(OPPONENTS),
    )
)
def test_nobody_is_ruled_out(told: list[ReplyEstimate | None]) -> None:
    after = Posterior(seen=(ObservedMove(OPENING, 0),)).updated(told, 5)
    assert sum(after.shares) == pytest.approx(1)
    assert min(after.shares) > 0


@given(positions(board=Board.of(5, 5)))
def test_predecessors_are_what_one_move_leads_from(position: Position) -> None:
    """Check that each predecessor leads to the position by a legal move, and that the true one is
    among them.
    """
    cell = position.knight(other(position.to_move))
    for before in predecessors(position):
        assert before.play(position.board.name(cell or 0)) == position
    for move in position.legal_moves if position.placed else ():
        assert position in predecessors(position.play(move))


def test_a_game_is_recalled_and_others_are_not() -> None:
    kept, posterior = GameHistory(), Posterior(PRIOR[::-1])
    left = OPENING.play("d4")
    kept.record(left, posterior)
    now = left.play("e4")
    found = kept.posterior_at(now)
    assert found.shares == posterior.shares
    assert found.seen == (ObservedMove(left, now.board.cell("e4")),)
    assert GameHistory().posterior_at(now) == Posterior()
    assert kept.posterior_at(OPENING) == Posterior()


def test_the_first_move_of_all_is_seen_without_a_memory() -> None:
    now = OPENING.play("d4")
    assert GameHistory().posterior_at(now).seen == (ObservedMove(OPENING, now.board.cell("d4")),)


def test_no_more_games_are_kept_than_fit() -> None:
    kept, rng = GameHistory(), random.Random(4)
    left = [Position.start().play(a).play(b) for a, b in _cells(rng, 300)]
    for position in left:
        kept.record(position, Posterior(PRIOR[::-1]))
    known = [kept.posterior_at(p.play(p.legal_moves[0])).shares != PRIOR for p in left]
    assert not any(known[:-MOST_KEPT])
    assert all(known[-MOST_KEPT:])


def _cells(rng: random.Random, number: int) -> list[tuple[str, str]]:
    names = [Board.of(7, 7).name(cell) for cell in range(49)]
    pairs = [(a, b) for a in names for b in names if a != b]
    return rng.sample(pairs, number)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=25), st.integers(1, 128))
def test_seats_go_by_shares(shares: list[float], number: int) -> None:
    given = apportion(shares, number)
    assert len(given) == number
    assert given == sorted(given)
    for at, share in enumerate(shares):
        assert abs(given.count(at) - share / sum(shares) * number) < 1 + 1e-9


def test_seeds_and_turns_repeat_and_differ() -> None:
    assert len(set(seeds(5, 60))) == 60
    assert seeds(5, 60)[:9] == seeds(5, 9)
    assert seeds(5, 9) != seeds(6, 9)
    assert sorted(shuffled_turns(5, 60)) == list(range(60))
    assert shuffled_turns(5, 60) == shuffled_turns(5, 60) != shuffled_turns(6, 60)


@pytest.mark.parametrize(
    "text", ["id(improved, nodes=2500)", "AB_Center", "alphabeta(open, depth=3)"]
)
def test_an_opponent_is_recognised_by_its_moves(text: str) -> None:
    """Check that over some games the true model's probability at least doubles after some moves."""
    opponent, rng = parse_agent(text), random.Random(1)
    assert opponent.search is not None
    who = next(
        at
        for at, model in enumerate(MODELS)
        if (SEARCHES[model.method], model.heuristic, model.budget)
        == (opponent.search.search, opponent.heuristic, opponent.search.budget)
    )
    gains = []
    for _ in range(6):
        posterior, position = Posterior(), Position.start()
        for _ in range(2):
            position = position.play(rng.choice(position.legal_moves))
        while position.winner is None and len(position.open) > 30:
            if position.to_move == "w":
                _, posterior = mcts.best_chance(
                    position, Engine(position.board), 500_000, None, 3, posterior, 1_500_000
                )
                assert posterior.seen == ()
                position = position.play(rng.choice(position.legal_moves))
                continue
            before, move = position, opponent.choose(position)
            position = position.play(move)
            posterior = posterior.observing(ObservedMove(before, position.board.cell(move)))
        gains.append(math.log(posterior.shares[who] / PRIOR[who]))
    assert sum(gains) / len(gains) > math.log(2)


def test_a_game_tells_the_move_whatever_was_asked_before() -> None:
    """Check that the champion's moves in a game do not depend on positions of other games seen
    before.
    """
    player, opponent = parse_agent("champion(nodes=200000)"), parse_agent("AB_Open")

    def game() -> list[str]:
        position, moves = OPENING, []
        for _ in range(4):
            moves.append(player.choose(position))
            position = position.play(moves[-1])
            moves.append(opponent.choose(position))
            position = position.play(moves[-1])
        return moves

    first = game()
    player.choose(Position.from_fen("7/7/1N5/7/7/4n1*/7 w"))
    assert game() == first


# -- the subtree and the replies that are kept ---------------------------------------------------


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
    chance, memory = searched(OPENING, 3_000_000, Posterior())
    left = OPENING.play(chance.move)
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
    elsewhere = next(move for move in OPENING.legal_moves if move != chance.move)
    after = OPENING.play(elsewhere)
    assert not len(memory.subtree_at(after.play(after.legal_moves[0])))


def test_replies_that_may_come_are_kept() -> None:
    """Check that kept replies belong to positions that can still occur: their open cells are still
    open.
    """
    chance, memory = searched(OPENING, 1_000_000, Posterior())
    open = words(OPENING.play(chance.move))[0]
    assert len(memory.replies) > 5
    assert all(int(one) & ~open == 0 for one in memory.replies["open"])


def test_what_is_remembered_is_not_asked_again() -> None:
    """Check that the next search continues with the last one's tries and known replies."""
    chance, memory = searched(OPENING, 3_000_000, Posterior())
    left = OPENING.play(chance.move)
    now = max((left.play(one) for one in left.legal_moves), key=lambda p: _tries(memory, p))
    before = _tries(memory, now)
    assert before > 3
    again, later = searched(now, 1_000_000, Posterior(memory=memory))
    assert mcts.last_search_nodes() <= 1_000_000
    fresh, without = searched(now, 1_000_000, Posterior())
    assert later.tree["tries"][0].sum() == again.trials > before
    assert without.tree["tries"][0].sum() == fresh.trials


def test_replies_are_put_back() -> None:
    _, memory = searched(OPENING, 1_000_000, Posterior())
    workspace = thread_workspace()
    workspace.begin(0)
    workspace.load_memory(memory, OPENING)
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
    chance, memory = searched(OPENING, 3_000_000, Posterior())
    left = OPENING.play(chance.move)
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
