"""Train a policy by PPO in a thousand games at a time, then play a match with it.

    python train_policy.py --seconds 120

trains for so many seconds of processor time and writes the policy to policy.npz, beside this file.
Then the policy is an agent: python(train_policy.py:choose, time=1s).

The policy is a network of three layers.  It needs NumPy only: `update` has the gradient.
"""

import argparse
import os
import time
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from knightfall.board import Board
from knightfall.env.observation import PLANES, mask_of, planes_of

FILE = Path(__file__).with_name("policy.npz")
BOARD = Board.of(7, 7)
CELLS = BOARD.cells

GAMES, STEPS, PASSES, BATCH = 1024, 32, 2, 4096
HIDDEN, RATE, ENTROPY, CLIP, TRACE = 256, 1e-3, 0.01, 0.2, 0.95

# Every position is turned and mirrored so that the own knight stands in the same eighth of the
# board.  IMAGES[n][cell] is where symmetry n takes a cell, SOURCES[n][cell] where it comes from.
IMAGES = np.array(BOARD.symmetries)
SOURCES = np.argsort(IMAGES, axis=1)
TURN = IMAGES.argmin(axis=0)


def view(planes, mask):
    """Return the turned planes as rows, the turned masks, and the cell that each turned one was."""
    cells = planes.reshape(len(planes), CELLS, len(PLANES))
    source = SOURCES[TURN[cells[:, :, 0].argmax(1)]]
    turned = np.take_along_axis(cells, source[:, :, None], 1).reshape(len(cells), -1)
    return turned.astype(np.float32), np.take_along_axis(mask, source, 1) != 0, source


def new_network(rng):
    """Return the weights and biases of the layers; the last gives a score per cell and a value."""
    layers = []
    for inputs, outputs in pairwise((CELLS * len(PLANES), HIDDEN, HIDDEN, CELLS + 1)):
        scale = np.sqrt(2 / inputs) * (0.01 if outputs == CELLS + 1 else 1)
        layers += [scale * rng.standard_normal((inputs, outputs)), np.zeros(outputs)]
    return [layer.astype(np.float32) for layer in layers]


def forward(network, x, mask):
    """Return the outputs of both hidden layers, the probability of each move, and the value."""
    first = np.maximum(x @ network[0] + network[1], 0)
    second = np.maximum(first @ network[2] + network[3], 0)
    out = second @ network[4] + network[5]
    scores = np.where(mask, out[:, :CELLS], -1e9)
    odds = np.exp(scores - scores.max(1, keepdims=True)) * mask
    return first, second, odds / np.maximum(odds.sum(1, keepdims=True), 1e-9), out[:, CELLS]


