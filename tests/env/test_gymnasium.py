"""The environments of Gymnasium: its own check, and episodes compared with the rules and agents."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import need
from naive_solver import brute_force

need("gymnasium", "pettingzoo")

import gymnasium  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from knightfall.agents import parse_agent  # noqa: E402
from knightfall.env import ID  # noqa: E402
from knightfall.env.isolation_env import IsolationEnv  # noqa: E402
from knightfall.errors import KnightfallError  # noqa: E402
from knightfall.position import Position, other  # noqa: E402


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"opponent": None, "placement": "free"},
        {"board": "5x6", "opponent": "greedy(improved)", "side": "b"},
        {"board": "4x4", "winning_moves": True, "opponent": "id(open, nodes=20)"},
    ],
    ids=str,
)
def test_its_interface(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, **options).unwrapped, skip_render_check=True)


def test_its_renderings(capsys: pytest.CaptureFixture[str]) -> None:
    frames = {}
    for mode in ("human", "ansi", "rgb_array"):
        env = gymnasium.make(ID, render_mode=mode)
        env.reset(seed=1)
        frames[mode] = env.render()
    assert frames["ansi"] == env.unwrapped.position.text()
    assert frames["rgb_array"].shape[2] == 3
    assert frames["human"] is None
    assert frames["ansi"] in capsys.readouterr().out


def test_masks_for_libraries_that_ask_for_them() -> None:
    """Ask through the wrappers of `gymnasium.make`, as sb3-contrib's MaskablePPO does."""
    env = gymnasium.make(ID, opponent="greedy(improved)")
    position, choose = env.unwrapped, random.Random(5)
    assert isinstance(position, IsolationEnv)
    assert not env.get_wrapper_attr("action_masks")().any()
    for seed in range(5):
        env.reset(seed=seed)
        over = False
        while not over:
            mask = env.get_wrapper_attr("action_masks")()
            assert mask.dtype == np.bool_
            assert mask.shape == (49,)
            names = [position.board.name(cell) for cell in np.flatnonzero(mask)]
            assert sorted(names) == sorted(position.position.legal_moves)
            action = position.board.cell(choose.choice(names))
            _, _, over, _, info = env.step(action)
            info["action_mask"][:] = 1  # a learner may write into what it gets
        assert not env.get_wrapper_attr("action_masks")().any()


def test_its_name_brings_its_package() -> None:
    assert isinstance(gymnasium.make(f"knightfall.env:{ID}").unwrapped, IsolationEnv)
    assert gymnasium.make_vec(f"knightfall.env:{ID}", num_envs=3).num_envs == 3


@pytest.mark.parametrize("placement", ["random", "free"])
@pytest.mark.parametrize("opponent", ["random", "greedy(improved)", "id(open, nodes=40, seed=5)"])
def test_the_opponent_plays_the_agents_moves(opponent: str, placement: str) -> None:
    """Compare each reply with the agent's choice; the seed is read off the environment."""
    env = gymnasium.make(ID, opponent=opponent, placement=placement).unwrapped
    assert isinstance(env, IsolationEnv)
    choose, sides, results = random.Random(2), set(), set()
    for seed in range(12):
        env.reset(seed=seed)
        assert env._opponent is not None
        agent = env._opponent._player
        assert str(agent).startswith(opponent.rstrip(")")[:6])
        sides.add(env.side)
        over = False
        while not over:
            before = env.position
            assert before.to_move == env.side
            move = choose.choice(before.legal_moves)
            _, reward, over, cut, _ = env.step(before.board.cell(move))
            after = before.play(move)
            if after.winner is None:
                after = after.play(parse_agent(str(agent)).choose(after))
            assert env.position == after
            assert over == (after.winner is not None)
            assert not cut
            assert reward == (0 if not over else 1 if after.winner == env.side else -1)
        results.add(reward)
    assert sides == {"w", "b"}
    assert -1 in results


def test_the_opponents_choices_among_equals_differ_from_game_to_game() -> None:
    env = gymnasium.make(ID, opponent="random", side="b").unwrapped
    start = "7/7/1N5/7/7/4n2/7 w"
    replies = set()
    env.reset(seed=1)
    for _ in range(20):
        env.reset(options={"fen": start})
        env.step(env.position.board.cell("d4"))
        replies.add(env.position.black)
    assert len(replies) > 2


