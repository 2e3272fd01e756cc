"""``knightfall agents``: the kinds of agents, and the names the course gave to some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knightfall.cli.options.common import Json
from knightfall.cli.screen.output import print_json
from knightfall.display.report import print_parts
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.agents import Agent


def agents(json: Json = False) -> None:
    """List the kinds of agents and the course's names.

    An agent is a string: a kind, a heuristic, a budget (depth=5, nodes=2500, time=150ms) and
    perhaps seed=N, which breaks ties.  Course names stand for such strings; 2017a:AB_Open picks
    the protocol when a name is in more than one.

    \b
    Examples:
      knightfall agents
      knightfall analyse --agent "id(bfs_reach, time=2s)" "7/7/1N5/7/7/4n2/7 w"
    """
    from knightfall.agents import AGENT_KINDS, COURSE

    kinds = [
        {
            "kind": kind.kind,
            "summary": kind.summary,
            "example": kind.example,
            "budgets": list(kind.budgets),
            "default": str(kind.default),
        }
        for kind in AGENT_KINDS.values()
    ]
    names = {
        group: {name: _expansion(agent) for name, agent in members.items()}
        for group, members in COURSE.items()
    }
    if json:
        print_json({"kinds": kinds, "names": names})
        return
    of_kinds = Table(["kind", "what it does", "example"], labels=3)
    for kind in AGENT_KINDS.values():
        of_kinds.add(kind.kind, kind.summary, kind.example)
    of_names = Table(["from", "name", "is short for"], labels=3)
    for group, members in names.items():
        for number, (name, agent) in enumerate(members.items()):
            of_names.add("" if number else group, name, agent)
    print_parts([of_kinds, "", of_names])


def _expansion(agent: Agent) -> str:
    """What a name stands for; some leave the heuristic to the student."""
    if not agent.argument or agent.heuristic:
        return str(agent)
    return str(agent).replace("(", "(your heuristic, ", 1)