def update(network, adam, rate, entropy, x, mask, cell, before, advantage, target):
    """Take one step of Adam along the gradient of PPO's clipped objective."""
    first, second, odds, value = forward(network, x, mask)
    row = np.arange(len(x))
    ratio = odds[row, cell] / before
    clipped = np.where(advantage > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
    chosen = -odds
    chosen[row, cell] += 1
    logs = np.log(np.maximum(odds, 1e-9))
    spread = odds * (logs - (odds * logs).sum(1, keepdims=True))
    gradient = np.empty((len(x), CELLS + 1), np.float32)
    gradient[:, :CELLS] = entropy * spread - (~clipped * advantage * ratio)[:, None] * chosen
    gradient[:, CELLS] = 0.5 * (value - target)
    gradient /= len(x)
    back2 = gradient @ network[4].T * (second > 0)
    back1 = back2 @ network[2].T * (first > 0)
    parts = [x.T @ back1, back1.sum(0), first.T @ back2, back2.sum(0)]
    parts += [second.T @ gradient, gradient.sum(0)]
    shorten = min(1, 0.5 / np.sqrt(sum(float((part**2).sum()) for part in parts)))
    adam["step"] += 1
    for number, part in enumerate(parts):
        mean, square = adam["mean"][number], adam["square"][number]
        mean += 0.1 * (shorten * part - mean)
        square += 0.001 * ((shorten * part) ** 2 - square)
        size = np.sqrt(square / (1 - 0.999 ** adam["step"])) + 1e-8
        network[number] -= rate * mean / (1 - 0.9 ** adam["step"]) / size


def play(env, network, rng, seen, mask):
    """Play STEPS moves in every game.

    Return the samples for `update`, the last observations and masks, and the share of games won.
    """
    samples, steps = [], []
    row = np.arange(GAMES)
    for _ in range(STEPS):
        x, legal, source = view(seen, mask)
        _, _, odds, value = forward(network, x, legal)
        cell = (odds.cumsum(1) > rng.random((GAMES, 1)) * 0.9999).argmax(1)
        seen, reward, over, _, info = env.step(source[row, cell])
        mask = info["action_mask"]
        samples.append((x, legal, cell, odds[row, cell]))
        steps.append((value, reward, over))
    x, legal, _ = view(seen, mask)
    following, trace, advantages, targets = forward(network, x, legal)[3], 0.0, [], []
    for value, reward, over in reversed(steps):
        error = reward + np.where(over, 0, following) - value
        trace = error + TRACE * np.where(over, 0, trace)
        advantages.append(trace)
        targets.append(trace + value)
        following = value
    columns = [np.concatenate(column) for column in zip(*samples, strict=True)]
    advantage, target = (np.concatenate(part[::-1]) for part in (advantages, targets))
    columns += [(advantage - advantage.mean()) / advantage.std(), target]
    won = sum(int((reward > 0).sum()) for _, reward, _ in steps)
    return columns, seen, mask, won / max(1, sum(int(over.sum()) for _, _, over in steps))


def train(opponent, seconds, seed):
    """Train a network against an opponent for some seconds of processor time, and save it."""
    import gymnasium

    rng = np.random.default_rng(seed)
    network = new_network(rng)
    adam = {"step": 0, "mean": [0 * part for part in network]}
    adam["square"] = [0 * part for part in network]
    env = gymnasium.make_vec(
        "knightfall/Isolation-v0", GAMES, opponent=opponent, autoreset_mode="SameStep"
    )
    seen, info = env.reset(seed=seed)
    mask, begin, moves, told = info["action_mask"], time.process_time(), 0, 0
    while (done := (time.process_time() - begin) / seconds) < 1:
        columns, seen, mask, won = play(env, network, rng, seen, mask)
        for _ in range(PASSES):
            for batch in rng.permutation(GAMES * STEPS).reshape(-1, BATCH):
                part = (column[batch] for column in columns)
                update(network, adam, RATE * (1 - done), ENTROPY * (1 - done), *part)
        moves += GAMES * STEPS
        if done >= told / 20:
            told = int(20 * done) + 1
            print(f"{done:4.0%} of the time, {moves:>10,} moves: {won:4.0%} won", flush=True)
    np.savez(FILE, *network)


# Read when the file is loaded: a run keeps a copy of everything that its agents' files read then.
NETWORK = list(np.load(FILE).values()) if FILE.exists() else []


def choose(position):
    """Return the most probable move: the agent python(train_policy.py:choose)."""
    planes = planes_of(position, position.to_move)[None]
    mask = mask_of(BOARD, position.targets(position.to_move))[None]
    x, legal, source = view(planes, mask)
    return BOARD.name(int(source[0, forward(NETWORK, x, legal)[2].argmax()]))


if __name__ == "__main__":
    import knightfall as kf

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opponent", default="greedy(improved)", help="a compiled search")
    parser.add_argument("--seconds", type=float, default=120, help="processor time")
    parser.add_argument("--pairs", type=int, default=50, help="of the match afterwards")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    train(given.opponent, given.seconds, given.seed)
    print(f"\nwrote {FILE}\n")
    print(
        kf.match(
            f"python({FILE.with_name('train_policy.py')}:choose, time=1s)",
            given.opponent,
            pairs=given.pairs,
        )
    )
