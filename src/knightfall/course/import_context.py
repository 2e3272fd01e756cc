"""The environment in which a submission is imported and plays: modules, old names, and clocks.

It has the course's modules, the submission's own files, and the names that Python and numpy have
removed since 2017.

In the submission's own process this environment stays (`load_module`).  In a shared process
(`import_environment`) it is removed after loading: the next submission may be of another generation
or have a module of the same name.

A move is timed by the wall clock, or by clocks that count calls instead.
"""

from __future__ import annotations

import collections
import collections.abc
import datetime
import fractions
import importlib
import importlib.util
import inspect
import io
import math
import os
import sys
import time
import timeit
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from timeit import default_timer
from types import ModuleType
from typing import Any

from knightfall.course.generations import Generation, generation_named
from knightfall.course.submission import files_named, imports_numpy, reachable
from knightfall.isolation.scratch_folder import copy_some, empty_folder

OURS = ("isolation", "sample_players")
"""The course's modules, which this package provides."""


def load_module(file: Path, generation: Generation) -> ModuleType:
    """Import a submission under its own module name, with the course's modules first on the path.

    Call it only in the submission's own process: `sys.path`, `sys.argv` and the restored old names
    of Python and numpy stay changed.
    """
    paths = [str(generation.folder), str(file.parent)]
    if sys.path[:2] != paths:
        sys.path[:0] = paths
    sys.argv = [file.name]
    sys.dont_write_bytecode = True
    if any(imports_numpy(tree) for tree in reachable(file, broken=True).values()):
        with suppress(ImportError):
            importlib.import_module("numpy")
    restore_removed_names()
    importlib.invalidate_caches()
    if file.stem.isidentifier() and file.stem not in sys.modules:
        return importlib.import_module(file.stem)
    spec = importlib.util.spec_from_file_location("game_agent", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["game_agent"] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def import_environment(file: Path, generation: str) -> Iterator[None]:
    """Context manager: set up modules, path and folder as a generation's submission expects them.

    The working folder is a scratch copy of the files that the submission names.  Its output is
    discarded.
    """
    place = str(generation_named(generation).folder)
    trees = reachable(file, broken=True)
    before, here = _taken_away({*OURS, *_beside(trees, file.parent)}), os.getcwd()
    with (
        empty_folder() as scratch,
        removed_names_restored(),
        redirect_stdout(io.StringIO()),
    ):
        copy_some(files_named(trees, file.parent), file.parent, Path(scratch))
        sys.path.insert(0, place)
        os.chdir(scratch)
        try:
            yield
        finally:
            os.chdir(here)
            with suppress(ValueError):
                sys.path.remove(place)
            _taken_away({*OURS, *(name.partition(".")[0] for name in before)})
            sys.modules.update(before)


def _taken_away(tops: Collection[str]) -> dict[str, ModuleType]:
    """Remove modules with these top-level names from `sys.modules` and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] in tops]
    return {name: sys.modules.pop(name) for name in names}


def _beside(trees: Iterable[Path], folder: Path) -> Iterator[str]:
    """Yield the module names in a submission's folder that no Python or installed module has.

    A different module of the same name may be loaded already, for instance in a notebook.
    """
    for tree in trees:
        if not tree.is_relative_to(folder):
            continue
        name = tree.relative_to(folder).parts[0].removesuffix(".py")
        known = getattr(sys.modules.get(name), "__file__", None) or ""
        installed = {"site-packages", "dist-packages"} & set(Path(known).parts)
        if name not in sys.stdlib_module_names and not installed and name != "__main__":
            yield name


# -- names that Python and numpy have since removed --------------------------------------------


ABSTRACT = (
    "Callable", "Container", "Hashable", "Iterable", "Iterator", "Mapping", "MutableMapping",
    "MutableSequence", "MutableSet", "Sequence", "Set", "Sized",
)  # fmt: skip

NUMPY: dict[str, Any] = {
    "float": float,
    "int": int,
    "bool": bool,
    "object": object,
    "str": str,
    "complex": complex,
    "Inf": math.inf,
    "Infinity": math.inf,
    "infty": math.inf,
    "NINF": -math.inf,
    "PINF": math.inf,
    "NaN": math.nan,
}


def restore_removed_names() -> list[tuple[ModuleType, str]]:
    """Restore names that Python, and numpy if it is imported, have removed since 2017.

    Return the names that were added, as (module, name).
    """
    removed: list[tuple[ModuleType, dict[str, Any]]] = [
        (collections, {name: getattr(collections.abc, name) for name in ABSTRACT}),
        (time, {"clock": time.perf_counter}),
        (fractions, {"gcd": math.gcd}),
        (inspect, {"getargspec": inspect.getfullargspec}),
    ]
    if "numpy" in sys.modules:
        removed.append((sys.modules["numpy"], NUMPY))
    added = []
    for module, names in removed:
        for name in names.keys() - vars(module).keys():
            setattr(module, name, names[name])
            added.append((module, name))
    return added


@contextmanager
def removed_names_restored() -> Iterator[None]:
    """Restore the removed names of Python and numpy inside the block only."""
    added = restore_removed_names()
    try:
        yield
    finally:
        for module, name in added:
            with suppress(AttributeError):
                delattr(module, name)


TICK = 60
"""Microseconds by which a counted clock advances with each call of `time_left()`: 150 ms are 2,500
calls, the same number as the nodes that the course's own players may search here."""


class WallClock:
    """A real-time clock that starts when it is created; the limit is in milliseconds."""

    def __init__(self, limit: float) -> None:
        self._limit, self._start = limit, default_timer()

    def left(self) -> float:
        """Return the milliseconds left."""
        return self._limit - 1000.0 * (default_timer() - self._start)

    def late(self) -> float:
        """Return the milliseconds beyond the limit; negative while time is left."""
        return -self.left()


class CountedClock:
    """A clock that advances by one tick per call, including calls through Python's own clocks.

    Python's clocks continue from `before`, the seconds used by the same player's earlier moves.
    """

    def __init__(self, limit: float, before: float = 0.0) -> None:
        self._limit, self._before, self._tick = limit, before, TICK / 1000.0
        self._asked = 0
        self.asked_elsewhere = 0
        """How many of the calls came through Python's own clocks."""

    def left(self) -> float:
        """Return the milliseconds left; the call costs a tick."""
        self._asked += 1
        return -self.late()

    def late(self) -> float:
        """Return the milliseconds beyond the limit; negative while time is left."""
        return self._asked * self._tick - self._limit

    def seconds(self) -> float:
        """Return the seconds used so far, for Python's own clocks; the call costs a tick."""
        self._asked += 1
        self.asked_elsewhere += 1
        return self.passed

    @property
    def passed(self) -> float:
        """Return the seconds used by the player so far; costs no tick."""
        return self._before + self._asked * self._tick / 1000.0


# -- Python's own clocks -----------------------------------------------------------------------

CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")

BEGINNING = 1_483_228_800
"""The time that counted clocks start from, in seconds since 1970: the beginning of 2017."""

_running: list[Callable[[], float]] = []


@contextmanager
def running(seconds: Callable[[], float] | None) -> Iterator[None]:
    """Make Python's clocks return `seconds()` inside the block, or a fixed time if it is None.

    This has an effect only after `count_all_clocks`.
    """
    _running.append(seconds or (lambda: 0.0))
    try:
        yield
    finally:
        _running.pop()


def count_all_clocks() -> None:
    """Replace Python's clocks by clocks that show the time of `running`, for this process.

    Players that read `time.time()` and the like are then timed in ticks, too.  The clocks start at
    the same moment in every process, so that float rounding and seeds taken from the time repeat.
    Call it in the submission's own process before the submission is imported.  Outside of
    `running` the clocks show the real time.
    """
    if issubclass(datetime.datetime, _CountedDatetime):
        return
    for name in CLOCKS:
        setattr(time, name, _counted(getattr(time, name), 1))
        setattr(time, f"{name}_ns", _counted(getattr(time, f"{name}_ns"), 1_000_000_000))
    timeit.default_timer = time.perf_counter
    datetime.datetime = _CountedDatetime  # type: ignore[misc]


def _counted(real: Callable[[], Any], unit: int) -> Callable[[], Any]:
    kind = type(real())
    start = kind(unit * BEGINNING)
    return lambda: start + kind(unit * _running[-1]()) if _running else real()


class _CountedDatetime(datetime.datetime):
    """A datetime class whose `now`, `today` and `utcnow` show the time of `running`."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        if not _running:
            return super().now(tz)
        moment = cls.fromtimestamp(BEGINNING, datetime.UTC)
        moment += datetime.timedelta(seconds=_running[-1]())
        return moment.astimezone(tz) if tz else moment.astimezone().replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.UTC).replace(tzinfo=None)
