"""Tests of learned opponent models: decisions, likelihoods, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from cli_runner import run

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.learning.fit_reply_model import (
    POPULATION,
    UNSEEN,
    DecisionArrays,
    HunterReply,
    decisions,
    error_rate,
    fit_shares,
    fit_weights,
    games_of,
    learn,
    likelihoods,
    probabilities,
    without,
)
from knightfall.learning.split import SPLITS, class_splits, classes
from knightfall.opponents.mcts_state import FEATURES
from knightfall.opponents.opponent_models import OPPONENTS, read_chances
from knightfall.position import Position, other
from knightfall.solver.engine import Engine

HUNTERS = ("AB_Improved", "greedy(open)", "random")


@pytest.fixture(scope="module")
def some() -> list[HunterReply]:
    return decisions(games_of(HUNTERS, "train", 9, 3))[0]


def test_decisions_are_of_hunters_who_win(some: list[HunterReply]) -> None:
    engine = Engine(Board.of(7, 7))
    assert {one.hunter for one in some} == set(HUNTERS)
    for one in some[::4]:
        position = one.position
        assert position.hunter == position.to_move
        assert engine.wins(position)
        cells = sorted(map(position.board.cell, position.legal_moves))
        assert len(cells) == len(one.wrong) == len(one.features) == one.shares.shape[1] > 1
        for cell, wrong in zip(cells, one.wrong, strict=True):
            after = position.play(position.board.name(cell))
            assert wrong == (bool(after.legal_moves) and engine.wins(after))


def test_the_same_again_and_others_with_another_seed(some: list[HunterReply]) -> None:
    (again,) = decisions(games_of(HUNTERS, "train", 3, 3))
    assert [(one.position, one.reply) for one in again] == [
        (one.position, one.reply) for one in some[: len(again)]
    ]
    (others,) = decisions(games_of(HUNTERS, "train", 3, 4))
    assert [one.position for one in others] != [one.position for one in again]


def test_a_game_is_the_same_after_any_other(some: list[HunterReply]) -> None:
    """Check the features of each game when the games are played in the opposite order."""
    backwards = games_of(HUNTERS, "train", 9, 3)[::-1]
    (again,) = decisions(backwards)
    again.sort(key=lambda one: one.game)
    assert_equal(again, some)


def test_workers_play_the_same_games(some: list[HunterReply]) -> None:
    (again,) = decisions(games_of(HUNTERS, "train", 9, 3), options=RunnerOptions(workers=2))
    assert_equal(again, some)


def assert_equal(some: Sequence[HunterReply], others: Sequence[HunterReply]) -> None:
    assert len(some) == len(others) > 9
    for one, another in zip(some, others, strict=True):
        for field in fields(HunterReply):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(another, field.name))


def test_games_begin_with_openings_of_their_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that games start from openings of their own split, so that no test opening is learned
    from.
    """
    from knightfall.learning import fit_reply_model as room

    begun: list[Position] = []

    def begin(position: Position, *_: object) -> list[tuple[Position, int]]:
        begun.append(position)
        return []

    monkeypatch.setattr(room, "_moves", begin)
    board = Board.of(7, 7)
    where = class_splits(board)
    for split in SPLITS:
        begun.clear()
        decisions(games_of(HUNTERS, split, 60, 0))
        assert len(begun) == 60
        for position in begun:
            mover, waiter = (
                position.knight(position.to_move),
                position.knight(other(position.to_move)),
            )
            assert mover is not None
            assert waiter is not None
            images = [(one[mover], one[waiter]) for one in board.symmetries]
            number = next(classes(board)[image] for image in images if image in classes(board))
            assert SPLITS[where[number]] == split


def test_positions_of_the_test_are_left_out(some: list[HunterReply]) -> None:
    turned = [
        HunterReply(0, one.hunter, mirrored(one.position), 0, one.features, one.shares, one.wrong)
        for one in some[:5]
    ]
    left = without(some, turned)
    gone = {one.position for one in some[:5]}
    assert [one.position for one in left] == [
        one.position for one in some if one.position not in gone
    ]
    assert without(some, []) == some


