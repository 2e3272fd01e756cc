"""How long an agent may think, and what happens when it takes longer."""

from __future__ import annotations

import math

from knightfall.agents import Agent
from knightfall.errors import AgentFailure
from knightfall.search.budget import Report

PATIENCE = 60.0
"""Seconds a user's code may take for a move if its budget does not say."""

PATIENT_NODES, LONGEST = 50_000, 24 * 3600.0
"""Whoever may visit more nodes than these has more time, in proportion, up to a day."""

COUNTED = 20.0
"""Seconds that a move by a counted clock may take: many times what it needs, on a busy machine."""

TOLERANCE = 0.01
"""Seconds beyond the limit that an answer may take: for the way to another process and back."""


def move_limit(agent: Agent, patience: float = PATIENCE) -> float | None:
    """Return how many seconds the agent may take for a move, in a process of its own.

    None for agents without users' code: their searches stop by themselves, and if that is late, it
    is because the machine kept them waiting.
    """
    if not agent.has_users_code:
        return None
    if agent.budget.seconds is not None:
        return agent.budget.seconds
    if agent.time_is_counted:
        return min(patience, COUNTED)
    return min(patience * max(1.0, (agent.budget.nodes or 0) / PATIENT_NODES), LONGEST)


def in_time(
    report: Report, limit: float | None, who: str = "", computed: float = math.inf
) -> Report:
    """Return the report, if it did not take longer than the limit and the tolerance.

    `computed` is the processor time that it took, where that is known: who has computed for less
    than the limit was only kept waiting.
    """
    seconds = min(report.seconds, computed)
    if limit is not None and seconds > limit + TOLERANCE:
        late = f"{who} answered after {took(seconds, limit)}, allowed are {limit:g} s"
        raise AgentFailure("timeout", late.strip())
    return report


def took(seconds: float, limit: float) -> str:
    """How long an answer took, in as many digits as it takes to see that it was too long."""
    for digits in range(3, 7):
        if round(seconds, digits) > limit:
            break
    return f"{seconds:.{digits}f} s"
