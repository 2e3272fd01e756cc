"""Agent strings of a browser: read, and refused if they name a file nobody put on the command line.

A browser knows files by the names under which the lab lists them.  Whatever looks like a path is
refused before it is read, so that no path of a browser's is ever looked at, let alone opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knightfall.agents import Agent, GreedyAgent, parse_agent, spelling
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression

Files = Mapping[str, str]
"""Full paths by the names under which they are listed."""

# A slash may only divide two numbers, as in open_cluster(1/2).
_LIKE_A_PATH = re.compile(r"\\|~|\.\.|[^ -\U0010ffff]|(?<![0-9])/|/(?![0-9])")


def agent_named(text: str, files: Files) -> Agent:
    """The agent of a browser's string, its files by their full paths."""
    _refuse_paths("agent", text, files)
    return _at_home(parse_agent(text), text, files)


def heuristic_named(text: str, files: Files) -> Agent:
    """The heuristic of a browser's string, as the agent that asks it alone."""
    _refuse_paths("heuristic", text, files)
    return _at_home(GreedyAgent(str(GreedyAgent.read_argument(text))), text, files)


def _refuse_paths(what: str, text: str, files: Files) -> None:
    if _LIKE_A_PATH.search(text):
        raise KnightfallError(f"{what} {printable(text)[:200]!r} holds a path: {_listed(files)}")
    if "@" in text:
        raise KnightfallError(
            f"{what} {printable(text)[:200]!r} asks for another version of a file: not here"
        )


def _at_home(agent: Agent, text: str, files: Files) -> Agent:
    """The same agent by full paths, if all its files are listed."""
    named = agent.files
    for name in named:
        if name not in files:
            raise KnightfallError(f"{printable(text)[:200]!r} names {name!r}: {_listed(files)}")
    if not named:
        return agent
    return agent.relocated(lambda path, resolve: files[path])


def short_names(names: Sequence[str]) -> list[str]:
    """Return a short name for each agent of a run, as different as the full ones are.

    That is the heuristic, function or class alone where it tells them apart, with the kind of agent
    before it where that does, and else the whole name.
    """
    choices = [_by_length(name) for name in names]
    level = [0] * len(names)
    while True:
        found = [choice[at] for choice, at in zip(choices, level, strict=True)]
        unclear = [
            at
            for at, short in enumerate(found)
            if level[at] + 1 < len(choices[at])
            and any(
                short == one and names[at] != full for one, full in zip(found, names, strict=True)
            )
        ]
        if not unclear:
            return found
        for at in unclear:
            level[at] += 1


def _by_length(name: str) -> tuple[str, ...]:
    """Return what an agent may be called, the shortest first."""
    text, mark, number = name.partition(" #") if re.search(r" #[0-9]+$", name) else (name, "", "")
    spelt = spelling(text)
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
    """What a file is called here: its own name, without what would be read as something else."""
    stem = re.sub(r"[^A-Za-z0-9_]", "_", path.rpartition("/")[2].removesuffix(".py")) or "file"
    stem = f"_{stem}" if stem[0].isdigit() else stem
    name, number = f"{stem}.py", 2
    while name in taken:
        name, number = f"{stem}_{number}.py", number + 1
    return name


def can_be_named(path: str) -> bool:
    """Whether an agent string can hold a path: one with a comma in it would be cut there."""
    try:
        function = GreedyAgent.read_argument(f"{path}:f")
    except KnightfallError:
        return False
    assert isinstance(function, Expression)
    return [getattr(atom, "path", "") for atom in function.atoms()] == [path]
