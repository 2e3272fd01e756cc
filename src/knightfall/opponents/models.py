"""Who the opponent may be: the players that practical chances are reckoned against.

The ladder's agents, the course's and their neighbours, so that no single habit is bet on, and
the stranger, who is none of them (`stranger.py`).  What is believed of an opponent that was never
seen to move was learned (`chances.py`); `beliefs.py` goes on from there.  ``python -m
benchmarks.lost_games`` measures what they are worth, and `docs/learning.md` has the figures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from knightfall.search.budget import Budget


@dataclass(frozen=True)
class Model:
    """A search that an opponent may be."""

    method: str
    heuristic: str
    budget: Budget

    def __str__(self) -> str:
        return f"{self.method}({self.heuristic}, {self.budget})"


MODELS = (
    Model("deepening", "improved", Budget(nodes=2500)),
    Model("deepening", "improved", Budget(nodes=1000)),
    Model("deepening", "improved", Budget(nodes=10_000)),
    Model("deepening", "open", Budget(nodes=2500)),
    Model("deepening", "bfs_reach", Budget(nodes=2500)),
    Model("deepening", "bfs_reach", Budget(nodes=6000)),
    Model("deepening", "main", Budget(nodes=1000)),
    Model("deepening", "weighted_moves", Budget(nodes=2500)),
    Model("deepening", "learned_net", Budget(nodes=2500)),
    # As the course's agents search, without a table or an order of moves.
    Model("plain_deepening", "improved", Budget(nodes=2500)),
    Model("plain_deepening", "open", Budget(nodes=2500)),
    Model("plain_deepening", "center", Budget(nodes=2500)),
    Model("plain_deepening", "aggressive", Budget(nodes=2500)),
    Model("plain_deepening", "weighted_difference", Budget(nodes=2500)),
    Model("plain_deepening", "lookahead_mobility", Budget(nodes=2500)),
    # Minimax to a depth moves as alpha-beta does, and costs more.
    Model("alphabeta", "improved", Budget(depth=5)),
    Model("alphabeta", "improved", Budget(depth=3)),
    Model("alphabeta", "open", Budget(depth=3)),
    Model("alphabeta", "center", Budget(depth=3)),
)

JUDGES = (
    Model("alphabeta", "improved", Budget(depth=3)),
    Model("alphabeta", "improved", Budget(depth=5)),
    Model("alphabeta", "open", Budget(depth=3)),
    Model("plain_deepening", "improved", Budget(nodes=2500)),
    Model("deepening", "bfs_reach", Budget(nodes=2500)),
)
"""Those whose choices tell what the stranger might do."""

OPPONENTS = (*map(str, MODELS), "stranger")
"""By name, all whom the opponent may be."""

ONESELF = Model("deepening", "improved", Budget(nodes=600))
"""How one's own moves are chosen where the tree of them ends."""


def seats(shares: Sequence[float], number: int) -> list[int]:
    """So many opponents by their shares: the places of their models, each as often as it is due.

    What is left over when whole seats are given goes to the largest remainders.
    """
    total = sum(shares)
    due = [share / total * number for share in shares]
    given = [int(one) for one in due]
    by_remainder = sorted(range(len(due)), key=lambda at: (given[at] - due[at], at))
    for at in by_remainder[: number - sum(given)]:
        given[at] += 1
    return [at for at, seats in enumerate(given) for _ in range(seats)]


def seeds(seed: int, number: int) -> list[int]:
    """Seeds of opponents, from the agent's: each breaks ties its own way."""
    return [_word(f"opponent {at} of {seed}") for at in range(number)]


def shuffle(seed: int, number: int) -> list[int]:
    """The seats in the order that they are met."""
    return sorted(range(number), key=lambda at: _word(f"turn {at} of {seed}"))


def _word(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
