"""The compiled vector environment, step by step against the plain ones."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from helpers import at_length, need

need("gymnasium", "pettingzoo")

from gymnasium.utils.env_checker import data_equivalence  # noqa: E402

from knightfall.env import ID, knightfall_v0  # noqa: E402
from knightfall.errors import KnightfallError  # noqa: E402

GAMES = 60


def random_actions(mask: Any, rng: np.random.Generator, wrong: float) -> Any:
    """Return a random legal action for each mask, and with the probability `wrong` any number."""
    actions = (mask * rng.random(mask.shape)).argmax(1)
    chance = rng.random(len(mask)) < wrong
    return np.where(chance, rng.integers(-3, mask.shape[1] + 3, len(mask)), actions)


@pytest.mark.parametrize(
    ("options", "mode", "steps"),
    [
        ({"opponent": None}, "NextStep", 120),
        ({"opponent": None, "placement": "free", "board": "3x3"}, "SameStep", 30),
        ({"opponent": "random"}, "SameStep", 60),
        ({"opponent": "greedy(improved)", "placement": "free", "side": "b"}, "NextStep", 40),
        ({"opponent": "id(improved, nodes=30)", "board": "5x6"}, "SameStep", 40),
        ({"opponent": "random(seed=4)", "board": "3x3"}, "NextStep", 30),
        ({"opponent": "alphabeta(open, depth=2)", "board": "4x4", "side": "w"}, "SameStep", 30),
        at_length({"opponent": None}, "NextStep", 3000),
        at_length({"opponent": "greedy(improved)", "placement": "free"}, "SameStep", 1500),
    ],
    ids=str,
)
def test_it_does_what_the_plain_one_does(options: dict[str, Any], mode: str, steps: int) -> None:
    """Play the same random actions, some of them illegal, and compare all that is returned."""
    fast = gymnasium.make_vec(ID, GAMES, autoreset_mode=mode, **options)
    plain = gymnasium.make_vec(
        ID, GAMES, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )
    assert fast.metadata["autoreset_mode"] == plain.metadata["autoreset_mode"]
    for space in ("action_space", "observation_space", "single_observation_space"):
        assert getattr(fast, space) == getattr(plain, space)
    rng, ended, won = np.random.default_rng(1), 0, 0
    seen = fast.reset(seed=7)
    assert data_equivalence(seen, plain.reset(seed=7), exact=True)
    mask = seen[1]["action_mask"]
    for _ in range(steps):
        actions = random_actions(mask, rng, wrong=0.01)
        step = fast.step(actions)
        # Gymnasium copies actions through the space, which has no negative ones.
        assert data_equivalence(step, plain.step(actions), exact=True)
        assert fast.observation_space.contains(step[0])
        mask, ended = step[4]["action_mask"], ended + int(step[2].sum())
        won += int((step[1] > 0).sum())
    assert ended > GAMES
    assert won > 0
    seen = fast.reset(options={"fen": None})
    assert data_equivalence(seen, plain.reset(), exact=True)


def test_its_games_are_those_of_the_pettingzoo_environment() -> None:
    """Play for both sides there, too, from the same seeds, over several games each."""
    games, rng, ended = 30, np.random.default_rng(2), 0
    fast = gymnasium.make_vec(ID, games, opponent=None)
    plain = [knightfall_v0.env() for _ in range(games)]
    seen, info = fast.reset(seed=11)
    for number, env in enumerate(plain):
        env.reset(seed=11 + number)
    over = np.zeros(games, bool)
    for _ in range(80):
        for number, env in enumerate(plain):
            there = env.last()[0]
            assert (there["observation"] == seen[number]).all()
            assert (there["action_mask"] == info["action_mask"][number]).all()
        actions, before = random_actions(info["action_mask"], rng, wrong=0), over
        seen, rewards, over, _, info = fast.step(actions)
        for number, env in enumerate(plain):
            if before[number]:
                env.reset()
                continue
            mover = env.agent_selection
            env.step(actions[number])
            assert env.rewards[mover] == rewards[number]
            assert env.terminations[mover] == over[number]
        ended += int(over.sum())
    assert ended > 2 * games


def test_only_the_games_of_the_mask_begin_anew() -> None:
    """Compare with Gymnasium's own vector over several rounds of games that are reset by hand."""
    options: dict[str, Any] = {"opponent": "greedy(open)", "board": "4x4"}
    fast = gymnasium.make_vec(ID, 20, autoreset_mode="Disabled", **options)
    plain = gymnasium.make_vec(ID, 20, "sync", {"autoreset_mode": "Disabled"}, **options)
    rng, seeds, resets = np.random.default_rng(3), [*range(40, 60)], 0
    seen = fast.reset(seed=seeds)
    assert data_equivalence(seen, plain.reset(seed=seeds), exact=True)
    mask = seen[1]["action_mask"]
    for _ in range(30):
        actions = random_actions(mask, rng, wrong=0.02)
        step = fast.step(actions)
        assert data_equivalence(step, plain.step(actions), exact=True)
        mask, over = step[4]["action_mask"], step[2]
        if over.any():
            with pytest.raises(KnightfallError, match=f"game {over.argmax()} is over"):
                fast.step(actions)
            seen = fast.reset(options={"reset_mask": over.copy()})
            there = plain.reset(options={"reset_mask": over.copy()})
            assert data_equivalence(seen, there, exact=True)
            mask = np.where(over[:, None], seen[1]["action_mask"], mask)
            resets += int(over.sum())
    assert resets > 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": "perfect"}, "'perfect' is not a compiled search.*vectorization_mode='sync'"),
        ({"opponent": "id(improved, time=5ms)"}, "is not a compiled search"),
        ({"opponent": "gredy"}, "unknown agent 'gredy'"),
        ({"side": "left"}, "side='left' must be one of 'random', 'w', 'b'"),
        ({"autoreset_mode": "Never"}, "autoreset_mode='Never' must be one of 'NextStep'"),
        ({"winning_moves": True}, "winning_moves=True needs .*vectorization_mode='sync'"),
        ({"render_mode": "ansi"}, "render_mode='ansi' needs .*vectorization_mode='sync'"),
        ({"num_envs": 0}, "num_envs=0 must be a whole number from 1 on"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KnightfallError, match=message):
        gymnasium.make_vec(ID, **{"num_envs": 2, **options})