def test_the_winning_moves_are_those_of_brute_force() -> None:
    env = IsolationEnv(board="4x5", opponent="random", winning_moves=True)
    truth, choose, found = brute_force(env.board), random.Random(3), 0
    for seed in range(10):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            names = [env.board.name(cell) for cell in np.flatnonzero(info["winning_moves"])]
            assert sorted(names) == sorted(truth.winning_moves(env.position))
            found += len(names)
            legal = np.flatnonzero(info["action_mask"]).tolist()
            _, _, over, _, info = env.step(choose.choice(legal))
        assert not info["winning_moves"].any()
    assert found > 10


def test_a_learner_that_plays_winning_moves_never_loses_a_won_game() -> None:
    env = IsolationEnv(board="5x5", opponent="id(improved, nodes=100)", winning_moves=True)
    won = 0
    for seed in range(10):
        _, info = env.reset(seed=seed)
        if not info["winning_moves"].any():
            continue
        over = False
        while not over:
            _, reward, over, _, info = env.step(int(info["winning_moves"].argmax()))
        assert reward == 1
        won += 1
    assert won > 2


@pytest.mark.parametrize("action", ["b5", None, 0.5])
def test_an_action_that_is_no_number_is_an_error(action: Any) -> None:
    env = IsolationEnv()
    env.reset(seed=1)
    with pytest.raises(KnightfallError, match=f"action {action!r} must be a whole number"):
        env.step(action)


@pytest.mark.parametrize("action", [-1, 49, np.int8(-1), np.array(49)])
def test_an_illegal_action_loses(action: Any) -> None:
    env = IsolationEnv()
    env.reset(seed=1)
    before = env.position
    _, reward, over, _, info = env.step(action)
    assert (reward, over, env.position) == (-1, True, before)
    assert not info["action_mask"].any()
    with pytest.raises(KnightfallError, match=r"call reset\(\) before step"):
        env.step(0)


def test_the_learner_can_move_for_both_sides() -> None:
    env, choose = IsolationEnv(opponent=None, board="5x5", placement="free"), random.Random(4)
    env.reset(seed=1)
    over = False
    while not over:
        side = env.position.to_move
        assert env.side == side
        action = env.board.cell(choose.choice(env.position.legal_moves))
        _, reward, over, _, _ = env.step(action)
    assert reward == 1
    assert env.position.winner == side == other(env.side)


CHOOSER = """
def last(position):
    return position.legal_moves[-1]

def wrong(position):
    return "z9"

def broken(position):
    raise ZeroDivisionError
"""


def test_an_agent_in_python_is_an_opponent(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CHOOSER)

    def opponent(name: str) -> IsolationEnv:
        return IsolationEnv(opponent=f"python({file}:{name}, time=5s)", side="w")

    env = opponent("last")
    env.reset(seed=1)
    before = env.position.play(env.position.legal_moves[0])
    env.step(env.board.cell(env.position.legal_moves[0]))
    assert env.position == before.play(before.legal_moves[-1])
    env.close()
    env = opponent("wrong")  # a move that is not legal loses
    env.reset(seed=1)
    _, reward, over, _, _ = env.step(env.board.cell(env.position.legal_moves[0]))
    assert (reward, over) == (1, True)
    env.close()
    env = opponent("broken")
    env.reset(seed=1)
    with pytest.raises(KnightfallError, match="ZeroDivisionError"):
        env.step(env.board.cell(env.position.legal_moves[0]))
    env.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": "gredy(improved)"}, "unknown agent 'gredy'; did you mean 'greedy'"),
        ({"side": "white"}, "side='white' must be one of 'random', 'w', 'b'"),
        ({"board": "9x9"}, "at most 64 are supported"),
        ({"placement": None}, "placement=None must be one of 'random', 'free'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KnightfallError, match=message):
        IsolationEnv(**options)


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_the_missing_extra_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "knightfall.env")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(KnightfallError, match=rf"{missing} \(not.*pip install 'knightfall\[env\]'"):
        importlib.import_module("knightfall.env")


def test_the_positions_of_the_reset_option_begin_with_the_learner() -> None:
    env = IsolationEnv()
    env.reset(seed=1, options={"fen": "7/7/1N5/7/7/4n2/7 b"})
    assert env.position == Position.from_fen("7/7/1N5/7/7/4n2/7 b")
    assert env.side == "b"
