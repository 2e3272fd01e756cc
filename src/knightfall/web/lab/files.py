"""The files of the command line: what is in each, looked at again whenever it is edited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.user_files import Stamp, stamp
from knightfall.web.lab.look_at import nothing_in_it, seen_in
from knightfall.web.lab.names import can_be_named, listed_name

LOOK = 1.0
"""Seconds between two looks whether a file was edited."""

LOADING = 60.0
"""Seconds that a file may take to be loaded, its heuristics compiled."""


class KnownFile:
    """A file, and what was found in it."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.seen = nothing_in_it()
        self.looking = False
        self._sources: dict[str, Stamp | None] = {}

    def is_edited(self) -> bool:
        """Whether it, or a file that it depends on, is not what it was."""
        if not self._sources:
            return True
        return any(stamp(path) != before for path, before in self._sources.items())

    @property
    def version(self) -> str:
        """What changes when it is edited."""
        return repr(sorted(self._sources.items()))

    def look(self) -> None:
        """Find out what is in it; blocks until another process has loaded it."""
        stamps = {self.path: stamp(self.path)}
        if stamps[self.path] is None:
            found = nothing_in_it(f"{self.name}: there is no such file any more")
        else:
            try:
                found = run_isolated(seen_in, self.path, self.name, seconds=LOADING)
            except ChildExited as exited:
                found = nothing_in_it(f"{self.name} cannot be loaded: it {exited}")
        stamps |= {path: stamp(path) for path in found.pop("sources", ())}
        self._sources = stamps
        self.seen = found

    def to_dict(self) -> dict[str, Any]:
        """What a browser may know."""
        return {"name": self.name, "looking": self.looking, **self.seen}


class Library:
    """All files of the command line."""

    def __init__(self, paths: list[str], on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self.files: dict[str, KnownFile] = {}
        for given in paths:
            path = checked_path(given)
            if path not in self.paths.values():
                name = listed_name(path, self.paths)
                self.files[name] = KnownFile(name, path)

    @property
    def paths(self) -> dict[str, str]:
        """Full paths by name."""
        return {file.name: file.path for file in self.files.values()}

    def to_list(self) -> list[dict[str, Any]]:
        """What a browser may know."""
        return [file.to_dict() for file in self.files.values()]

    def version(self, paths: tuple[str, ...]) -> str:
        """What changes when one of some files is edited."""
        return " ".join(file.version for file in self.files.values() if file.path in paths)

    async def watch(self, executor: Executor) -> None:
        """Look at what was edited, for ever."""
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
    """The full path of a file of the command line."""
    path = Path(given).expanduser()
    try:
        if not path.is_file():
            raise KnightfallError(f"there is no file {given!r}")
        path = path.resolve()
    except (OSError, ValueError) as error:
        raise KnightfallError(f"{given!r}: {error}") from None
    if path.suffix != ".py":
        raise KnightfallError(f"{given!r} is no Python file: its name must end in .py")
    if not can_be_named(str(path)):
        raise KnightfallError(f"{str(path)!r}: an agent cannot hold a path with , ( ) * or + in it")
    return str(path)
