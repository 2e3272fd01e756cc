"""Play a run from copies of the users' files, so that editing a file does not disturb it.

The plan of the run still names the original files with their hashes.  Only the runner gets agents
that name the copies.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from knightfall.agents import cache_agent, cached_agent
from knightfall.arena.plan import Entrant, PairRecord, PairTask, Plan, file_hash, files_of
from knightfall.arena.runner import Runner
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import Closing


class Snapshot:
    """A folder with copies of the files of some agents, each under its full path.

    The other files of the same folder and of those above it are linked, so that they are found.
    The constructor raises a `KnightfallError` if a file does not have its hash in `files`.
    """

    def __init__(self, folder: str, files: Mapping[str, str], agents: Iterable[str]) -> None:
        from knightfall.isolation.scratch_folder import copy_beside

        self.folder = os.path.realpath(folder)
        self._agents: dict[str, str] = {}
        for text in agents:
            file = cached_agent(text).beside  # set if the agent may read any file beside its own
            if file is not None:
                copy = Path(self._copy_of(str(file)))
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy_beside(file, copy.parent)
        for path, expected in files.items():
            copy = Path(self._copy_of(path))
            copy.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # an unreadable file is reported below
                shutil.copyfile(path, copy)
            if not copy.is_file() or file_hash(str(copy)) != expected:
                raise KnightfallError(
                    f"{path} was edited since the run began, and its new text makes another run: "
                    "start a new one"
                )
        for path in files:
            self._link_neighbours(os.path.dirname(path))

    def agent(self, text: str) -> str:
        """Return an agent's string with the paths of its files replaced by those of the copies."""
        if text not in self._agents:
            self._agents[text] = cache_agent(cached_agent(text).relocated(self._moved))
        return self._agents[text]

    def plan(self, plan: Plan) -> Plan:
        """Return the same plan with agents that play from the copies."""
        moved = (Entrant(self.agent(one.agent), one.name) for one in plan.entrants)
        return replace(plan, entrants=tuple(moved))

    def enter(self) -> None:
        """Change to the copy of the working folder, if any, so that relative names mean copies."""
        here = self._copy_of(os.getcwd())
        if os.path.isdir(here):
            os.chdir(here)

    def not_copied(self, entrants: Iterable[Entrant]) -> dict[str, str]:
        """Return the files outside the snapshot that its entrants read, with their hashes.

        These are files that a user's code names by a full path.
        """
        inside = os.path.join(self.folder, "")
        found = files_of(entrants)
        return {path: at for path, at in found.items() if not path.startswith(inside)}

    def original(self, text: str) -> str:
        """Return a text with the paths of copies replaced by those of the originals."""
        return text.replace(self.folder, "")

    # -- copying -----------------------------------------------------------------------------

    def _copy_of(self, path: str) -> str:
        """Return the path of a file's copy."""
        return os.path.join(self.folder, os.path.relpath(path, os.path.abspath(os.sep)))

    def _moved(self, path: str, resolve: bool) -> str:
        """Return the path of a file's copy; if `resolve`, follow symbolic links first."""
        return self._copy_of(os.path.realpath(path) if resolve else os.path.abspath(path))

    def _link_neighbours(self, folder: str) -> None:
        """Link each file without a copy, in a folder and in all folders above it."""
        above = os.path.dirname(folder)
        if above != folder:
            self._link_neighbours(above)
        with suppress(OSError):  # a folder that cannot be listed has nothing to link
            for name in os.listdir(folder):
                copy = self._copy_of(os.path.join(folder, name))
                if not os.path.lexists(copy):
                    os.symlink(os.path.join(folder, name), copy)


class SnapshotRunner(Closing):
    """A runner that plays from a snapshot; its records name the original agents and files."""

    def __init__(self, runner: Runner, snapshot: Snapshot) -> None:
        self._runner, self._snapshot = runner, snapshot

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        snapshot, waiting = self._snapshot, dict[int, PairTask]()

        def moved() -> Iterator[PairTask]:
            for task in tasks:
                waiting[task.number] = task
                yield replace(task, a=snapshot.agent(task.a), b=snapshot.agent(task.b))

        with closing(self._runner.play(moved())) as records:
            for record in records:
                one, two = (
                    replace(game, detail=snapshot.original(game.detail)) for game in record.games
                )
                yield PairRecord(waiting.pop(record.task.number), (one, two))
