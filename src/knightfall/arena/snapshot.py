"""Play a run from private copies of the users' files, so that no edit of a file disturbs it.

A snapshot is taken when the plan of a run is made, before any code of the files runs.  The plan
names the original files with the hashes of their copies; only the agents that are loaded name the
copies.  So a run uses the files as they were when it began, in whatever process its games are
played.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

from knightfall.agents import cache_agent, cached_agent
from knightfall.arena.plan import Entrant, PairTask, Plan, file_hash
from knightfall.arena.run_options import Notice, ignore_notice
from knightfall.display.numbers import count
from knightfall.errors import KnightfallError
from knightfall.isolation import sigint
from knightfall.isolation.scratch_folder import copy_beside, remove_folder
from knightfall.user_files import original_paths, snapshot_root, snapshots_folder
from knightfall.user_folders import locked, make_private

MOST_LINKS = 1000
"""Most entries of a folder that a snapshot links."""

LARGEST = 1 << 30
"""Most bytes of a file that an agent reads while it is loaded."""

LOCK = ".lock"
"""A file in a snapshot's folder that is locked as long as the run goes on."""


class Snapshot:
    """Copies of the files of some agents, in a folder that only the user can read.

    Each file or folder that an agent names has a tree of its own, in which copies have the full
    paths of the originals.  For a function, the tree has copies of its file and of all in its
    folder that it imports and reads while it is loaded; other files there and above are links.
    For a submission, it has copies of the files in its folder.
    """

    def __init__(self) -> None:
        self._folder = ""
        self._held: IO[str] | None = None
        self._busy = threading.RLock()
        self._trees: dict[str, str] = {}  # by the path that an agent names
        self._targets: dict[str, str] = {}  # the same paths without symbolic links
        self._copies: dict[str, str] = {}  # the first copy of each original
        self._hashes: dict[str, str] = {}  # those of the copies, by original
        self._elsewhere: dict[str, str] = {}  # hashes of files that cannot be copied
        self._sizes: dict[str, int] = {}  # their sizes
        self._agents: dict[str, str] = {}
        self._sources: dict[str, tuple[str, ...]] = {}
        self._entered = ""  # the tree of the working folder

    # -- agents and files from the copies --------------------------------------------------

    def agent(self, text: str) -> str:
        """Return an agent's string that names copies; they are made at the first call."""
        if all(map(snapshot_root, cached_agent(text).files)):  # it names none, or copies already
            return text
        with self._busy:
            if text not in self._agents:
                self._copy_files_of(text)
                self._agents[text] = cache_agent(cached_agent(text).relocated(self._moved))
            return self._agents[text]

    def plan(self, plan: Plan) -> Plan:
        """Return the same plan with agents that play from the copies.

        Raise a `KnightfallError` if a file was edited since the plan was made.
        """
        now = self.files(plan.entrants)
        for path, expected in plan.files.items():
            if now.get(path) != expected:
                raise KnightfallError(
                    f"{path} was edited since the run began; the edited file belongs to a new run: "
                    "start one"
                )
        moved = (Entrant(self.agent(one.agent), one.name) for one in plan.entrants)
        return replace(plan, entrants=tuple(moved))

    def enter(self) -> None:
        """Change to a copy of the working folder, so that relative paths lead to copies.

        A file is copied when an agent reads it while loading; until then it is a symbolic link.
        """
        here = os.getcwd()
        tree = self._tree(f"working folder {here}")
        self._link_folder(here, tree)
        os.chdir(tree + here)
        self._entered = tree

    def task(self, task: PairTask) -> PairTask:
        """Return the same pair with agents that play from the copies."""
        return replace(task, a=self.agent(task.a), b=self.agent(task.b))

    def files(self, entrants: Iterable[Entrant]) -> dict[str, str]:
        """Return the original files that entrants depend on, with the hashes of the copies.

        This loads the copies, each once.
        """
        found: dict[str, str] = {}
        # All are copied before any of them is loaded, because loading runs their code.
        texts = [self.agent(text) for text in dict.fromkeys(one.agent for one in entrants)]
        for text in texts:
            agent = cached_agent(text)
            folders = [original_paths(folder) for folder in agent.folders()]
            if text not in self._sources:
                self._sources[text] = tuple(agent.sources())
            for path in self._sources[text]:
                found |= self._hash(path, folders)
        return dict(sorted(found.items()))

    def path(self, original: Path) -> Path:
        """Return the copy of a file, or the file itself if it has none."""
        return Path(self._copies.get(str(original), original))

    def edited(self) -> list[str]:
        """Return sentences that name the originals that were edited since they were copied."""
        # A file of another size is not read.
        found = [
            path
            for path, before in self._hashes.items()
            if _size(path) != _size(self._copies[path]) or _now(path) != before
        ]
        texts = []
        if found:
            more = f" and {count(len(found) - 1, 'more file')}" if found[1:] else ""
            verb = "were" if found[1:] else "was"
            texts.append(
                f"{found[0]}{more} {verb} edited during the run, which used the text from its "
                "beginning; the same command now begins another run"
            )
        texts += [
            f"{path} was edited during the run; it is not among the copies, because it is named "
            "by its full path or lies outside of the agent's folder: later games may have used its "
            "new text"
            for path, before in self._elsewhere.items()
            if _size(path) != self._sizes[path] or _now(path) != before
        ]
        return texts

    def close(self) -> None:
        """Remove the copies."""
        if self._entered:
            with suppress(OSError):
                os.chdir(original_paths(os.getcwd()))
            self._entered = ""
        if self._folder:
            remove_folder(self._folder)
            sigint.last_steps.pop(self._folder, None)
            self._folder = ""
        if self._held is not None:
            self._held.close()

    # -- copying -----------------------------------------------------------------------------

    def _copy_files_of(self, text: str) -> None:
        """Copy the files that an agent needs, as far as they are found without running code."""
        agent = cached_agent(text)
        if agent.beside is not None:
            for path in agent.files:
                key = os.path.abspath(path)
                if key not in self._trees:
                    tree = self._tree(key)
                    inside = tree + str(agent.beside.parent)
                    try:
                        os.makedirs(inside)
                        copy_beside(agent.beside, Path(inside))
                    except OSError as error:
                        raise KnightfallError(
                            f"{agent.beside}: {error.strerror or error}"
                        ) from None
                    for source in agent.sources():
                        self._copy(source, tree)
            return
        for function in agent.users_functions:
            key = self._resolved(function.path)
            if key not in self._trees and (files := function.files_to_copy()):
                tree = self._tree(key)
                for source in files:
                    self._link_folder(os.path.dirname(source), tree)
                    if source == key or _may_be_copied(source, function.folders()):
                        self._copy(source, tree)

    def _tree(self, key: str) -> str:
        """Return a new tree for the copy of the file or folder `key`."""
        if not self._folder:
            self._folder, self._held = _new_folder()
        self._trees[key] = tree = f"{self._folder}/{len(self._trees)}"
        os.mkdir(tree)
        return tree

    def _moved(self, path: str, resolve: bool) -> str:
        """Return the path of a copy; if `resolve`, follow the symbolic links of `path` first."""
        original = self._resolved(path) if resolve else os.path.abspath(path)
        return self._trees.get(original, "") + original

    def _resolved(self, path: str) -> str:
        """Return a path without symbolic links, as it was at the first call."""
        return self._targets.setdefault(os.path.abspath(path), os.path.realpath(path))

    def _copy(self, original: str, tree: str) -> None:
        """Copy a file into a tree; raise a `KnightfallError` if that fails."""
        target = tree + original
        _check_size(original)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.islink(target):
                os.unlink(target)
            shutil.copyfile(self._copies.get(original, original), target)
        except OSError as error:
            raise KnightfallError(f"{original}: {error.strerror or error}") from None
        if original not in self._copies:
            self._copies[original], self._hashes[original] = target, file_hash(target)

    def _hash(self, path: str, folders: Iterable[str]) -> dict[str, str]:
        """Return the original of a file that an agent says it has read, with its hash.

        If it was read through a link of a tree, a copy replaces the link; but only if it lies in
        one of the agent's folders: the agent can read the copy, and it may have lied.
        """
        path = os.path.normpath(path) if snapshot_root(path) else path
        original, tree = original_paths(path), snapshot_root(path)
        if tree and (os.path.realpath(path) == path or not os.path.isfile(path)):
            found = self._hashes.get(original)
            return {} if found is None else {original: found}  # the agent may have written it
        if tree in self._trees.values() and _may_be_copied(original, folders):
            self._link_folder(os.path.dirname(original), tree)
            self._copy(original, tree)
            return {original: self._hashes[original]}
        _check_size(original)
        self._sizes.setdefault(original, _size(original))
        return {original: self._elsewhere.setdefault(original, file_hash(original))}

    def _link_folder(self, folder: str, tree: str) -> None:
        """Make a folder of a tree that has a link to each entry of the original."""
        there = tree + folder
        if os.path.isdir(there) and not os.path.islink(there):
            return
        above = os.path.dirname(folder)
        if above != folder:
            self._link_folder(above, tree)
        if os.path.islink(there):
            os.unlink(there)
        os.makedirs(there)
        with suppress(OSError), os.scandir(folder) as entries:  # an unreadable folder has no links
            for entry in islice(entries, MOST_LINKS):
                with suppress(OSError):
                    os.symlink(entry.path, os.path.join(there, entry.name))


