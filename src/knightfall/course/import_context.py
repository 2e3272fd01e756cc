"""The environment in which a submission is imported.

It has the course's modules, the submission's own files, and the names that Python and numpy have
removed since 2017.

In the submission's own process this environment stays (`load_module`).  In a shared process
(`import_environment`) it is removed after loading: the next submission may be of another generation
or have a module of the same name.
"""

from __future__ import annotations

import collections
import collections.abc
import fractions
import importlib
import importlib.util
import inspect
import io
import math
import os
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from knightfall.course.generations import Generation, generation_named
from knightfall.course.submission_files import files_named, imports_numpy, reachable
from knightfall.isolation.scratch_folder import copy_some

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
        tempfile.TemporaryDirectory(prefix="knightfall-") as scratch,
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
