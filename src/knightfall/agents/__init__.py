"""An agent is a value that chooses moves; it is written as a string, and prints as that string.

::

    random                            greedy(improved)
    minimax(open, depth=3)            alphabeta(improved, depth=5)
    id(bfs_reach, nodes=2500)         id(improved, time=150ms, plain)
    perfect(time=150ms)               python(mine.py:choose, time=1s)

Extensions add more kinds, such as `student` and `course`.  A heuristic alone (``improved``,
``mine.py:cosy``) is an `id` agent that uses it.  `plain` deepens as the course's agents do, without
table and ordering.  Every kind takes ``seed=N``; ties among equal moves (all moves, for `random`)
are broken by the seed and the position alone, so the same seed plays the same game on every
machine.
"""

from knightfall.agents.base import Agent
from knightfall.agents.kinds import (
    AGENT_KINDS,
    COURSE_NODES,
    DeepeningAgent,
    GreedyAgent,
    SearchAgent,
)
from knightfall.agents.parse import (
    COURSE,
    OtherDifferences,
    agent,
    agent_parts,
    cache_agent,
    cached_agent,
    course_agent,
    other_differences,
    parse_agent,
    submissions,
    time_control,
    without_folder,
)
from knightfall.extensions import Extension

__all__ = [
    "AGENT_KINDS",
    "COURSE",
    "COURSE_NODES",
    "Agent",
    "DeepeningAgent",
    "Extension",
    "GreedyAgent",
    "OtherDifferences",
    "SearchAgent",
    "agent",
    "agent_parts",
    "cache_agent",
    "cached_agent",
    "course_agent",
    "other_differences",
    "parse_agent",
    "submissions",
    "time_control",
    "without_folder",
]
