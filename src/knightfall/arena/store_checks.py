"""Open an SQLite file that may be damaged or malicious, and bound what its queries cost.

A file is a store only if its schema is that of a store (see `store_schema`).  Its b-trees may still
be forged: pages that refer to one page many times give a small file endless tables.  SQLite's own
check of the structure takes time in proportion to the size of the file.  So it is made only when a
statement takes more steps than a sound file of this size needs, and when SQLite's write-ahead log,
a file beside the store, was not yet moved into the store: that log may belong to another store.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from knightfall.arena.store_schema import APPLICATION, VERSION, schema_fault
from knightfall.errors import KnightfallError

LONGEST = 2**24
"""Most bytes of a value or a row; a plan with a huge book has some hundred thousand."""

LONGEST_NUMBER = 2**12
"""Most bytes of a value in a query for numbers; the schema's statements are shorter, too."""

STEPS = 1000
"""Steps of SQLite's virtual machine, about 20 µs, after which Ctrl-C takes effect."""

MOST_STEPS_TO_OPEN = 20_000
USUAL_STEPS = 100_000
"""Steps of a statement above which they are compared with the size of the file."""

USUAL_STEPS_PER_BYTE = 0.25
"""Steps per byte of the file that a statement may take; ours take at most a tenth of it."""

USUAL_BYTES = 2**24
"""Bytes of a query's rows above which they are compared with the size of the file."""

SPARSE = 16
"""A file that is this many times longer than its space on the disk is mostly holes."""

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
LOG_MAGICS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\0\0\0\0")
"""First bytes of a write-ahead log; after a power cut the log may consist of zeros."""


class StepLimit:
    """SQLite's progress handler of a connection: it bounds statements, and lets Ctrl-C end them.

    `size` returns the bytes of the file, and `structure_fault` what is wrong with its structure.
    """

    def __init__(self, size: Callable[[], int], structure_fault: Callable[[], str]) -> None:
        self._size, self._structure_fault = size, structure_fault
        self._steps, self._most = 0, MOST_STEPS_TO_OPEN
        self._sound = False
        self.fault = ""
        """Why a statement was ended; empty if Ctrl-C ended it."""

    def begin(self) -> None:
        """Count the steps of another statement."""
        self._steps, self._most, self.fault = 0, USUAL_STEPS, ""

    def lift(self) -> None:
        """Remove the limit, for SQLite's check of the structure, which visits each page once."""
        self._sound = True

    def __call__(self) -> int:
        """Return 1 if the statement must end; SQLite calls this after each `STEPS` steps."""
        self._steps += STEPS
        if self._steps > self._most and not self._sound:
            if self._most == MOST_STEPS_TO_OPEN:
                self.fault = "its schema has too many objects"
            else:
                self._check(self._steps / USUAL_STEPS_PER_BYTE)
        return 1 if self.fault else 0

    def check_bytes(self, count: int) -> None:
        """Check the structure if a query returns more bytes than the file has."""
        if count > USUAL_BYTES:
            self._check(count)

    def _check(self, needed: float) -> None:
        """Check the file's structure, at most once, if the file has fewer than `needed` bytes."""
        if not self._sound and needed > self._size():
            try:
                self.fault = self._structure_fault()
            except KnightfallError as error:
                self.fault = str(error)
            self._sound = not self.fault


def connect(path: Path, options: str, busy_seconds: float) -> tuple[sqlite3.Connection, StepLimit]:
    """Open a file with options of an SQLite URI, and check that it is a store or empty."""
    to_read = options if "immutable" in options else READING
    limit = StepLimit(partial(_size, path), partial(structure_fault, path, to_read))
    db = sqlite3.connect(
        f"{path.as_uri()}?{options}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,  # transactions begin only in `writing` and `snapshot`
    )
    try:
        db.set_progress_handler(limit, STEPS)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**16)  # of the schema's statements
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA mmap_size = 0")
        _check_is_store(db, path)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        limit.begin()
    except sqlite3.Error as error:
        db.close()
        if primary_code(error) == sqlite3.SQLITE_TOOBIG:
            limit.fault = "a statement of its schema is too long"
        if limit.fault:
            raise not_a_store(path, limit.fault) from None
        raise
    except BaseException:
        db.close()
        raise
    return db, limit


def _check_is_store(db: sqlite3.Connection, path: Path) -> None:
    """Raise a `KnightfallError` if the file is not a store that this version can read."""
    db.execute("BEGIN")  # one transaction, because another process may be creating it
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    objects = db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    fault = schema_fault(db) if version == VERSION else ""
    db.execute("COMMIT")
    if application != APPLICATION and objects:
        raise KnightfallError(f"{path} is an SQLite file, but not a store of runs")
    if version > VERSION:
        raise KnightfallError(
            f"{path} was written by a newer knightfall (its version is {version}, this "
            f"one reads up to {VERSION}): update knightfall, or name another file by --store"
        )
    if fault:
        raise not_a_store(path, fault)
    if version != VERSION and (version or objects):
        raise not_a_store(path, f"its version is {version}, and it has tables")


