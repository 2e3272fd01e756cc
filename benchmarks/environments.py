"""Steps a second of the environments: PettingZoo, Gymnasium, and the compiled vector.

Every loop chooses a random legal action for each step, which is part of its time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .measure import fastest
from .result import Ratio, Result

SUMMARY = "Steps a second of the environments, with the choice of a random legal action"
GOAL = 20.0
GAMES = 4096
PLAIN_STEPS, ROUNDS, VECTOR_STEPS = 300, 30, 5


def run(rounds: int = ROUNDS, games: int = GAMES) -> Result:
    """Measure the plain environments and the vector, alternating."""
    import gymnasium

    from knightfall.env import ID, knightfall_v0

    def vector(opponent: str | None) -> Callable[[], None]:
        return _vector_loop(gymnasium.make_vec(ID, games, opponent=opponent))

    def single(opponent: str | None) -> Callable[[], None]:
        return partial(_gymnasium, gymnasium.make(ID, opponent=opponent))

    sides: dict[str, Callable[[], None]] = {
        "PettingZoo": partial(_pettingzoo, knightfall_v0.env()),
        "Gymnasium, both sides": single(None),
        "Gymnasium against greedy(improved)": single("greedy(improved)"),
        "vector, both sides": vector(None),
        "vector against greedy(improved)": vector("greedy(improved)"),
    }
    spent = fastest(sides, rounds)
    speed = {
        name: (games * VECTOR_STEPS if name.startswith("vector") else PLAIN_STEPS) / seconds
        for name, seconds in spent.items()
    }
    goals = {
        "vector ÷ PettingZoo, both sides": ("vector, both sides", "PettingZoo"),
        "vector ÷ Gymnasium, against greedy(improved)": (
            "vector against greedy(improved)",
            "Gymnasium against greedy(improved)",
        ),
    }
    return Result(
        ratios={
            name: Ratio(speed[fast] / speed[plain], at_least=GOAL)
            for name, (fast, plain) in goals.items()
        },
        figures={f"{name}: steps a second": round(value) for name, value in speed.items()},
        notes=[
            f"the vector plays {games:,} games at once, on one core, and writes all observations"
        ],
    )


def _any(mask: Any, rng: np.random.Generator) -> int:
    legal = mask.nonzero()[0]
    return int(legal[int(rng.random() * len(legal))])


def _pettingzoo(env: Any) -> None:
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    for _ in range(PLAIN_STEPS):
        observation, _, over, _, _ = env.last()
        if over:
            env.reset()
            observation = env.last()[0]
        env.step(_any(observation["action_mask"], rng))


def _gymnasium(env: Any) -> None:
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    for _ in range(PLAIN_STEPS):
        _, _, over, _, info = env.step(_any(info["action_mask"], rng))
        if over:
            _, info = env.reset()


def _vector_loop(env: Any) -> Callable[[], None]:
    rng = np.random.default_rng(1)
    env.reset(seed=1)

    def steps() -> None:
        _, info = env.reset()
        for _ in range(VECTOR_STEPS):
            mask = info["action_mask"]
            _, _, _, _, info = env.step((mask * rng.random(mask.shape, np.float32)).argmax(1))

    return steps
