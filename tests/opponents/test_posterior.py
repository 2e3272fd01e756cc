"""Tests of the posterior over opponent models, and of its memory from move to move."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.opponents import mcts
from knightfall.opponents.opponent_models import (
    MODELS,
    OPPONENTS,
    apportion,
    seeds,
    shipped_chances,
    shuffled_turns,
)
from knightfall.opponents.posterior import (
    MOST_KEPT,
    GameHistory,
    ObservedMove,
    Posterior,
    ReplyEstimate,
    predecessors,
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
