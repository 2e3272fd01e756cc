"""Who plays the games that positions to learn from are taken from.

A heuristic is asked about what a search comes across: good play and bad, and everything in between.
So the strong ones play a good part of the games, and weak ones the others.  Nobody plays who was
himself learned from such games: the same command must give the same positions again.
"""

from __future__ import annotations

import random

HEURISTICS = ("improved", "bfs_reach", "open", "main")
NODES = (20, 60, 200, 600, 2500)

POOL: tuple[tuple[str, int], ...] = (
    *((f"id({heuristic}, nodes={nodes})", 2) for heuristic in HEURISTICS for nodes in NODES),
    *((f"id(bfs_reach, nodes={nodes})", 3) for nodes in (600, 2500, 10000)),
    ("id(improved, nodes=2500)", 10),
    ("alphabeta(improved, depth=3)", 3),
    ("alphabeta(open, depth=2)", 2),
    ("greedy(improved)", 3),
    ("random", 3),
)
"""Agents, and how often one is drawn compared with the others; one may be there twice."""

NAMES = tuple(dict.fromkeys(name for name, _ in POOL))
"""Each agent once."""

SERIOUS = frozenset(
    f"id({heuristic}, nodes={nodes})" for heuristic in HEURISTICS for nodes in (600, 2500, 10000)
)
"""Those from whom one can learn where good hunters go wrong."""

_CARDS = [name for name, weight in POOL for _ in range(weight)]


def draw(rng: random.Random) -> str:
    """One of the agents."""
    return rng.choice(_CARDS)
