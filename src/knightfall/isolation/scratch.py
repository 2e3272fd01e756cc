"""A scratch copy of what lies beside a submission: its working folder, in which it may do anything.

What is small comes first, and there is an end to it: somebody's file may lie in a folder of films.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 100 << 20
MOST_FILES = 2000
DEEPEST = 4
"""What is copied at most: bytes, files, folders within folders."""

LEFT_OUT = {"__pycache__", "node_modules", "venv", "env"}
"""Folders that hold nothing of the submission's own; hidden ones neither."""


def scratch_of(file: Path) -> str:
    """Return a new temporary folder with a copy of a file and of what lies beside it."""
    folder = tempfile.mkdtemp(prefix="knightfall-")
    try:
        copy_beside(file, Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def copy_beside(file: Path, into: Path) -> None:
    """Copy a file and what lies in its folder, as far as there is room for it."""
    shutil.copyfile(file, into / file.name)
    beside = [(size, name) for size, name in _listed(file.parent) if name != file.name]
    _copy(beside, file.parent, into)


def copy_some(files: Iterable[Path], top: Path, into: Path) -> None:
    """Copy some files of a folder, as far as there is room for them."""
    sizes: list[tuple[int, str]] = []
    for file in files:
        with suppress(OSError):
            sizes.append((file.stat().st_size, os.path.relpath(file, top)))
    _copy(sizes, top, into)


def _copy(files: list[tuple[int, str]], top: Path, into: Path) -> None:
    """Copy the smallest files first, and none for which there is no room."""
    bytes_left, files_left = MOST_BYTES, MOST_FILES
    for size, name in sorted(files):
        if size > bytes_left or not files_left:
            break
        target = into / name
        with suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(top / name, target)
            bytes_left -= size
            files_left -= 1


def _listed(top: Path) -> list[tuple[int, str]]:
    """The files of a folder with their sizes, not more than some thousands."""
    found: list[tuple[int, str]] = []
    for folder, inner, names in os.walk(top):
        depth = len(Path(folder).relative_to(top).parts)
        inner[:] = sorted(
            name
            for name in inner
            if depth < DEEPEST and not name.startswith(".") and name not in LEFT_OUT
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".pyc") or not os.path.isfile(path):  # it may have no end
                continue
            with suppress(OSError):
                found.append((os.path.getsize(path), os.path.relpath(path, top)))
            if len(found) > 2 * MOST_FILES:
                return found
    return found
