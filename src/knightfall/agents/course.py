"""The names that the course and the studies gave to their agents."""

from __future__ import annotations

from dataclasses import replace

from knightfall.agents.base import Agent
from knightfall.agents.kinds import (
    COURSE_NODES,
    AlphaBetaAgent,
    DeepeningAgent,
    MinimaxAgent,
    RandomAgent,
)
from knightfall.search.budget import Budget


def _minimax(heuristic: str) -> Agent:
    return MinimaxAgent(heuristic, Budget(depth=3))


def _alphabeta(heuristic: str) -> Agent:
    return AlphaBetaAgent(heuristic, Budget(depth=5))


def _deepening(heuristic: str) -> Agent:
    return DeepeningAgent(heuristic, Budget(nodes=COURSE_NODES), plain=True)


PROTOCOL_SEARCH = _deepening("")
"""The search and budget with which a heuristic alone takes part in either tournament."""

COURSE: dict[str, dict[str, Agent]] = {
    # The later tournament: every AB_ agent deepens.
    "2017b": {
        "Random": RandomAgent(),
        "MM_Open": _minimax("open"),
        "MM_Center": _minimax("center"),
        "MM_Improved": _minimax("improved"),
        "AB_Open": _deepening("open"),
        "AB_Center": _deepening("center"),
        "AB_Improved": _deepening("improved"),
    },
    # The earlier one: AB_ agents search five plies, only ID_ and the student's agent deepen.
    "2017a": {
        "Random": RandomAgent(),
        "MM_Null": _minimax("null"),
        "MM_Open": _minimax("open"),
        "MM_Improved": _minimax("improved"),
        "AB_Null": _alphabeta("null"),
        "AB_Open": _alphabeta("open"),
        "AB_Improved": _alphabeta("improved"),
        "ID_Improved": _deepening("improved"),
        "Student": _deepening(""),
    },
    # What the studies of the later tournament entered as their own three agents.
    "lookahead": {
        "AB_Custom": _deepening("lookahead_mobility"),
        "AB_Custom_2": _deepening("center_pull"),
        "AB_Custom_3": _deepening("corner_averse"),
    },
    "directional": {
        "AB_Custom": _deepening("weighted_mobility"),
        "AB_Custom_2": _deepening("weighted_difference"),
        "AB_Custom_3": _deepening("weighted_moves"),
    },
    "aggressive": {
        "AB_Custom": _deepening("aggressive"),
        "AB_Custom_2": _deepening("lookahead_ratio"),
        "AB_Custom_3": _deepening("open_cluster"),
    },
}
"""The names of each protocol and study.  A bare name is that of the protocol in force if there is
one that has it, else the first here; ``2017a:AB_Open`` and ``aggressive:AB_Custom_2`` say which.
"""


FOR_STUDENTS = ("AB_Custom", "AB_Custom_2", "AB_Custom_3", "Student")
"""The names the course left to its students: they may be given a heuristic of one's own."""


def course_agent(name: str, protocol: str = "") -> Agent | None:
    """Return the agent of a course name, with or without its protocol or study.

    Without one it is that of `protocol`, the protocol in force, where that has the name.
    """
    group = group_of(name, protocol)
    if not group:
        return None
    return replace(COURSE[group][name.rpartition(":")[2]], label=name)


def group_of(name: str, protocol: str = "") -> str:
    """Return the protocol or study that a course name is from (see `course_agent`), "" if none."""
    group, _, bare = name.rpartition(":")
    groups = [group] if group else [protocol, *COURSE]
    return next((one for one in groups if bare in COURSE.get(one, {})), "")


def from_another_protocol(name: str, protocol: str) -> str:
    """Return a sentence if a name is not an agent of the protocol in force but of another one.

    An empty string if it is none of a protocol's names, or stands for the same agent in both.
    """
    bare = name.rpartition(":")[2]
    group = group_of(name, protocol)
    if protocol not in COURSE or group in ("", protocol) or "Random" not in COURSE[group]:
        return ""
    here, there = COURSE[protocol].get(bare), COURSE[group][bare]
    if here == there:
        return ""
    instead = f"the one of {protocol} is {here}" if here else f"{protocol} has none of that name"
    return f"{name} is an agent of {group}, {there}; {instead}"


def borrowed(called: str, agent: Agent) -> str:
    """Return whose heuristic an agent plays if it is called as students call their own.

    An empty string if it was given a heuristic, or its name says which study it is from.
    """
    name = called.partition("(")[0].partition("#")[0].strip()  # one of two is called "Student #1"
    if name not in FOR_STUDENTS:
        return ""
    study = next(group for group, names in COURSE.items() if name in names)
    if agent.heuristic != COURSE[study][name].heuristic:
        return ""
    return f"{name} is the {study} study's: {agent}; {name}(mine.py:score) plays yours"