def not_a_store(path: Path, why: str) -> KnightfallError:
    """Return the error about an SQLite file that differs from the stores that knightfall makes."""
    return KnightfallError(
        f"{path} is not a store as knightfall makes it: {why}; nothing in it was used"
    )


READING = "mode=ro"
"""The options of a connection that never moves a log into its store, not even when it is closed."""


def structure_fault(path: Path, options: str = READING) -> str:
    """Return what is wrong with the structure of a store, by a check in a new connection.

    The text is empty if the structure is sound, or the file cannot be opened or is locked.  Raise a
    `KnightfallError` if the file is not a store.
    """
    try:
        db, limit = connect(path, options, 0.0)
        try:
            limit.lift()
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from None
        found = str(error) if primary_code(error) in _BROKEN else "ok"
    except UnicodeDecodeError:  # SQLite's message quotes damaged bytes
        found = "its schema is not valid UTF-8"
    return "" if found == "ok" else " ".join(found.split())[:200]


_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def check_log(path: Path) -> None:
    """Raise a `KnightfallError` if a store and the log beside it do not belong together.

    This must be done before anything moves the log into the store.
    """
    log = beside(path, "-wal")
    try:
        fault = structure_fault(path)
    except KnightfallError as error:
        fault = str(error)
    if not fault:
        return
    if alone := structure_fault(path, "mode=ro&immutable=1"):  # without the log
        raise KnightfallError(f"{path} is damaged: {alone}")
    raise KnightfallError(
        f"{path} does not fit its log {log.name} ({fault}): one of them was copied, restored or "
        "replaced without the other; move the log to another folder to open the store without it"
    )


def _size(path: Path) -> int:
    """Return the bytes of a store and of its log, without the holes of a sparse file."""
    total = 0
    for each in (path, beside(path, "-wal")):
        with suppress(OSError):
            status: Any = os.stat(each)
            total += min(status.st_size, SPARSE * 512 * getattr(status, "st_blocks", 2**50))
    return total


# -- the files ---------------------------------------------------------------------------------


def beside(path: Path, end: str) -> Path:
    """Return the path of a file that SQLite keeps beside a store, by the end of its name."""
    return path.with_name(path.name + end)


def check_files(path: Path) -> None:
    """Raise a `KnightfallError` if a store or a file beside it is not what SQLite leaves there.

    SQLite writes to these files as soon as it opens the store.  With a store from another person, a
    link beside it would redirect the writes, and a journal can name a file for SQLite to delete.
    """
    try:
        _check_kind(path, os.stat)
        for end in ("-wal", "-shm", "-journal"):
            _check_kind(beside(path, end), os.lstat)
        _check_journal(beside(path, "-journal"))
        _check_log(beside(path, "-wal"))
    except KnightfallError:
        raise
    except PermissionError:
        return  # SQLite raises the same error, which the caller reports
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise KnightfallError(f"cannot open {path}: {said}") from None


def _check_kind(path: Path, status_of: Callable[[Path], os.stat_result]) -> None:
    """Raise a `KnightfallError` if something that is not a regular file has this name."""
    with suppress(FileNotFoundError):
        mode = status_of(path).st_mode
        if stat.S_ISDIR(mode):
            raise KnightfallError(f"{path} is a folder; a store must be a file")
        if not stat.S_ISREG(mode):
            what = "a link" if stat.S_ISLNK(mode) else "a pipe or a device"
            raise KnightfallError(f"{path} is {what}, not a file: it is not opened")


def _check_journal(path: Path) -> None:
    """Raise a `KnightfallError` if a journal names another file.

    SQLite writes such journals only for transactions in several files, which knightfall never
    makes, and deletes the named file.
    """
    if _has_bytes(path):
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(JOURNAL_MAGIC)))
            if file.read() == JOURNAL_MAGIC:
                raise KnightfallError(
                    f"{path} is not a journal that knightfall wrote: it names another file, which "
                    "SQLite would delete; move it away to open the store without it"
                )


def _check_log(path: Path) -> None:
    """Raise a `KnightfallError` if a log is not one of SQLite's: SQLite would empty the file."""
    if _has_bytes(path):
        with path.open("rb") as file:
            if file.read(4) not in LOG_MAGICS:
                raise KnightfallError(
                    f"{path} is not SQLite's log of the store beside it: it is damaged or another "
                    "file; move it away to open the store without its latest writes"
                )


def _has_bytes(path: Path) -> bool:
    """Return whether a file exists and is not empty."""
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def has_log(path: Path) -> bool:
    """Return whether a store has a log with writes that are not yet moved into the store."""
    try:
        return _has_bytes(beside(path, "-wal"))
    except OSError:
        return False


# -- errors ------------------------------------------------------------------------------------


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code for an error; 0 if the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
