"""From what a user types to entrants: full agent strings, names for tables, files accounted for."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from knightfall.agents import Agent, known_agent, parse_agent, remember
from knightfall.arena.plan.plan import Entrant, Plan
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget


def enter(
    texts: Sequence[str],
    budget: Budget | None = None,
    search: Agent | None = None,
    protocol: str = "",
    limits: TimeLimits | None = None,
) -> tuple[Entrant, ...]:
    """Return the entrants of agent strings, numbered where one name occurs twice.

    `budget` replaces that of every agent that deepens; a heuristic alone plays with `search`, and
    course names are those of `protocol` (see `parse_agent`).
    """
    agents = [parse_agent(text, search, protocol) for text in texts]
    if budget is not None:
        agents = [_renamed(agent, agent.with_search_budget(budget)) for agent in agents]
    if limits is not None:
        agents = [_renamed(agent, agent.within(limits.limit, limits.threshold)) for agent in agents]
    names = [printable(agent.name) for agent in agents]
    times, seen = Counter(names), Counter[str]()
    entrants = []
    for agent, name in zip(agents, names, strict=True):
        seen[name] += 1
        shown = f"{name} #{seen[name]}" if times[name] > 1 else name
        entrants.append(Entrant(remember(agent.absolute()), shown))
    return tuple(entrants)


def _renamed(before: Agent, after: Agent) -> Agent:
    """Return an agent that got another budget, without a label that tells of the one before."""
    told = re.search(r"\b(depth|nodes|time)\s*=", after.label)
    return replace(after, label="") if told and before != after else after


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The course's TIME_LIMIT and TIMER_THRESHOLD, in microseconds.

    A move may take `limit`; a search stops when `threshold` of it is left.  Agents written in
    Python get the whole limit: when to stop is up to them.
    """

    limit: int
    threshold: int


def files_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    """The users' files that decide what some entrants do, with a hash of what is in them."""
    found = {path for entrant in entrants for path in known_agent(entrant.agent).sources()}
    return {path: file_hash(path) for path in sorted(found)}


def file_hash(path: str) -> str:
    """Return the hash by which a plan knows what is in a file."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # it may have no end
            raise KnightfallError(f"{path} is not a file")
        return _hash_at(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise KnightfallError(f"{path}: {error.strerror or error}") from None


@lru_cache(maxsize=1024)
def _hash_at(path: str, time: int, size: int) -> str:
    """Of a file as it is since then."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]


def check_files(plan: Plan) -> None:
    """Refuse to go on with users' files that are not those the plan was made with."""
    check_unchanged(plan.files)


def check_unchanged(files: Mapping[str, str]) -> None:
    """Raise a `KnightfallError` if a file does not have the hash that is given with it."""
    for path, before in files.items():
        try:
            now = file_hash(path)
        except KnightfallError:
            now = ""
        if now != before:
            raise KnightfallError(
                f"{path} was edited while the run was going on; what was played since the last "
                "write is not kept, and starting it again begins a run of its own"
            )
