"""The environment of PettingZoo: its conformance tests, and games compared with the rules."""

from __future__ import annotations

import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import need

need("pettingzoo")

from pettingzoo.test import api_test, render_test, seed_test  # noqa: E402

from knightfall.env import knightfall_v0  # noqa: E402
from knightfall.env.observation import PLANES  # noqa: E402
from knightfall.errors import KnightfallError  # noqa: E402
from knightfall.position import Position  # noqa: E402

KINDS = [{}, {"placement": "free"}, {"board": "5x6"}, {"board": "3x3", "placement": "free"}]


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_its_interface(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(knightfall_v0.env(**options), num_cycles=100)
    assert "Passed API test" in capsys.readouterr().out
    # What it says of every environment with a mask, PettingZoo's own classics included.
    usual = ("should be gymnasium.spaces.box", "is not a NumPy array", "mask numpy array is all")
    found = [str(one.message) for one in caught]
    assert [text for text in found if not any(part in text for part in usual)] == []


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_equal_seeds_give_equal_games(options: dict[str, Any]) -> None:
    seed_test(lambda: knightfall_v0.env(**options), num_cycles=50)


def test_its_renderings(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(knightfall_v0.env)
    assert "player (N) to move" in capsys.readouterr().out


def expected(position: Position, mine: str, theirs: str) -> np.ndarray[Any, Any]:
    """Return the planes of a position, read off its text board and its legal moves."""
    rows = [line.split()[1:] for line in position.text().splitlines()[: position.board.height]]
    planes = np.zeros((position.board.height, position.board.width, len(PLANES)), int)
    mover = "N" if position.to_move == "w" else "n"
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            planes[r, c, :3] = letter == mine, letter == theirs, letter == "."
    for plane, letter in ((3, mine), (4, theirs)):
        knight = np.argwhere(np.array(rows) == letter)
        for r, c in np.argwhere(planes[:, :, 2]):
            reached = not len(knight) or {abs(r - knight[0][0]), abs(c - knight[0][1])} == {1, 2}
            planes[r, c, plane] = reached
    planes[:, :, 5] = mover == mine
    if position.placed:
        (r0, c0), (r1, c1) = (np.argwhere(np.array(rows) == letter)[0] for letter in "Nn")
        mover_hunts = (r0 + c0 + r1 + c1) % 2 == 0
        planes[:, :, 6] = mover_hunts == (mover == mine)
    return planes


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_games_follow_the_rules(options: dict[str, Any]) -> None:
    env, choose = knightfall_v0.env(**options), random.Random(1)
    for seed in range(8):
        env.reset(seed=seed)
        here = env.unwrapped.position
        assert here.placed == (options.get("placement") != "free")
        while here.winner is None:
            mover, waiter = (
                ("player_0", "player_1")
                if here.to_move == "w"
                else (
                    "player_1",
                    "player_0",
                )
            )
            assert env.agent_selection == mover
            seen = {agent: env.observe(agent) for agent in (mover, waiter)}
            for agent, letters in (("player_0", "Nn"), ("player_1", "nN")):
                assert (seen[agent]["observation"] == expected(here, *letters)).all()
            legal = [here.board.cell(move) for move in here.legal_moves]
            assert np.flatnonzero(seen[mover]["action_mask"]).tolist() == sorted(legal)
            assert not seen[waiter]["action_mask"].any()
            action = choose.choice(legal)
            env.step(action)
            here = here.play(here.board.name(action))
            assert env.unwrapped.position == here
        assert env.terminations == {"player_0": True, "player_1": True}
        assert env.truncations == {"player_0": False, "player_1": False}
        assert env.rewards == {mover: 1.0, waiter: -1.0}
        for agent in env.agent_iter():
            assert env.last()[1] == {mover: 1.0, waiter: -1.0}[agent]
            env.step(None)
        assert env.agents == []


def test_random_placements_differ_and_are_those_of_the_seed() -> None:
    env = knightfall_v0.env()

    def starts(seed: int) -> list[str]:
        env.reset(seed=seed)
        found = [env.unwrapped.position.fen]
        for _ in range(30):
            env.reset()
            found.append(env.unwrapped.position.fen)
        return found

    assert starts(1) == starts(1)
    assert len({*starts(1), *starts(2)}) > 50
    env.reset(options={"fen": "7/7/1N5/7/7/4n2/7 b"})
    assert env.unwrapped.position.fen == "7/7/1N5/7/7/4n2/7 b"
    assert env.agent_selection == "player_1"


def test_an_illegal_move_loses_and_the_raw_environment_refuses_it() -> None:
    env = knightfall_v0.env()
    env.reset(seed=3)
    env.step(env.unwrapped.position.white)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -1.0, "player_1": 0}
    raw = knightfall_v0.raw_env()
    raw.reset(seed=3)
    with pytest.raises(KnightfallError, match=r"action 0 is illegal here; legal actions: \d"):
        raw.step(0)


def test_a_pickled_environment_plays_the_same_games() -> None:
    env = knightfall_v0.raw_env(board="5x5", placement="free", render_mode="ansi")
    copy = pickle.loads(pickle.dumps(env))
    env.reset(seed=5)
    copy.reset(seed=5)
    assert copy.render() == env.render() == str(env.position.text())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"board": "2x9"}, "each side must be at least 3"),
        ({"placement": "anywhere"}, "placement='anywhere' must be one of 'random', 'free'"),
        ({"render_mode": "svg"}, "render_mode='svg' must be one of 'human', 'ansi', 'rgb_array'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(KnightfallError, match=message):
        knightfall_v0.env(**options)


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("5/5/1N3/3n1/5 w", "is on a 5x5 board, and the environment is 7x7"),
        ("7/7/1N5/7/7/4n2 w", "environment is 7x7"),
        ("N******/*******/*******/*******/*******/*******/n****** w", "the game is over"),
    ],
)
def test_wrong_positions_are_named(fen: str, message: str) -> None:
    env = knightfall_v0.env()
    with pytest.raises(KnightfallError, match=message):
        env.reset(options={"fen": fen})
