"""Agent strings from a browser, which may name only files that were given on the command line.

A browser knows files by the names under which the lab lists them.  A string that contains something
like a path is refused before it is parsed, so that no path from a browser is ever opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knightfall.agents import Agent, GreedyAgent, agent_parts, parse_agent
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression

Files = Mapping[str, str]
"""Full paths by the names under which they are listed."""

# A slash may only divide two numbers, as in open_cluster(1/2).
_LIKE_A_PATH = re.compile(r"\\|~|\.\.|[^ -\U0010ffff]|(?<![0-9])/|/(?![0-9])")


def agent_named(text: str, files: Files) -> Agent:
    """Parse an agent string from a browser; names of listed files become their full paths."""
    _refuse_paths("agent", text, files)
    return _with_full_paths(parse_agent(text), text, files)


def heuristic_named(text: str, files: Files) -> Agent:
    """Parse a heuristic from a browser; return the greedy agent that uses it, with full paths."""
    _refuse_paths("heuristic", text, files)
    return _with_full_paths(GreedyAgent(str(GreedyAgent.read_argument(text))), text, files)


def _refuse_paths(what: str, text: str, files: Files) -> None:
    if _LIKE_A_PATH.search(text):
        raise KnightfallError(f"{what} {printable(text)[:200]!r} contains a path: {_listed(files)}")
    if "in_process" in text:
        raise KnightfallError(
            f"{what} {printable(text)[:200]!r} contains in_process: the lab plays users' code in "
            "processes of its own"
        )
    if "@" in text:
        raise KnightfallError(
            f"{what} {printable(text)[:200]!r} contains @: the lab does not load git revisions of "
            "files, only their current content"
        )


def _with_full_paths(agent: Agent, text: str, files: Files) -> Agent:
    """Return the agent with full paths; raise a `KnightfallError` if it names an unlisted file."""
    named = agent.files
    for name in named:
        if name not in files:
            raise KnightfallError(f"{printable(text)[:200]!r} names {name!r}: {_listed(files)}")
    if not named:
        return agent
    return agent.relocated(lambda path, resolve: files[path])


def short_names(names: Sequence[str]) -> list[str]:
    """Return a short name for each agent of a run; different agents get different names.

    It is the heuristic, function or class alone if that is unique in the run, else with the kind of
    agent before it if that is unique, else the full name.
    """
    choices = {name: _by_length(name) for name in names}

    def is_free(short: str, name: str) -> bool:
        return not any(short in choices[other] for other in choices if other != name)

    return [next((one for one in choices[name] if is_free(one, name)), name) for name in names]


def _by_length(name: str) -> tuple[str, ...]:
    """Return the possible short names of an agent and its full name, the shortest first."""
    text, mark, number = name.partition(" #") if re.search(r" #[0-9]+$", name) else (name, "", "")
    spelt = agent_parts(text)
    if spelt is None or not spelt[1]:
        plain = text.partition("(")[0].rpartition(":")[2] or text
        return plain + mark + number, name
    kind, about, _ = spelt
    if "#" in about or about.endswith(".py"):  # a class in a file
        alone = about.rpartition("#")[2].rpartition("/")[2]
    else:
        alone = re.sub(r"[^+*\s:]+\.py:", "", about)
    return alone + mark + number, f"{kind} {alone}{mark}{number}", name


def _listed(files: Files) -> str:
    if not files:
        return "no file was named on the command line"
    return f"the files of this lab are {', '.join(files)}"


def listed_name(path: str, taken: Files) -> str:
    """Return the name under which a file is listed; special characters are replaced by _."""
    stem = re.sub(r"[^A-Za-z0-9_]", "_", path.rpartition("/")[2].removesuffix(".py")) or "file"
    stem = f"_{stem}" if stem[0].isdigit() else stem
    name, number = f"{stem}.py", 2
    while name in taken:
        name, number = f"{stem}_{number}.py", number + 1
    return name


def can_be_named(path: str) -> bool:
    """Return whether agent strings can contain a path; a comma, for example, prevents that."""
    try:
        function = GreedyAgent.read_argument(f"{path}:f")
    except KnightfallError:
        return False
    assert isinstance(function, Expression)
    return [getattr(atom, "path", "") for atom in function.atoms()] == [path]
