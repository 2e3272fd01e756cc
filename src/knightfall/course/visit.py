"""A submission loaded in a process that is not its own, for a function that is in it.

It finds the course's modules, its own files and the names of its time, as it does at home; and when
it is loaded, nothing of that is left: the next one may be of another generation, or call a module
of its own by the same name.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType

from knightfall.course.modules import files_named, reachable
from knightfall.course.old_names import for_a_while
from knightfall.course.paths import folder
from knightfall.isolation.scratch import copy_some

OURS = ("isolation", "sample_players")
"""The course's modules, which are but other names for ours."""


@contextmanager
def visiting(file: Path, generation: str) -> Iterator[None]:
    """Inside the block, this process is as a submission of a generation expects it.

    Its working folder is a scratch copy of the files that it names; what it prints goes nowhere.
    """
    place = str(folder(generation))
    trees = reachable(file, broken=True)
    before, here = _taken_away({*OURS, *_beside(trees, file.parent)}), os.getcwd()
    with (
        tempfile.TemporaryDirectory(prefix="knightfall-") as scratch,
        for_a_while(),
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
    """The modules of some names that are loaded, and are not any more."""
    names = [name for name in sys.modules if name.partition(".")[0] in tops]
    return {name: sys.modules.pop(name) for name in names}


def _beside(trees: Iterable[Path], folder: Path) -> Iterator[str]:
    """What a submission calls modules of its own, and is not Python's or was installed.

    Somebody else's module of the same name may be loaded: a notebook's, say.
    """
    for tree in trees:
        if not tree.is_relative_to(folder):
            continue
        name = tree.relative_to(folder).parts[0].removesuffix(".py")
        known = getattr(sys.modules.get(name), "__file__", None) or ""
        installed = {"site-packages", "dist-packages"} & set(Path(known).parts)
        if name not in sys.stdlib_module_names and not installed and name != "__main__":
            yield name
