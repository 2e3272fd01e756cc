"""The user's files that the command line names, and the heuristics and agents in each.

A file is loaded again whenever it is edited, in an isolated process, because its code may do
anything.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from types import FunctionType
from typing import Any

from knightfall.display.printable import one_line
from knightfall.errors import FileFault, KnightfallError
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.user_files import Stamp, load, stamp
from knightfall.web.lab.agent_names import can_be_named, listed_name

# -- the content of a file --------------------------------------------------------------------


POSITION = "7/7/1N5/7/7/4n2/7 w"
"""The position on which every heuristic is tried once."""

MOST = 100
"""Most heuristics, and most agents, that are listed of a file."""


def contents_of(path: str, shown: str) -> dict[str, Any]:
    """Return a file's heuristics and agents with their errors, and the files it depends on.

    `shown` is the name under which the browser knows the file.
    """
    file = Path(path).resolve()
    try:
        loaded = load(file, shown)
    except KnightfallError as error:
        players = _players(path, shown)  # submissions import modules that only the course has
        failed = nothing_in_it() if players else nothing_in_it(error)
        return {**failed, "agents": players, "sources": [str(file)]}
    found = nothing_in_it()
    for name, thing in list(vars(loaded.module).items()):
        if name.startswith("_"):
            continue
        function = getattr(thing, "py_func", thing)
        own = isinstance(function, FunctionType) and function.__code__.co_filename == str(file)
        if own and _is_meant_as_heuristic(thing, function):
            if len(found["heuristics"]) < MOST:
                found["heuristics"].append(_heuristic(path, name, function, shown))
        elif len(found["agents"]) < MOST and (
            _is_agent_class(thing, loaded.module) or (own and _positional(function) == 1)
        ):
            found["agents"].append(_row(name, f"python({shown}:{name})", function))
    found["agents"] += _players(path, shown)
    return {**found, "sources": sorted(loaded.stamps)}


def _is_agent_class(thing: Any, module: Any) -> bool:
    """Return whether `thing` is a class that `module` defines and that has a method `choose`."""
    mine = isinstance(thing, type) and thing.__module__ == module.__name__
    return mine and isinstance(getattr(thing, "choose", None), FunctionType)


def _is_meant_as_heuristic(thing: Any, function: FunctionType) -> bool:
    """Return whether a function is a heuristic or was meant to be one.

    A heuristic takes five arguments.  A function with another number was meant to be one if it has
    the decorator or the usual names of arguments; `_heuristic` then reports its error.
    """
    from knightfall.heuristics.registry import PARAMETERS, REGISTRY

    declared = REGISTRY.get(function.__name__)
    if _positional(function) == len(PARAMETERS) or (declared and declared.function is thing):
        return True
    names = list(inspect.signature(function).parameters)
    return names[:2] == list(PARAMETERS[:2]) and {"me", "opp"} <= set(names)


def nothing_in_it(error: KnightfallError | str = "") -> dict[str, Any]:
    """Return the description of a file without heuristics and agents, with its error if any."""
    return {"error": one_line(str(error)), "line": _line(error), "heuristics": [], "agents": []}


def _line(error: object) -> int | None:
    """Return the line of the user's file in which an error arose, if it is known."""
    return error.line if isinstance(error, FileFault) else None


def _positional(function: FunctionType) -> int:
    """Return how many arguments a function takes; −1 if some are not positional-or-keyword."""
    given = inspect.signature(function).parameters.values()
    simple = all(one.kind is one.POSITIONAL_OR_KEYWORD for one in given)
    return len(given) if simple else -1


def _row(name: str, id: str, function: Any, error: str = "", note: str = "") -> dict[str, Any]:
    summary = (inspect.getdoc(function) or "").strip().split("\n")[0]
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
    row = {"name": name, "id": id, "summary": one_line(summary)[:200], "line": line}
    return {**row, "error": one_line(error), "note": one_line(note)}


