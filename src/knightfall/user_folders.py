"""The user's data and cache folders, and atomic writing of files."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from knightfall.errors import KnightfallError

_fixed: list[tuple[Path, Path]] = []


def fix_folders() -> None:
    """Keep the folders for the rest of this process, whatever users' code does to its environment.

    These are the data folder, the cache folder and the system's folder for temporary files.
    """
    if not _fixed:
        tempfile.gettempdir()  # is kept by `tempfile`
        _fixed.append((data_folder(), cache_folder()))


def folders_are_fixed() -> bool:
    """Return whether `fix_folders` was called in this process."""
    return bool(_fixed)


def data_folder() -> Path:
    """Return the user's data folder, or KNIGHTFALL_DATA_DIR if set.  It may not exist yet."""
    if _fixed:
        return _fixed[0][0]
    override = os.environ.get("KNIGHTFALL_DATA_DIR")
    if override:
        return Path(override).absolute()
    from platformdirs import user_data_path

    return user_data_path("knightfall")


def make_private(folder: Path) -> None:
    """Create a folder that only the user can read and write.

    Raise OSError if it exists and belongs to another user.

    If others could read or write an existing folder, its permissions are corrected; if they could
    write, its content is deleted.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not hasattr(os, "geteuid"):  # Windows protects the user's folders itself
        return
    status = folder.stat()
    if {status.st_uid, folder.lstat().st_uid} != {os.geteuid()}:
        raise PermissionError(errno.EPERM, "the folder belongs to another user", str(folder))
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    if status.st_mode & 0o022:
        for inside in folder.iterdir():
            if inside.is_dir() and not inside.is_symlink():
                shutil.rmtree(inside)
            else:
                inside.unlink()


@contextmanager
def atomic_writer(path: Path, *, sync: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` when the block ends without an exception.

    Until then, and after any exception (Ctrl-C, too), a former file of that name stays as it was.
    With `sync`, the content is flushed to the disk first.  Several processes may write the same
    path: the last one to finish wins.
    """
    if path.exists() and not path.is_file():  # a terminal or a pipe; a folder is an error
        with path.open("wb") as file:
            yield file
        return
    with atomic_draft(path) as draft, draft.open("r+b") as file:
        yield file
        if sync:
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def atomic_draft(path: Path) -> Iterator[Path]:
    """Create an empty file next to `path` that replaces it when the block ends without exception.

    Missing parent folders are created.
    """
    there = path.resolve()
    draft = there.with_name(f".{there.name}.{secrets.token_hex(4)}.part")
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        # Not `tempfile`: only the owner could read its files.
        draft.open("xb").close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield draft
        os.replace(draft, there)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def atomic_write(path: Path, content: str | bytes, *, sync: bool = False) -> None:
    """Write a whole file atomically: on any error the former file stays.  Text is UTF-8."""
    with atomic_writer(path, sync=sync) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def check_output(path: Path, *, force: bool = True) -> None:
    """Raise a KnightfallError if a file cannot be written, before time is spent on its content.

    Missing folders are accepted, because `atomic_writer` creates them.  An existing file is refused
    unless `force`.
    """
    try:
        if path.is_dir():
            raise KnightfallError(f"{str(path)!r} is a folder: name a file")
        if path.exists() and not force:
            raise KnightfallError(f"file {str(path)!r} exists: --force replaces it")
        _check_folder(path.absolute().parent)
    except OSError as error:  # for example a name that is too long
        raise KnightfallError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def make_folder(folder: Path) -> None:
    """Create a folder and its parents.  Raise a KnightfallError if it cannot be written to."""
    try:
        _check_folder(folder.absolute())
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnightfallError(f"cannot create {str(folder)!r}: {error.strerror or error}") from None


def _check_folder(folder: Path) -> None:
    """Raise a KnightfallError if a folder cannot be created or cannot be written to."""
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir():
        raise KnightfallError(f"{str(there)!r} is a file: name a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise KnightfallError(f"no permission to write into the folder {str(there)!r}")
    # Permissions are not enough: for root /proc looks writable, and a disk may be read-only.
    probe = there / f".{secrets.token_hex(4)}.part"
    try:
        probe.open("xb").close()
    except OSError as error:
        raise KnightfallError(
            f"cannot write into the folder {str(there)!r}: {error.strerror or error}"
        ) from None
    probe.unlink(missing_ok=True)


def make_empty_folder(folder: Path) -> None:
    """Create an empty folder.  Raise a KnightfallError if it exists and is not empty.

    Unfinished files of an earlier `atomic_writer` do not count.
    """
    make_folder(folder)
    others = sorted(set(folder.iterdir()) - set(folder.glob(".*.part")))
    if others:
        raise KnightfallError(
            f"{str(folder)!r} is not empty (it has {others[0].name!r}): name a new folder"
        )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file while the block runs; other processes wait for it."""
    try:
        import fcntl
    except ImportError:  # Windows: no lock, the last of two writers wins
        yield
        return
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cache_folder() -> Path:
    """Return the user's cache folder, or KNIGHTFALL_CACHE_DIR if set.  It may not exist yet.

    All files in it can be computed again.
    """
    if _fixed:
        return _fixed[0][1]
    override = os.environ.get("KNIGHTFALL_CACHE_DIR")
    if override:
        return Path(override).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("knightfall")
