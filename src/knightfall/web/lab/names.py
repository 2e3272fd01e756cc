"""Agent strings of a browser: read, and refused if they name a file nobody put on the command line.

A browser knows files by the names under which the lab lists them.  Whatever looks like a path is
refused before it is read, so that no path of a browser's is ever looked at, let alone opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from knightfall.agents import Agent, parse_agent
from knightfall.agents.base import read_argument
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression
from knightfall.user_files import UserFunction
from knightfall.web.lab.guard import Refused

Files = Mapping[str, str]
"""Full paths by the names under which they are listed."""

# A slash may only divide two numbers, as in open_cluster(1/2).
_LIKE_A_PATH = re.compile(r"\\|~|\.\.|[^ -\U0010ffff]|(?<![0-9])/|/(?![0-9])")


def agent_named(text: str, files: Files) -> Agent:
    """The agent of a browser's string, its files by their full paths."""
    _refuse_paths("agent", text, files)
    try:
        agent = parse_agent(text)
        return _at_home(agent, text, files)
    except KnightfallError as error:
        raise Refused(422, printable(str(error))) from None


def heuristic_named(text: str, files: Files) -> Agent:
    """The heuristic of a browser's string, as the agent that asks it alone."""
    _refuse_paths("heuristic", text, files)
    try:
        return _at_home(Agent("greedy", str(read_argument("greedy", text))), text, files)
    except KnightfallError as error:
        raise Refused(422, printable(str(error))) from None


def _refuse_paths(what: str, text: str, files: Files) -> None:
    if _LIKE_A_PATH.search(text):
        raise Refused(422, f"{what} {printable(text)[:200]!r} holds a path: {_listed(files)}")
    if "@" in text:
        raise Refused(
            422, f"{what} {printable(text)[:200]!r} asks for another version of a file: not here"
        )


def _at_home(agent: Agent, text: str, files: Files) -> Agent:
    """The same agent by full paths, if all its files are listed."""
    named = agent.files
    for name in named:
        if name not in files:
            raise Refused(422, f"{printable(text)[:200]!r} names {name!r}: {_listed(files)}")
    if not named:
        return agent
    if agent.kind == "course":
        from knightfall.course.reference import parse_reference

        reference = parse_reference(agent.heuristic)
        return replace(agent, heuristic=str(replace(reference, path=files[reference.path])))
    read = read_argument(agent.kind, agent.heuristic)
    if isinstance(read, UserFunction):
        found: UserFunction | Expression = replace(read, path=files[read.path])
    else:
        found = Expression(
            tuple(
                (weight, replace(a, path=files[a.path]) if isinstance(a, UserFunction) else a)
                for weight, a in read.terms
            )
        )
    return replace(agent, heuristic=str(found), label="")


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
        function = read_argument("greedy", f"{path}:f")
    except KnightfallError:
        return False
    assert isinstance(function, Expression)
    return [getattr(atom, "path", "") for _, atom in function.terms] == [path]
