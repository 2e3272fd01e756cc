"""Train a policy by MaskablePPO of sb3-contrib, then enter it into a league and grade it.

    pip install torch sb3-contrib
    python train_ppo.py

The policy is written to ppo.zip, beside this file; MaskablePPO.load reads it.
"""

import argparse
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

import knightfall as kf
from knightfall.env import ID
from knightfall.env.observation import mask_of, planes_of

OPPONENT = "greedy(improved)"


def train(moves):
    """Train a policy in 64 games at a time, which ask `action_masks` for the legal actions."""
    torch.set_num_threads(1)  # the network is small: more threads wait for each other
    env = make_vec_env(ID, 64, seed=0, env_kwargs={"opponent": OPPONENT})
    model = MaskablePPO(
        "MlpPolicy",
        env,
        policy_kwargs={"net_arch": [256, 256]},
        learning_rate=lambda left: 1e-3 * left,  # from 0.001 down to 0
        n_steps=128,
        batch_size=1024,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.01,
        seed=0,
        verbose=1,
        device="cpu",
    )
    return model.learn(moves)


def choose(position):
    """Return the policy's most probable move."""
    seen = planes_of(position, position.to_move)
    mask = mask_of(position.board, position.targets(position.to_move))
    cell, _ = model.predict(seen, action_masks=mask, deterministic=True)
    return position.board.name(int(cell))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=1_000_000, help="of the training")
    parser.add_argument("--pairs", type=int, default=150, help="of the league")
    given = parser.parse_args()
    model = train(given.moves)
    model.save(Path(__file__).with_name("ppo.zip"))
    players = [choose, OPPONENT, "id(improved, nodes=100)", "random"]
    print(kf.league(players, gauntlet=1, pairs=given.pairs, in_process=True))
    print(kf.grade(choose, in_process=True))
