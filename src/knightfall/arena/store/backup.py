"""A copy of a whole store, good at any moment: while runs are going on, and after any accident."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from knightfall.arena.store.store import Store
from knightfall.errors import KnightfallError
from knightfall.files import atomic_draft, check_output

BESIDE = ("-wal", "-journal", "-shm")
"""The ends of the names of files that belong to a store that is being written."""


def back_up(
    store: Store,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    on_progress: Callable[[int, int], None] = lambda left, of: None,
) -> Path:
    """Copy a store to a file, whole or not at all; the file's full path.

    It is the store of one moment, made by SQLite itself: what is only in the file beside it
    (``-wal``) is in the copy, and runs that are going on need not stop.
    """
    target = _checked(store, Path(path), force)
    try:
        with atomic_draft(target) as draft:
            store.file.back_up(draft, on_progress)
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
    except OSError as error:
        raise KnightfallError(f"cannot write {str(target)!r}: {error.strerror or error}") from None
    return target


def _checked(store: Store, path: Path, force: bool) -> Path:
    try:
        target = path.expanduser().absolute()
        if target.exists() and target.samefile(store.file.path):
            raise KnightfallError(f"{str(path)!r} is the store itself: name another file")
        check_output(target, force=force)
        # SQLite would take what they hold for a part of the copy.
        for beside in (target.with_name(target.name + end) for end in BESIDE):
            if beside.exists():
                raise KnightfallError(
                    f"{str(path)!r} is a store in use: {beside.name} lies beside it; name another"
                )
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown
        raise KnightfallError(f"cannot write {str(path)!r}: {error}") from None
    return target
