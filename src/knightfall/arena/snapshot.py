"""A run that plays from copies of the users' files, so that editing one does not disturb it.

The run stays what it is: its plan names the original files with their hashes.  Only the runner is
given agents that name the copies.
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
    """Copies of the files of some agents, each in a folder by its full path.

    What a file finds next to it and what it finds above is there as well, as links.

    Raises a `KnightfallError` if a file does not have the hash that is given with it.
    """

    def __init__(self, folder: str, files: Mapping[str, str], agents: Iterable[str]) -> None:
        self.folder = os.path.realpath(folder)
        self._agents: dict[str, str] = {}
        for file in [one for text in agents for one in self._submissions(text)]:
            self._copy_beside(file)
        for path, expected in files.items():
            copy = Path(self._copy_of(path))
            copy.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # one that cannot be read is told of below
                shutil.copyfile(path, copy)
            if not copy.is_file() or file_hash(str(copy)) != expected:
                raise KnightfallError(
                    f"{path} was edited since the run began: with its new text it would be another "
                    "run; start that one"
                )
        for path in files:
            self._link_neighbours(os.path.dirname(path))

    def agent(self, text: str) -> str:
        """Return the agent that plays from the copies."""
        if text not in self._agents:
            self._agents[text] = cache_agent(cached_agent(text).relocated(self._moved))
        return self._agents[text]

    def plan(self, plan: Plan) -> Plan:
        """Return the same plan with agents that play from the copies."""
        moved = (Entrant(self.agent(one.agent), one.name) for one in plan.entrants)
        return replace(plan, entrants=tuple(moved))

    def enter(self) -> None:
        """Work in the copy of the working folder, if there is one: files may be read from there."""
        here = self._copy_of(os.getcwd())
        if os.path.isdir(here):
            os.chdir(here)

    def not_copied(self, entrants: Iterable[Entrant]) -> dict[str, str]:
        """Return the files, with their hashes, that entrants of this snapshot read elsewhere.

        Such are files that are named by a full path.
        """
        inside = os.path.join(self.folder, "")
        found = files_of(entrants)
        return {path: at for path, at in found.items() if not path.startswith(inside)}

    def original(self, text: str) -> str:
        """Return a text with the copies' paths replaced by the originals'."""
        return text.replace(self.folder, "")

    # -- copying -----------------------------------------------------------------------------

    def _copy_of(self, path: str) -> str:
        return os.path.join(self.folder, os.path.relpath(path, os.path.abspath(os.sep)))

    def _moved(self, path: str, resolve: bool) -> str:
        return self._copy_of(os.path.realpath(path) if resolve else os.path.abspath(path))

    @staticmethod
    def _submissions(text: str) -> Iterator[Path]:
        """Yield the file of an agent that may read whatever lies beside it."""
        beside = cached_agent(text).beside
        if beside is not None:
            yield beside

    def _copy_beside(self, file: Path) -> None:
        from knightfall.isolation.scratch import copy_beside

        copy = Path(self._copy_of(str(file)))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy_beside(file, copy.parent)

    def _link_neighbours(self, folder: str) -> None:
        """Link what lies in a folder and in those above it, unless it is there already."""
        above = os.path.dirname(folder)
        if above != folder:
            self._link_neighbours(above)
        with suppress(OSError):  # what cannot be listed is not looked for by listing
            for name in os.listdir(folder):
                copy = self._copy_of(os.path.join(folder, name))
                if not os.path.lexists(copy):
                    os.symlink(os.path.join(folder, name), copy)


class SnapshotRunner(Closing):
    """Has the pairs of a plan played from a snapshot; the records are those of the plan itself."""

    def __init__(self, runner: Runner, taken: Snapshot) -> None:
        self._runner, self._taken = runner, taken

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        taken, waiting = self._taken, dict[int, PairTask]()

        def moved() -> Iterator[PairTask]:
            for task in tasks:
                waiting[task.number] = task
                yield replace(task, a=taken.agent(task.a), b=taken.agent(task.b))

        with closing(self._runner.play(moved())) as records:
            for record in records:
                one, two = (
                    replace(game, detail=taken.original(game.detail)) for game in record.games
                )
                yield PairRecord(waiting.pop(record.task.number), (one, two))
