"""Who the opponent may be: the mixture of players that practical chances are reckoned against.

The ladder's agents and their neighbours, so that no single habit is bet on.  `docs/learning.md`
has the measurements that chose the weights; ``python -m knightfall.oracle.lost_games`` repeats
them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from knightfall.search.budget import Budget


@dataclass(frozen=True)
class Model:
    """A search that an opponent may be, and how often it is tried."""

    method: str
    heuristic: str
    budget: Budget
    weight: int = 1


MIXTURE = (
    Model("deepening", "improved", Budget(nodes=2500), weight=4),
    Model("deepening", "improved", Budget(nodes=1000)),
    Model("deepening", "improved", Budget(nodes=5000)),
    Model("deepening", "improved", Budget(nodes=10_000)),
    Model("alphabeta", "improved", Budget(depth=5)),
    Model("deepening", "bfs_reach", Budget(nodes=2500)),
    Model("deepening", "bfs_reach", Budget(nodes=6000)),
    Model("deepening", "main", Budget(nodes=1000)),
)
"""The opponents, by weight."""

ONESELF = Model("deepening", "improved", Budget(nodes=600))
"""How one's own moves are chosen where the tree of them ends."""

SEEDS = 2
"""How many of each model there are: equal moves are many, and each breaks such ties its own way."""


def seeds(seed: int) -> list[int]:
    """The models' seeds, from the agent's."""
    return [_word(f"model {number} of {seed}") for number in range(len(MIXTURE) * SEEDS)]


def order(seed: int) -> list[int]:
    """The numbers of the opponents, each by its weight, in the order that they are met."""
    turns = [
        (number * SEEDS + copy, turn)
        for number, model in enumerate(MIXTURE)
        for copy in range(SEEDS)
        for turn in range(model.weight)
    ]
    turns.sort(key=lambda who: _word(f"turn {who} of {seed}"))
    return [number for number, _ in turns]


def _word(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
