"""The names that the course and the studies gave to their agents."""

from __future__ import annotations

from dataclasses import replace

from knightfall.agents.base import COURSE_NODES, Agent
from knightfall.search.budget import Budget


def _minimax(heuristic: str) -> Agent:
    return Agent("minimax", heuristic, Budget(depth=3))


def _alphabeta(heuristic: str) -> Agent:
    return Agent("alphabeta", heuristic, Budget(depth=5))


def _deepening(heuristic: str) -> Agent:
    return Agent("id", heuristic, Budget(nodes=COURSE_NODES), plain=True)


PROTOCOL_SEARCH = _deepening("")
"""The search and budget with which a heuristic alone takes part in either tournament."""

COURSE: dict[str, dict[str, Agent]] = {
    # The later tournament: every AB_ agent deepens.
    "2017b": {
        "Random": Agent("random"),
        "MM_Open": _minimax("open"),
        "MM_Center": _minimax("center"),
        "MM_Improved": _minimax("improved"),
        "AB_Open": _deepening("open"),
        "AB_Center": _deepening("center"),
        "AB_Improved": _deepening("improved"),
    },
    # The earlier one: AB_ agents search five plies, only ID_ and the student's agent deepen.
    "2017a": {
        "Random": Agent("random"),
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
"""The names of each protocol and study.  A bare name means the first protocol that has it;
``2017a:AB_Open`` and ``aggressive:AB_Custom_2`` say which."""


FOR_STUDENTS = ("AB_Custom", "AB_Custom_2", "AB_Custom_3", "Student")
"""The names the course left to its students: they may be given a heuristic of one's own."""


def course_agent(name: str) -> Agent | None:
    """The agent of a course name, with or without its protocol or study."""
    group, _, bare = name.rpartition(":")
    groups = [COURSE.get(group, {})] if group else list(COURSE.values())
    for names in groups:
        if bare in names:
            return replace(names[bare], label=name)
    return None


def borrowed(agent: Agent) -> str:
    """Return whose heuristic an agent plays if its name is one that students give to their own.

    An empty string if it was given a heuristic, or its name says which study it is from.
    """
    name = agent.label.partition("(")[0].strip()
    if name not in FOR_STUDENTS:
        return ""
    study = next(group for group, names in COURSE.items() if name in names)
    if agent.heuristic != COURSE[study][name].heuristic:
        return ""
    return f"{name} is the {study} study's: {agent}; {name}(mine.py:score) plays yours"