def _heuristic(path: str, name: str, function: FunctionType, shown: str) -> dict[str, Any]:
    """Evaluate a heuristic once; return its description with the error or warning, if any."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.position import Position

    error, line = "", None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            evaluator(f"{path}:{name}").measure(Position.from_fen(POSITION))
        except KnightfallError as wrong:
            error, line = str(wrong), _line(wrong)
        except Exception as wrong:
            error = f"{type(wrong).__name__}: {wrong}"
    ours = [one for one in caught if one.category.__module__.startswith("knightfall.")]
    note = str(ours[0].message) if ours and not error else ""
    row = _row(name, f"{shown}:{name}", function, error, note)
    for key in ("error", "note"):
        row[key] = row[key].replace(path, shown)
    row["line"] = line or row["line"]
    return row


def _players(path: str, shown: str) -> list[dict[str, Any]]:
    """Return the player classes of a submission, without running it; [] if the file is none."""
    from knightfall.course.submission import read_submission

    try:
        found = read_submission(path)
    except KnightfallError:
        return []
    if found.generation.on_11x9:
        return []
    return [
        _row(player.name, f"course:{shown}#{player.name}", None) for player in found.players[:MOST]
    ]


# -- the files --------------------------------------------------------------------------------


LOOK = 1.0
"""Seconds between two checks whether a file was edited."""

LOADING = 60.0
"""Seconds allowed for loading a file and compiling its heuristics."""


class WatchedFile:
    """A user's file, and the heuristics and agents found in it."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.seen = nothing_in_it()
        self.looking = False
        self._sources: dict[str, Stamp | None] = {}

    def is_edited(self) -> bool:
        """Return whether the file, or one that it depends on, has changed since it was loaded."""
        if not self._sources:
            return True
        return any(stamp(path) != before for path, before in self._sources.items())

    @property
    def version(self) -> str:
        """A text that changes when the file is edited."""
        return repr(sorted(self._sources.items()))

    def look(self) -> None:
        """Load the file in another process, block until that is done, and store the result."""
        stamps = {self.path: stamp(self.path)}
        if stamps[self.path] is None:
            found = nothing_in_it(f"{self.name}: the file no longer exists")
        else:
            try:
                found = run_isolated(contents_of, self.path, self.name, seconds=LOADING)
            except ChildExited as exited:
                found = nothing_in_it(f"{self.name} cannot be loaded: it {exited}")
        stamps |= {path: stamp(path) for path in found.pop("sources", ())}
        self._sources = stamps
        self.seen = found

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are sent to the browser."""
        return {"name": self.name, "looking": self.looking, **self.seen}


class WatchedFiles:
    """All user files that the command line names."""

    def __init__(self, paths: list[str], on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self.files: dict[str, WatchedFile] = {}
        for given in paths:
            path = checked_path(given)
            if path not in self.paths.values():
                name = listed_name(path, self.paths)
                self.files[name] = WatchedFile(name, path)

    @property
    def paths(self) -> dict[str, str]:
        """The full path of each file, by the name under which it is listed."""
        return {file.name: file.path for file in self.files.values()}

    def to_list(self) -> list[dict[str, Any]]:
        """Return the descriptions of all files, as they are sent to the browser."""
        return [file.to_dict() for file in self.files.values()]

    def version(self, paths: tuple[str, ...]) -> str:
        """Return a text that changes when any of the given files is edited."""
        return " ".join(file.version for file in self.files.values() if file.path in paths)

    async def watch(self, executor: Executor) -> None:
        """Load files again when they are edited, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            for file in self.files.values():
                if await loop.run_in_executor(executor, file.is_edited):
                    file.looking = True
                    self._on_change()
                    await loop.run_in_executor(executor, file.look)
                    file.looking = False
                    self._on_change()
            await asyncio.sleep(LOOK)


def checked_path(given: str) -> str:
    """Return a file's full path; raise a `KnightfallError` if the lab cannot load the file."""
    path = Path(os.path.expanduser(given))
    try:
        if not path.is_file():
            raise KnightfallError(f"there is no file {given!r}")
        path = path.resolve()
    except (OSError, ValueError) as error:
        raise KnightfallError(f"{given!r}: {error}") from None
    if path.suffix != ".py":
        raise KnightfallError(f"{given!r} is not a Python file: its name must end in .py")
    if not can_be_named(str(path)):
        raise KnightfallError(
            f"{str(path)!r}: the path must not contain , ( ) * or +, which agent strings use"
        )
    return str(path)
