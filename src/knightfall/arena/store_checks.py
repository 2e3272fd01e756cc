"""Open an SQLite file that may be damaged or malicious, and bound what its queries cost.

A file is a store only if its schema is that of a store (see `schema_fault`).  Its b-trees may still
be forged: pages that refer to one page many times give a small file endless tables.  SQLite's own
check of the structure takes time in proportion to the size of the file.  So it is made only when a
statement takes more steps than a sound file of this size needs, and when SQLite's write-ahead log,
a file beside the store, was not yet moved into the store: that log may belong to another store.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from knightfall.errors import KnightfallError
from knightfall.untrusted_input import shown

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
    return _bytes_of(path) + _bytes_of(beside(path, "-wal"))


def _bytes_of(path: Path) -> int:
    """Return the bytes of a file without the holes of a sparse file; 0 if it does not exist."""
    with suppress(OSError):
        status: Any = os.stat(path)
        return int(min(status.st_size, SPARSE * 512 * getattr(status, "st_blocks", 2**50)))
    return 0


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
    makes, and deletes the named file.  A journal also tells how large the store was: SQLite would
    enlarge it to petabytes.
    """
    if _has_bytes(path):
        with path.open("rb") as file:
            head = file.read(28).ljust(28, b"\0")
            pages, page = (int.from_bytes(head[at : at + 4], "big") for at in (16, 24))
            store = path.with_name(path.name.removesuffix("-journal"))
            if pages * page > _bytes_of(store) + _bytes_of(path):
                raise KnightfallError(
                    f"{path} is not a journal of the store beside it: it is of a store with "
                    f"{pages * page:,} bytes; move it away to open the store without it"
                )
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


# -- the schema ----------------------------------------------------------------------------------

APPLICATION = 0x4B464152  # "KFAR" in the file's header marks a store
VERSION = 1
# In every table but the first, the key begins with the run.  Rows are kept in the order of their
# keys, so a run has the same rows whether one worker played it or many.
TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the number of a deleted run is never used again
    key TEXT NOT NULL,                     -- equal for runs of the same plan and engine
    attempt INTEGER NOT NULL,              -- 1, and more where it was played again
    kind TEXT NOT NULL,
    plan TEXT NOT NULL,                    -- JSON
    total INTEGER NOT NULL,                -- pairs, if nothing stops the run sooner
    created TEXT NOT NULL,                 -- UTC
    finished TEXT,
    outcome TEXT,                          -- JSON
    versions TEXT NOT NULL,                -- JSON
    UNIQUE (key, attempt)
);
CREATE TABLE entrants (
    run INTEGER, number INTEGER, agent TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE matches (
    run INTEGER, number INTEGER,
    a INTEGER NOT NULL, b INTEGER NOT NULL,  -- entrants
    series INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE openings (
    run INTEGER, number INTEGER,             -- in order of first appearance
    fen TEXT NOT NULL, hunter TEXT NOT NULL,
    PRIMARY KEY (run, number), UNIQUE (run, fen)
) WITHOUT ROWID;
CREATE TABLE pairs (
    run INTEGER, number INTEGER,             -- 0, 1, 2, … without a gap
    match INTEGER NOT NULL, opening INTEGER NOT NULL, seed INTEGER NOT NULL,
    score INTEGER NOT NULL,                  -- games won by a: 0, 1 or 2
    first INTEGER NOT NULL,                  -- 1: a won the game in which it moves first
    repeats INTEGER,                         -- the earlier pair this one is identical to
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX pairs_by_opening ON pairs (run, match, opening);
CREATE TABLE games (
    run INTEGER, pair INTEGER, game INTEGER, -- a is w in game 0, b in game 1
    winner TEXT NOT NULL, reason TEXT NOT NULL,
    moves_w INTEGER NOT NULL, moves_b INTEGER NOT NULL,
    depth_w INTEGER NOT NULL, depth_b INTEGER NOT NULL,  -- sums over the moves of a side
    nodes_w INTEGER NOT NULL, nodes_b INTEGER NOT NULL,
    microseconds_w INTEGER NOT NULL, microseconds_b INTEGER NOT NULL,
    PRIMARY KEY (run, pair, game)
) WITHOUT ROWID;
CREATE TABLE thinking (
    run INTEGER, pair INTEGER, game INTEGER,
    cells BLOB NOT NULL, scores BLOB NOT NULL, depths BLOB NOT NULL, nodes BLOB NOT NULL,
    microseconds BLOB NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (run, pair, game)
) WITHOUT ROWID;
CREATE TABLE tallies (
    run INTEGER, match INTEGER, score INTEGER, game INTEGER, hunter TEXT, winner TEXT, reason TEXT,
    games INTEGER NOT NULL,                  -- how many such games, repeated pairs left out
    moves_w INTEGER NOT NULL, moves_b INTEGER NOT NULL,
    depth_w INTEGER NOT NULL, depth_b INTEGER NOT NULL,
    nodes_w INTEGER NOT NULL, nodes_b INTEGER NOT NULL,
    microseconds_w INTEGER NOT NULL, microseconds_b INTEGER NOT NULL,
    PRIMARY KEY (run, match, score, game, hunter, winner, reason)
) WITHOUT ROWID;
"""


class SchemaObject(NamedTuple):
    """An object of a schema, such as a table, an index or a trigger, as SQLite describes it."""

    type: object
    name: object
    table: object
    sql: object
    """The statement that created the object, without comments and with single spaces; None for the
    indexes that SQLite creates for keys."""

    def __str__(self) -> str:
        return f"{shown(self.type).strip(QUOTES)} {shown(self.name)}"


QUOTES = "'\""

MOST_OBJECTS = 50
"""Most objects of a schema that are read; a store has fewer."""


def schema_fault(db: sqlite3.Connection) -> str:
    """Return how the schema of a file differs from that of a store; empty if it does not.

    A schema is more than data: a trigger, a view, an index or a generated column contains
    expressions, which SQLite evaluates when a table is read or written.  So a file whose schema
    differs from that of a store is refused before its tables are used.
    This reads only SQLite's table of the schema, so no expression in the schema is evaluated.
    """
    found, roots = _objects(db)
    wanted = _store_objects()
    names = {(each.type, each.name) for each in wanted}
    for each in found:
        if each not in wanted:
            known = (each.type, each.name) in names
            return f"its {each} is defined differently" if known else f"it has the {each}"
    for each in wanted:
        if each not in found:
            return f"it lacks the {each}"
    if len(found) != len(wanted) or len(set(roots)) != len(roots):
        return "two of its tables and indexes have the same name or place"
    return ""


def _objects(db: sqlite3.Connection) -> tuple[list[SchemaObject], list[object]]:
    """Return the objects of a schema, and the first page of each."""
    rows = db.execute(
        "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master LIMIT ?", (MOST_OBJECTS,)
    ).fetchall()
    objects = [SchemaObject(r[0], r[1], r[2], _without_comments(r[3])) for r in rows]
    return objects, [row[4] for row in rows]


def _without_comments(sql: object) -> object:
    """Return a statement without comments and with single spaces.

    Only the characters that are spaces to SQLite count: others would be part of a name.  A store's
    statements have no quotes, so a statement with a comment in quotes is never equal to one.
    """
    if not isinstance(sql, str):
        return sql
    return re.sub(r"[ \t\n\f\r]+", " ", re.sub("--[^\n]*", "", sql)).strip(" ")


@cache
def _store_objects() -> tuple[SchemaObject, ...]:
    """Return the objects of a new store."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.executescript(TABLES)
        return tuple(_objects(db)[0])
    finally:
        db.close()