def mirrored(position: Position) -> Position:
    """Return the position with left and right exchanged."""
    width = position.board.width
    there = {cell: cell - cell % width + width - 1 - cell % width for cell in range(49)}
    assert position.white is not None
    assert position.black is not None
    return Position(
        position.board,
        frozenset(there[cell] for cell in position.open),
        there[position.white],
        there[position.black],
        position.to_move,
    )


def drawn(weights: np.ndarray, number: int, seed: int) -> list[HunterReply]:
    """Return decisions drawn from a logit with known weights, over random features."""
    rng, found = np.random.default_rng(seed), []
    position = Position.from_fen("7/7/1N5/7/7/5n1/7 w")
    for game in range(number):
        ways = int(rng.integers(2, 9))
        features = rng.normal(size=(ways, FEATURES))
        powers = np.exp(features @ weights)
        reply = int(rng.choice(ways, p=powers / powers.sum()))
        shares = np.full((len(OPPONENTS), ways), 1 / ways)
        found.append(
            HunterReply(game, "x", position, reply, features, shares, np.zeros(ways, np.bool_))
        )
    return found


def test_weights_are_found_again() -> None:
    """Check that weights fitted to decisions drawn from known weights are close to these."""
    weights = np.random.default_rng(1).normal(size=FEATURES)
    found = fit_weights(DecisionArrays.of(drawn(weights, 4000, 2)))
    assert np.abs(found - weights).max() < 0.25
    table = DecisionArrays.of(drawn(weights, 5, 3))
    for row, there, features in zip(
        probabilities(found, table), table.there, table.features, strict=True
    ):
        powers = np.exp(features[there] @ found)
        assert row[there] == pytest.approx(powers / powers.sum())
        assert row.sum() == pytest.approx(1)


def test_shares_go_to_those_who_would_have_moved_so() -> None:
    """Check fitted shares: one model predicts two thirds of the replies and another the rest, so
    the first gets the largest share.
    """
    some = drawn(np.zeros(FEATURES), 90, 4)
    for number, one in enumerate(some):
        who = 5 if number % 3 else 7
        one.shares[:] = 0.0
        one.shares[:, (one.reply + 1) % one.shares.shape[1]] = 1.0
        one.shares[who] = 0.0
        one.shares[who, one.reply] = 1.0
    shares = fit_shares(some, np.zeros(FEATURES))
    assert sum(shares) == pytest.approx(1)
    assert min(shares) > 0
    assert shares[5] > shares[7] > max(s for at, s in enumerate(shares) if at not in (5, 7))
    # They are those that their own posterior probabilities give, with two more games for each.
    each = likelihoods(some, np.zeros(FEATURES))
    games = sorted({one.game for one in some})
    played = np.array(
        [np.prod([row for row, one in zip(each, some, strict=True) if one.game == game], axis=0)
         for game in games]
    ) * shares  # fmt: skip
    expected = 2 + (played / played.sum(axis=1, keepdims=True)).sum(axis=0)
    assert shares == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_errors_are_counted() -> None:
    some = drawn(np.zeros(FEATURES), 10, 5)
    for one in some[:6]:
        one.wrong[one.reply] = True
    assert error_rate(some) == pytest.approx(7 / 8)  # one of each is added as a prior


def test_the_command_learns_and_says_how_well(tmp_path: Path) -> None:
    done = run("learn", "chances", str(tmp_path / "out"), "--games", "20", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    learned = read_chances(tmp_path / "out" / "chances.json")
    assert list(told["habits"].values()) == pytest.approx(learned.logit_weights.tolist())
    assert [one["hunters"] for one in told["judged"]] == ["known hunters", "other hunters"]
    for one in told["judged"]:
        assert one["any_reply"] < one["stranger"] < 0
    assert learned.logit_weights[9] > 0  # feature 9: alpha-beta's choice at five plies


def test_mistakes_are_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(KnightfallError, match="games=3 must be 20 or more"):
        learn(tmp_path, games=3)
    (tmp_path / "file").write_text("")
    with pytest.raises(KnightfallError, match="is a file: name a folder"):
        learn(tmp_path / "file" / "in", games=20)
    with pytest.raises(KnightfallError, match="unknown split 'all'; known"):
        games_of(HUNTERS, "all", 1, 0)


def test_nobody_is_known_and_unseen() -> None:
    assert not set(POPULATION) & set(UNSEEN)
