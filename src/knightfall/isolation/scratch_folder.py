"""Copy a submission's folder to a scratch folder, in which it runs and may change anything.

Small files are copied first, up to a limit, because the folder may also hold large unrelated files.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 100 << 20
LARGEST = 100 << 20
MOST_FILES = 2000
DEEPEST = 4
"""Limits of a copy: bytes, bytes of the submission's own file, files, and depth of folders."""

LEFT_OUT = {"__pycache__", "node_modules", "venv", "env"}
"""Folders that are not copied; hidden ones are not copied, either."""


def scratch_of(file: Path) -> str:
    """Return a new temporary folder with a copy of a file and of its folder."""
    folder = tempfile.mkdtemp(prefix="knightfall-")
    try:
        copy_beside(file, Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def copy_beside(file: Path, into: Path) -> None:
    """Copy a file and the other files of its folder, up to the limits of this module.

    Raise `OSError` if the file itself is too large.
    """
    if file.stat().st_size > LARGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    shutil.copyfile(file, into / file.name)
    beside = [(size, name) for size, name in _listed(file.parent) if name != file.name]
    _copy(beside, file.parent, into)


def copy_some(files: Iterable[Path], top: Path, into: Path) -> None:
    """Copy the given files of a folder, up to the limits of this module."""
    sizes: list[tuple[int, str]] = []
    for file in files:
        with suppress(OSError):
            sizes.append((file.stat().st_size, os.path.relpath(file, top)))
    _copy(sizes, top, into)


def _copy(files: list[tuple[int, str]], top: Path, into: Path) -> None:
    """Copy files, the smallest first, until a limit is reached."""
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


def leads_out(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a path leads out of a folder, by a symbolic link for example.

    The author of a submission must not read other files of whoever lets it play.
    """
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _listed(top: Path) -> list[tuple[int, str]]:
    """Return the files of a folder with their sizes, some thousands at most."""
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
            if name.endswith(".pyc") or not os.path.isfile(path):  # skip pipes and devices
                continue
            if os.path.islink(path) and leads_out(path, top):
                continue
            with suppress(OSError):
                found.append((os.path.getsize(path), os.path.relpath(path, top)))
            if len(found) > 2 * MOST_FILES:
                return found
    return found
