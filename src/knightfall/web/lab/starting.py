"""From what a form says to what `play_run` is told: agents, board and budget are checked here."""

from __future__ import annotations

from typing import Any

from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.search.budget import read_budget
from knightfall.web.lab.lab import Lab
from knightfall.web.lab.names import agent_named

AGENTS = {"match": ("a", "b"), "tournament": ("tests", "against"), "league": ("agents",)}
"""The fields of each kind that name agents."""

Spec = dict[str, Any]


def game_spec(lab: Lab, kind: str, asked: Spec) -> tuple[Spec, list[str]]:
    """Return what is to be played, and its agents as they were given."""
    spec = {**asked, "kind": kind, "store": lab.store, "files": lab.library.paths}
    spec["board"] = Board.named(asked["board"]).text
    read_budget(asked.get("budget"))  # raises a KnightfallError for one that cannot be
    if "sprt" in asked and asked["sprt"][0] >= asked["sprt"][1]:
        low, high = asked["sprt"]
        raise KnightfallError(
            f"sprt is [{low:g}, {high:g}]: the first must be less than the second"
        )
    if "gauntlet" in asked and asked["gauntlet"] >= len(asked["agents"]):
        raise KnightfallError(f"gauntlet={asked['gauntlet']} leaves no opponents")
    shown: list[str] = []
    for field in AGENTS[kind]:
        given = asked[field]
        shown += [given] if isinstance(given, str) else given
        if isinstance(given, str):
            spec[field] = _text(agent_named(given, lab.library.paths))
        else:
            spec[field] = [_text(agent_named(one, lab.library.paths)) for one in given]
    return spec, shown


def grading_spec(lab: Lab, kind: str, asked: Spec) -> tuple[Spec, list[str]]:
    """Return what is to be graded, and its agent as it was given."""
    agent = agent_named(asked["agent"], lab.library.paths)
    spec = {**asked, "kind": kind, "agent": _text(agent), "board": Board.named(asked["board"]).text}
    return {**spec, "store": lab.store, "files": lab.library.paths}, [asked["agent"]]


def resuming(lab: Lab, found: Spec) -> str:
    """What is against going on with a stored run; it may name files, as anything stored may."""
    unknown = [path for path in found["files"] if path not in lab.library.paths.values()]
    if found["why_not"] or not unknown:
        return str(found["why_not"])
    names = ", ".join(printable(path.rpartition("/")[2]) for path in unknown)
    return f"Its agents come from {names}: name that file when you start knightfall serve."


def _text(agent: Agent) -> str:
    """The agent as it is read again: a course's name stands for itself."""
    return agent.label or str(agent)