def _may_be_copied(file: str, folders: Iterable[str]) -> bool:
    """Return whether a sandbox shows a file: it and its target lie in one of the folders, and no
    name on the way begins with a dot.
    """
    for folder in map(os.path.realpath, folders):
        target = Path(os.path.realpath(file))
        if target.is_relative_to(folder):
            return not any(part.startswith(".") for part in target.relative_to(folder).parts)
    return False


def _check_size(path: str) -> None:
    """Raise a `KnightfallError` if a file is too large to be copied and compared."""
    if _size(path) > LARGEST:
        raise KnightfallError(
            f"{path} has {_size(path):,} bytes; an agent can read files of at most {LARGEST:,} "
            "while it is loaded"
        )


def _size(path: str) -> int:
    """Return the bytes of a file; -1 if it does not exist."""
    with suppress(OSError):
        return os.path.getsize(path)
    return -1


def _now(path: str) -> str:
    """Return the hash of a file; "" if it cannot be read."""
    try:
        return file_hash(path)
    except KnightfallError:
        return ""


# -- the snapshot of the run under way -------------------------------------------------------

_current: ContextVar[Snapshot | None] = ContextVar("snapshot", default=None)


@contextmanager
def run_snapshot(notice: Notice = ignore_notice) -> Iterator[Snapshot]:
    """Yield the current run's snapshot; outside of a run, a new one, removed afterwards.

    Errors raised in the block name the original files.  When a new snapshot ends, notices name the
    files that were edited meanwhile.
    """
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    taken = Snapshot()
    token = _current.set(taken)
    try:
        yield taken
    except KnightfallError as error:
        error.args = tuple(original_paths(a) if isinstance(a, str) else a for a in error.args)
        raise
    finally:
        _current.reset(token)
        for text in taken.edited():
            notice(text)
        taken.close()


