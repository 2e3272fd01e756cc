"""Names that fit beside an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knightfall.agents import Agent, known_agent, without_folder
from knightfall.arena.plan.plan import Entrant
from knightfall.errors import KnightfallError

LONGEST = 38
"""Characters of a name; longer ones lose their middle."""


def shortened(name: str, most: int = LONGEST) -> str:
    """A name without its middle, if it is longer than that."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def labels(entrants: Sequence[Entrant], most: int = LONGEST) -> tuple[list[str], str]:
    """What to write beside an axis, all different; and a remark on what these names mean.

    Where everybody searches alike, as in id(…, nodes=2500), the heuristics alone are named, and
    the remark says how they search.  Names of another kind (a course's, say) stay.
    """
    called = [entrant.name for entrant in entrants]
    agents = [_understood(entrant) for entrant in entrants]
    spelt = [agent for agent in agents if agent is not None]
    shared = {(agent.kind, agent.budget, *agent.options(), agent.seed) for agent in spelt}
    remark = ""
    if len(shared) == 1 and all(agent.heuristic for agent in spelt) and len(spelt) > 1:
        short = [
            name if agent is None else without_folder(agent.heuristic)
            for name, agent in zip(called, agents, strict=True)
        ]
        if len(set(short)) == len(short):
            called = short
            remark = f"heuristics play as {replace(spelt[0], heuristic='…')}"
    cut = [shortened(name, most) for name in called]
    for at, name in enumerate(cut):
        if cut.count(name) > 1 and called[at] != name:  # cut alike: the number tells them apart
            cut[at] = f"{shortened(called[at], most - 4)} {at + 1}"
    return cut, remark


def _understood(entrant: Entrant) -> Agent | None:
    """The agent of an entrant that has no other name than its string."""
    try:
        agent = known_agent(entrant.name)
    except KnightfallError:  # a heuristic that is not known here, or a name of its own
        return None
    return None if agent.label else agent
