"""Copy a submission's folder to a scratch folder, in which it runs and may change anything.

Small files are copied first, up to a limit, because the folder may also hold large unrelated files.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOST_BYTES = 100 << 20
LARGEST = 100 << 20
MOST_FILES = 2000
DEEPEST = 4
"""Limits of a copy: bytes, bytes of the submission's own file, files, and depth of folders."""

MOST_REMOVED = 100_000
"""Depth of folders up to which a folder is removed."""

LEFT_OUT = {"__pycache__", "node_modules", "venv", "env"}
"""Folders that are not copied; hidden ones are not copied, either."""


def scratch_of(file: Path) -> str:
    """Return a new temporary folder with a copy of a file and of its folder."""
    folder = tempfile.mkdtemp(prefix="knightfall-")
    try:
        copy_beside(file, Path(folder))
    except BaseException:
        remove_folder(folder)
        raise
    return folder


@contextmanager
def empty_folder() -> Iterator[str]:
    """Make an empty temporary folder for user code, which is removed at the end of the block."""
    folder = tempfile.mkdtemp(prefix="knightfall-")
    try:
        yield folder
    finally:
        remove_folder(folder)


def remove_folder(folder: str) -> None:
    """Remove a folder with all that user code may have left in it; errors are ignored.

    There may be folders within folders by the thousand, and some that nobody may open.
    """
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if os.rename not in os.supports_dir_fd or not os.path.isdir(folder):
        return
    with suppress(OSError):
        os.chmod(folder, 0o700)
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for _ in range(MOST_REMOVED):
                if not _empty(top, top):
                    os.rmdir(folder)
                    break
        finally:
            os.close(top)


def _empty(there: int, top: int) -> bool:
    """Remove what is in a folder, and return whether it had folders with something in them.

    What is in those is moved to the folder `top`.  Both folders are given as descriptors.
    """
    left = False
    with os.scandir(there) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in names:
        with suppress(OSError):
            if not is_folder:
                os.unlink(name, dir_fd=there)
                continue
            os.chmod(name, 0o700, dir_fd=there)
            if there != top:
                os.rename(name, secrets.token_hex(8), src_dir_fd=there, dst_dir_fd=top)
                continue
            left = True
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=there)
            try:
                _empty(inner, top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=there)
    return left


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
