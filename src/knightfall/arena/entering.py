"""From what a user types to entrants: full agent strings, names for tables, files accounted for."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from knightfall.agents import Agent, parse_agent
from knightfall.arena.schedule import Entrant, Plan
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
        entrants.append(Entrant(str(_from_anywhere(agent)), shown))
    return tuple(entrants)


def _from_anywhere(agent: Agent) -> Agent:
    """The same agent, its files named by their full paths: workers may run in other folders."""
    if not agent.heuristic:
        return agent
    if agent.kind == "python":
        path, _, name = agent.heuristic.rpartition(":")
        return replace(agent, heuristic=f"{os.path.abspath(os.path.expanduser(path))}:{name}")
    from knightfall.heuristics.expression import parse_heuristic

    return replace(agent, heuristic=str(parse_heuristic(agent.heuristic).absolute()))


def files_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    """The users' files behind some entrants, with a hash of what is in them."""
    hashes = {}
    for entrant in entrants:
        for path in _paths(parse_agent(entrant.agent)):
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


def _paths(agent: Agent) -> list[str]:
    if not agent.heuristic:
        return []
    if agent.kind == "python":
        return [agent.heuristic.rpartition(":")[0]]
    from knightfall.heuristics.expression import parse_heuristic

    terms = parse_heuristic(agent.heuristic).terms
    return [atom.path for _, atom in terms if atom.path is not None]


def is_timed(entrant: Entrant) -> bool:
    """Whether an entrant's moves depend on the clock."""
    return parse_agent(entrant.agent).budget.time is not None


@cache
def engine() -> str:
    """The version of everything that decides how a game goes."""
    from knightfall import __version__
    from knightfall.kernel.compile import source_hash

    # The hash names the machine code; the rest of the arena has none, but these decide games.
    digest = hashlib.sha256(source_hash().encode())
    for name in ("compiled_game.py", "game.py", "openings.py", "records.py", "schedule.py"):
        digest.update((Path(__file__).parent / name).read_bytes())
    return f"{__version__}+{digest.hexdigest()[:16]}"


def versions() -> dict[str, str]:
    """What a run was played with."""
    import platform
    from importlib.metadata import version

    return {
        "knightfall": engine(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
    }
