"""From what a user types to entrants: full agent strings, names for tables, files accounted for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from knightfall.agents import known_agent, parse_agent
from knightfall.arena.plan.plan import Entrant, Plan
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget


def enter(texts: Sequence[str], budget: Budget | None = None) -> tuple[Entrant, ...]:
    """The entrants of agent strings; a budget replaces that of every agent that deepens.

    Whoever enters twice under one name gets a number.
    """
    agents = [parse_agent(text) for text in texts]
    if budget is not None:
        agents = [replace(a, budget=budget) if a.kind == "id" else a for a in agents]
    names = [agent.name for agent in agents]
    times, seen = Counter(names), Counter[str]()
    entrants = []
    for agent, name in zip(agents, names, strict=True):
        seen[name] += 1
        shown = f"{name} #{seen[name]}" if times[name] > 1 else name
        entrants.append(Entrant(str(agent.absolute()), shown))
    return tuple(entrants)


def files_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    """The users' files behind some entrants, with a hash of what is in them."""
    hashes = {}
    for entrant in entrants:
        for path in known_agent(entrant.agent).files:
            try:
                hashes[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:20]
            except OSError as error:
                raise KnightfallError(f"{path}: {error.strerror or error}") from None
    return dict(sorted(hashes.items()))


def check_files(plan: Plan) -> None:
    """Refuse to go on with users' files that are not those the plan was made with."""
    for path, before in plan.files.items():
        try:
            now = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:20]
        except OSError:
            now = ""
        if now != before:
            raise KnightfallError(
                f"{path} was edited while the run was going on; what was played since the last "
                "write is not kept, and the same command begins a run of its own"
            )
