"""Where knightfall keeps what belongs to the user, and how files are written."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from knightfall.errors import KnightfallError


def data_folder() -> Path:
    """The user's data folder; KNIGHTFALL_DATA_DIR moves it.  It need not exist yet."""
    override = os.environ.get("KNIGHTFALL_DATA_DIR")
    if override:
        return Path(override).absolute()
    from platformdirs import user_data_path

    return user_data_path("knightfall")


def make_private(folder: Path) -> None:
    """Make a folder that nobody else can look into or write to; an OSError if it is not ours.

    One that was open to others is closed; what they may have put there is thrown away.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not hasattr(os, "geteuid"):  # Windows: a user's folder is the user's
        return
    status = folder.stat()
    if {status.st_uid, folder.lstat().st_uid} != {os.geteuid()}:
        raise PermissionError(errno.EPERM, "it belongs to somebody else", str(folder))
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
    """A file that takes its name when it is complete; with `sync`, when it is on the disk.

    Until then, and after any exception (Ctrl-C, too), whatever had that name before has it still.
    Several writers of one file do not get into each other's way: the last one's counts.
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
    """An empty file beside a path, which takes its name when the block is done, if it ever is.

    Folders of the path that are missing are made.
    """
    there = path.resolve()
    draft = there.with_name(f".{there.name}.{secrets.token_hex(4)}.part")
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        # Not by `tempfile`, whose files only their owner may read.
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
    """Write a whole file: all of it or, whatever happens, nothing.  Text is UTF-8."""
    with atomic_writer(path, sync=sync) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def check_output(path: Path, *, force: bool = True) -> None:
    """Raise a KnightfallError if a file could not be written, before work is spent on it.

    Missing folders are no obstacle, for `atomic_writer` makes them.  A file that exists is one,
    unless `force`.
    """
    try:
        if path.is_dir():
            raise KnightfallError(f"{str(path)!r} is a folder: name a file")
        if path.exists() and not force:
            raise KnightfallError(f"file {str(path)!r} exists: --force replaces it")
        _check_folder(path.absolute().parent)
    except OSError as error:  # such as a name that is too long
        raise KnightfallError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def make_folder(folder: Path) -> None:
    """Make a folder, with those around it; raise a KnightfallError if nothing can be put there."""
    try:
        _check_folder(folder.absolute())
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnightfallError(f"cannot make {str(folder)!r}: {error.strerror or error}") from None


def _check_folder(folder: Path) -> None:
    """Raise a KnightfallError if there can be no folder of that name to write into."""
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir():
        raise KnightfallError(f"{str(there)!r} is a file: name a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise KnightfallError(f"nothing may be written into the folder {str(there)!r}")
    # Permissions do not tell all: to root /proc looks writable, and a disk may be read-only.
    probe = there / f".{secrets.token_hex(4)}.part"
    try:
        probe.open("xb").close()
    except OSError as error:
        told = f"nothing can be written into the folder {str(there)!r}: {error.strerror or error}"
        raise KnightfallError(told) from None
    probe.unlink(missing_ok=True)


def begin_folder(folder: Path) -> None:
    """Make a folder; one that holds others' files is refused, but not one with drafts of ours."""
    make_folder(folder)
    strangers = sorted(set(folder.iterdir()) - set(folder.glob(".*.part")))
    if strangers:
        raise KnightfallError(
            f"{str(folder)!r} holds other files ({strangers[0].name!r}): name a new folder"
        )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with a file that is read, changed and written; others who ask for the lock wait."""
    try:
        import fcntl
    except ImportError:  # Windows: the last of two writers counts
        yield
        return
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cache_folder() -> Path:
    """The user's folder of what can be made anew; KNIGHTFALL_CACHE_DIR moves it."""
    override = os.environ.get("KNIGHTFALL_CACHE_DIR")
    if override:
        return Path(override).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("knightfall")