def current_snapshot() -> Snapshot | None:
    """Return the snapshot of the run under way; None outside of a run."""
    return _current.get()


def as_played(text: str) -> str:
    """Return an agent's string that names the copies of the run under way, if there is one."""
    taken = _current.get()
    return text if taken is None else taken.agent(text)


# -- folders of snapshots --------------------------------------------------------------------


def _new_folder() -> tuple[str, IO[str] | None]:
    """Make the folder of a snapshot, and lock it for this process.

    Snapshots that killed commands have left are removed.
    """
    parent = snapshots_folder()
    try:
        make_private(parent)
        with locked(parent / "folders"):
            remove_leftovers()
            folder = tempfile.mkdtemp(prefix="run_", dir=parent)
            held = _lock(os.path.join(folder, LOCK))
    except OSError as error:
        raise KnightfallError(
            f"cannot copy the users' files to {str(parent)!r}: {error.strerror or error} "
            "(KNIGHTFALL_CACHE_DIR names another folder)"
        ) from None
    sigint.last_steps[folder] = lambda: remove_folder(folder)
    return folder, held


def remove_leftovers() -> None:
    """Remove the snapshots of commands that were killed: their lock files are not locked."""
    with suppress(OSError):
        for name in os.listdir(snapshots_folder()):
            folder = snapshots_folder() / name
            if folder.is_dir() and (held := _lock(str(folder / LOCK))) is not None:
                remove_folder(str(folder))
                held.close()


def _lock(file: str) -> IO[str] | None:
    """Lock a file, and return it open; None if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows: snapshots of killed commands are not removed
        return None
    opened = open(file, "w")  # noqa: SIM115 - stays open as long as the lock is held
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        opened.close()
        return None
    return opened
