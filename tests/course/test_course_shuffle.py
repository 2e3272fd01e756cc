"""Our shuffle equals `random.shuffle`, including the generator's state afterwards."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightfall.course import Board
from knightfall.course.board_common import shuffle


@given(st.integers(0, 8), st.integers(0, 2**64), st.integers(1, 5))
def test_same_order_and_same_generator_afterwards(length: int, seed: int, times: int) -> None:
    ours = theirs = [(number, number) for number in range(length)]
    ours, theirs = ours.copy(), theirs.copy()
    random.seed(seed)
    for _ in range(times):
        random.shuffle(theirs)
    after = random.getstate()
    random.seed(seed)
    for _ in range(times):
        shuffle(ours)
    assert ours == theirs
    assert random.getstate() == after


def test_a_board_shuffles_each_list_once_and_draws_nothing_else() -> None:
    game = Board("white", "black")
    random.seed(1)
    start = random.getstate()
    for question in (game.get_legal_moves, game.hash, game.get_blank_spaces, game.copy):
        question()
        assert random.getstate() == start, "before placement nothing is drawn"
    game.apply_move((3, 3))
    game.apply_move((0, 0))
    in_order = [(1, 2), (1, 4), (2, 1), (2, 5), (4, 1), (4, 5), (5, 2), (5, 4)]
    for ask in (
        lambda: game.get_legal_moves("white"),
        lambda: game._Board__get_moves((3, 3)),
        lambda: game.__get_moves__((3, 3)),
    ):
        random.setstate(start)
        found, after = ask(), random.getstate()
        expected = in_order.copy()
        random.setstate(start)
        random.shuffle(expected)
        assert found == expected
        assert random.getstate() == after


def test_who_is_not_concerned_draws_nothing() -> None:
    """Check that `is_loser` of the waiter and `is_winner` of the mover, which are never true, draw
    no random numbers.
    """
    game = Board("white", "black")
    game.apply_move((3, 3))
    game.apply_move((0, 0))
    state = random.getstate()
    assert not game.is_loser("black")
    assert not game.is_winner("white")
    assert random.getstate() == state
    assert not game.is_loser("white")
    assert random.getstate() != state


@pytest.mark.parametrize("ask", [Board.get_legal_moves, lambda game: game.__get_moves__((3, 3))])
def test_another_shuffle_in_its_place_is_used(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Board("white", "black")
    game.apply_move((3, 3))
    game.apply_move((0, 0))
    monkeypatch.setattr(random, "shuffle", lambda moves: moves.sort(reverse=True))
    assert ask(game) == [(5, 4), (5, 2), (4, 5), (4, 1), (2, 5), (2, 1), (1, 4), (1, 2)]


def test_numbers_beside_the_board_are_looked_up_as_well() -> None:
    game = Board("white", "black")
    state = random.getstate()
    assert game.__get_moves__((-1, -1)) in ([(0, 1), (1, 0)], [(1, 0), (0, 1)])
    random.setstate(state)
    expected = [(0, 1), (1, 0)]
    random.shuffle(expected)
    random.setstate(state)
    assert game.__get_moves__((-1, -1)) == expected
    assert game.__get_moves__((20, 20)) == []