def test_wrong_calls_are_named() -> None:
    env = gymnasium.make_vec(ID, 4, autoreset_mode="Disabled")
    with pytest.raises(KnightfallError, match=r"call reset\(\) before step"):
        env.step(np.zeros(4, int))
    env.reset(seed=1)
    with pytest.raises(KnightfallError, match=r"actions of shape \(3,\) are not one for each of 4"):
        env.step(np.zeros(3, int))
    with pytest.raises(KnightfallError, match="actions of type float64 must be whole numbers"):
        env.step(np.zeros(4))
    with pytest.raises(KnightfallError, match="3 seeds are not one for each of 4 games"):
        env.reset(seed=[1, 2, 3])
    with pytest.raises(KnightfallError, match="reset_mask must be 4 booleans"):
        env.reset(options={"reset_mask": np.ones(4)})


HEURISTIC = """
from knightfall.heuristics import heuristic

@heuristic
def broken(board, open, me, opp, to_move):
    raise ValueError(me)

@heuristic
def far(board, open, me, opp, to_move):
    return board.distance[me, opp]
"""


def test_a_heuristic_of_the_users_is_an_opponent(tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEURISTIC)
    options = {"opponent": f"greedy({file}:far)", "side": "b"}
    fast = gymnasium.make_vec(ID, 5, **options)
    plain = gymnasium.make_vec(ID, 5, "sync", **options)
    seen = fast.reset(seed=3)
    assert data_equivalence(seen, plain.reset(seed=3), exact=True)
    actions = seen[1]["action_mask"].argmax(1)
    assert data_equivalence(fast.step(actions), plain.step(actions), exact=True)
    with pytest.raises(KnightfallError, match=r"mine\.py.*ValueError"):
        gymnasium.make_vec(ID, 5, opponent=f"greedy({file}:broken)", side="b").reset(seed=1)
