"""The SQLite file that holds runs: its tables, its error messages, and pairs as rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.arena.plan import (
    COLUMN_FORMATS,
    REASONS,
    Column,
    GameRecord,
    PairRecord,
    PairTask,
    Plan,
    may_repeat,
)
from knightfall.errors import KnightfallError, NotFound
from knightfall.files import data_folder
from knightfall.position import Position

PAGES_AT_ONCE = 1024
"""Pages that a backup copies at once; Ctrl-C takes effect after them."""

APPLICATION = 0x4B464152  # "KFAR" in the file's header marks a file of ours
VERSION = 1
BUSY_SECONDS = 30.0
"""Seconds to wait for another process that is writing; a batch of pairs takes milliseconds."""

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
RUN_TABLES = ("entrants", "matches", "openings", "pairs", "games", "thinking", "tallies")
SUMS = (
    "moves_w", "moves_b", "depth_w", "depth_b",
    "nodes_w", "nodes_b", "microseconds_w", "microseconds_b",
)  # fmt: skip
"""The columns with sums over the moves of a game, and in `tallies` over many games, by side."""

IN_MEMORY = ":memory:"
"""The path of a store in memory, which is lost when it is closed."""


def user_store() -> Path:
    """Return the path of the store that the command line uses by default."""
    return data_folder() / "arena.sqlite"


class StoreFile:
    """The connection to a store.  SQLite errors are raised as `KnightfallError`s with the path."""

    def __init__(self, path: str | os.PathLike[str] | None, read_only: bool) -> None:
        self._read_only = read_only
        self.in_memory = path == IN_MEMORY
        if self.in_memory:
            self.path = Path("memory")
            self._db = sqlite3.connect(IN_MEMORY, isolation_level=None)
            self._create(self._db)
            return
        self.path = Path(os.path.expanduser(path or user_store())).absolute()
        if self.path.is_dir():
            raise KnightfallError(f"{self.path} is a folder: a store is one file")
        with self._errors():
            self._db = self._reader() if read_only else self._writer()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- reading and writing ---------------------------------------------------------------

    def rows(
        self, query: str, values: Sequence[Any] = (), kinds: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return all rows of a query.

        `kinds` gives a type for each column; raise a `KnightfallError` if a damaged file holds a
        value of another type.
        """
        with self._errors():
            rows = self._db.execute(query, values).fetchall()
        for column, kind in enumerate(kinds or ()):
            wrong = next((row for row in rows if not isinstance(row[column], kind)), None)
            if wrong is not None:
                found, wanted = type(wrong[column]).__name__, getattr(kind, "__name__", kind)
                raise self.damaged(
                    f"column {column + 1} of a row has type {found}, expected {wanted}"
                )
        return rows

    def damaged(self, why: object) -> KnightfallError:
        """Return an error that says that the file is damaged, and why."""
        return KnightfallError(f"{self.path} is damaged: {why}")

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement that changes rows; return the number of the row inserted last.

        The caller must be in a `writing` block.
        """
        with self._errors():
            return self._db.execute(statement, values).lastrowid or 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make all changes of the block or none; other processes wait with their writes."""
        yield from self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries of the block see the same state, even if other processes write."""
        yield from self._transaction("BEGIN")

    def _transaction(self, begin: str) -> Iterator[None]:
        """Commit a transaction at the end of the block; roll it back after any exception."""
        with self._errors():
            self._db.execute(begin)
        try:
            yield
            with self._errors():
                self._db.execute("COMMIT")
        except BaseException:  # including Ctrl-C
            if self._db.in_transaction:  # after a full disk SQLite has rolled back itself
                self._db.execute("ROLLBACK")
            raise

    def shrink(self) -> None:
        """Free the disk space of deleted rows, unless other processes hold locks."""
        with suppress(sqlite3.Error):  # space that is not freed is reused later
            free, before = 1, 0
            while free != before:
                # In small steps, because other writers wait.  `execute` would free only one page.
                self._db.executescript("PRAGMA incremental_vacuum(4096)")
                before, (free,) = free, self._db.execute("PRAGMA freelist_count").fetchone()
        self.checkpoint()

    def checkpoint(self) -> None:
        """Move what was written from SQLite's log (the file with ``-wal``) into the store itself.

        Do nothing if another process holds a lock; the next checkpoint makes up for it.
        """
        _checkpoint(self._db)

    def back_up(self, path: Path, on_progress: Callable[[int, int], None]) -> None:
        """Copy the store as it is at this moment, even if other processes write.

        `path` must not exist; `on_progress` is called with the pages left and the pages in all.
        """
        with self._errors():
            copy = sqlite3.connect(path, isolation_level=None)
            try:
                # Without a snapshot the copy would start again whenever another process writes.
                with self.snapshot():
                    self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
                    self._db.backup(
                        copy,
                        pages=PAGES_AT_ONCE,
                        progress=lambda _, left, of: on_progress(left, of),
                    )
            finally:
                copy.close()

    # -- opening ---------------------------------------------------------------------------

    def _connect(self, options: str) -> sqlite3.Connection:
        """Open the file with options of an SQLite URI, and check that it is a store."""
        db = sqlite3.connect(
            f"{self.path.as_uri()}?{options}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # transactions begin only in `writing` and `snapshot`
        )
        try:
            self._check_is_store(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check_is_store(self, db: sqlite3.Connection) -> None:
        """Raise a `KnightfallError` if the file is not a store that this version can read."""
        db.execute("BEGIN")  # one transaction, because another process may be creating it
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        tables = db.execute("SELECT 1 FROM sqlite_master").fetchone()
        db.execute("COMMIT")
        if application != APPLICATION and tables:
            raise KnightfallError(f"{self.path} is an SQLite file, but not a store of runs")
        if version > VERSION:
            raise KnightfallError(
                f"{self.path} was written by a newer knightfall (its version is {version}, this "
                f"one reads up to {VERSION}): update knightfall, or name another file by --store"
            )

    def _reader(self) -> sqlite3.Connection:
        """Open an existing store for reading; raise `NotFound` if there is none yet."""
        if not self.path.exists() or not self.path.stat().st_size:
            raise NotFound(f"no runs yet in {self.path}")
        try:
            db = self._connect("mode=rw")  # SQLite falls back to read-only
        except sqlite3.OperationalError as error:
            # Readers share a small file beside the store.  In a read-only folder it cannot be
            # created, but then no process can be writing either.
            if _code(error) not in _UNWRITABLE or Path(f"{self.path}-wal").exists():
                raise
            db = self._connect("mode=ro&immutable=1")
        _checkpoint(db)
        db.execute("PRAGMA query_only = ON")
        if db.execute("PRAGMA user_version").fetchone() == (0,):  # still being created
            db.close()
            raise NotFound(f"no runs yet in {self.path}")
        return db

    def _writer(self) -> sqlite3.Connection:
        """Open a store for writing; create it if it does not exist."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KnightfallError(f"cannot create {self.path.parent}: {error.strerror}") from None
        db = self._connect("mode=rwc")
        db.execute("PRAGMA synchronous = NORMAL")  # safe from crashes; a power cut loses seconds
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # waits for other writers
            db.execute("PRAGMA journal_mode = WAL")  # readers do not block the writer
            self._create(db)
        _checkpoint(db)
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        """Create the tables, unless another process has just created them."""
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")

    # -- errors ------------------------------------------------------------------------------

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise SQLite's errors in the block as `KnightfallError`s."""
        try:
            yield
        except sqlite3.Error as error:
            raise KnightfallError(self._message(error)) from None
        except UnicodeDecodeError:  # raised when SQLite's message quotes damaged bytes
            raise self.damaged("a text is not valid UTF-8") from None

    def _message(self, error: sqlite3.Error) -> str:
        """Return a message that says what failed and what to do."""
        code, path, what = _code(error), self.path, " ".join(str(error).split())
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"{path} is locked by another process (waited {BUSY_SECONDS:g} s); nothing was "
                "lost, and starting again continues the run"
            )
        if code == sqlite3.SQLITE_FULL:
            return (
                f"{path}: the disk is full; all pairs stored before are safe: free some space, and "
                "starting again continues the run"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return f"{path} is not a store of runs: it is not an SQLite file"
        if code == sqlite3.SQLITE_CORRUPT:
            return f"{path} is damaged: {what}"
        if code in _UNWRITABLE:
            what = "read" if self._read_only else "write to"
            return f"no permission to {what} {path} or its folder"
        return f"{path}: {what}"


def _checkpoint(db: sqlite3.Connection) -> None:
    """Move SQLite's log into the store if no other process holds a lock; ignore errors."""
    # Possible errors: a full or read-only disk, and damaged bytes in SQLite's message.
    with suppress(sqlite3.Error, UnicodeDecodeError):
        db.execute("PRAGMA busy_timeout = 0")
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code for an error; 0 if the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


class PairWriter:
    """Inserts pairs into a run, inside a transaction that the caller holds."""

    def __init__(self, file: StoreFile, run: int, plan: Plan) -> None:
        self.file, self.run = file, run
        self.places = len(plan.matches)
        self.may_repeat = may_repeat(plan)
        self.added: list[int] = []

    def add(self, record: PairRecord) -> None:
        """Insert a pair with its games; call `tally` afterwards to count it in the results."""
        number, match = record.task.number, record.task.number % self.places
        opening = self._opening(record.task.opening)
        repeats = self._earlier(match, opening, record) if self.may_repeat else None
        self.file.change(
            "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.run,
                number,
                match,
                opening,
                record.task.seed,
                record.score,
                record.first,
                repeats,
            ),
        )
        first_mover = record.task.opening.split()[1]
        for game, played in enumerate(record.games):
            _check(played, f"pair {number}, game {game}")
            self.file.change(
                "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.run, number, game, played.winner, played.reason, *_sums(played, first_mover)),
            )
            self.file.change(
                "INSERT INTO thinking VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.run, number, game, played.cells, played.scores, played.depths, played.nodes,
                 played.microseconds, played.detail),
            )  # fmt: skip
        self.added.append(number)

    def tally(self) -> None:
        """Count the pairs added since the last call in `tallies`, the table of results."""
        if self.added:
            self.file.change(_TALLY, (self.run, self.added[0], self.added[-1]))
            self.added.clear()

    def _opening(self, fen: str) -> int:
        """Return the number of an opening; insert it if it is new."""
        found = self.file.rows(
            "SELECT number FROM openings WHERE run = ? AND fen = ?", (self.run, fen)
        )
        if found:
            return int(found[0][0])
        ((number,),) = self.file.rows(
            "SELECT coalesce(max(number) + 1, 0) FROM openings WHERE run = ?", (self.run,)
        )
        self.file.change(
            "INSERT INTO openings VALUES (?, ?, ?, ?)",
            (self.run, number, fen, Position.from_fen(fen).hunter),
        )
        return int(number)

    def _earlier(self, match: int, opening: int, record: PairRecord) -> int | None:
        """Return the first pair of the same match with the same moves in both games, or None."""
        cells = [game.cells for game in record.games]
        found = self.file.rows(_EARLIER, (self.run, match, opening, *cells))
        return int(found[0][0]) if found else None


def copy_pairs(file: StoreFile, source: int, target: int, plan: Plan) -> None:
    """Copy the pairs of a run to a new run with the same schedule, up to the new one's length.

    The caller holds a transaction.
    """
    for table, columns, number in _COPIED:
        file.change(
            f"INSERT INTO {table} SELECT ?, {columns} FROM {table} WHERE run = ? AND {number} < ?",
            (target, source, plan.total),
        )
    file.change(
        "INSERT INTO openings SELECT ?, number, fen, hunter FROM openings WHERE run = ?"
        " AND number IN (SELECT opening FROM pairs WHERE run = ?)",
        (target, source, target),
    )
    file.change(_TALLY, (target, 0, plan.total - 1))


_COPIED = (
    ("pairs", "number, match, opening, seed, score, first, repeats", "number"),
    ("games", f"pair, game, winner, reason, {', '.join(SUMS)}", "pair"),
    ("thinking", "pair, game, cells, scores, depths, nodes, microseconds, detail", "pair"),
)


def pairs_from(file: StoreFile, run: int, start: int, how_many: int) -> list[PairRecord]:
    """Return up to `how_many` pairs from number `start` on."""
    rows = file.rows(_PAIRS, (run, start, start + how_many), _KINDS)
    games = [_game(file, row) for row in rows]
    if [row[0] for row in rows[::2]] != [row[0] for row in rows[1::2]]:
        raise file.damaged(f"run {run} has a pair with only one game")
    return [
        PairRecord(PairTask(*row[:5]), both)
        for row, both in zip(rows[::2], zip(games[::2], games[1::2], strict=True), strict=True)
    ]


def _game(file: StoreFile, row: Sequence[Any]) -> GameRecord:
    """Return the game in a row of the query `_PAIRS`; raise a `KnightfallError` if it is wrong."""
    game = GameRecord(*row[5:])
    try:
        right = is_known_ending(game.winner, game.reason)
        _check(game, f"pair {row[0]}")
        cells = position(row[3]).board.cells
    except KnightfallError as error:
        raise file.damaged(error) from None
    if not right or any(cell >= cells for cell in game.cells):
        raise file.damaged(
            f"pair {row[0]} has a game with an unknown winner or reason, or a move off the board"
        )
    return game


@lru_cache(maxsize=4096)
def position(fen: str) -> Position:
    """Return the position of a FEN; it is cached, because many games begin with the same one."""
    return Position.from_fen(fen)


def is_known_ending(winner: object, reason: object) -> bool:
    """Return whether a winner and a reason are valid."""
    return winner in ("w", "b") and reason in REASONS


def _sums(game: GameRecord, first_mover: str) -> list[int]:
    """Return the values of the columns `SUMS` for a game: sums over the moves of each side."""
    sums = []
    for column in (_ONES[: game.plies], *(game.column(name).tolist() for name in _SUMMED)):
        mover, waiter = sum(column[0::2]), sum(column[1::2])
        sums += [mover, waiter] if first_mover == "w" else [waiter, mover]
    return sums


_ONES = [1] * 64  # the sum of ones counts moves
_SUMMED: tuple[Column, ...] = ("depths", "nodes", "microseconds")  # as in `SUMS`, after the moves


def _check(game: GameRecord, where: str) -> None:
    """Raise a `KnightfallError` if a column does not have one item per move."""
    for name, format in COLUMN_FORMATS.items():
        items = len(getattr(game, name)) / np.dtype(format).itemsize
        if items != game.plies:
            raise KnightfallError(f"{where}: {items:g} {name} for {game.plies} moves")


# CROSS JOIN makes SQLite visit the tables in this order; the plus sign keeps it from scanning a
# range of pairs where one is looked up.
_PAIRS = """
SELECT p.number, a.agent, b.agent, o.fen, p.seed,
       g.winner, g.reason, t.cells, t.scores, t.depths, t.nodes, t.microseconds, t.detail
FROM pairs p
CROSS JOIN games g ON g.run = p.run AND g.pair = +p.number
CROSS JOIN thinking t ON t.run = p.run AND t.pair = +p.number AND t.game = g.game
CROSS JOIN matches m ON m.run = p.run AND m.number = p.match
CROSS JOIN entrants a ON a.run = p.run AND a.number = m.a
CROSS JOIN entrants b ON b.run = p.run AND b.number = m.b
CROSS JOIN openings o ON o.run = p.run AND o.number = p.opening
WHERE p.run = ? AND p.number >= ? AND p.number < ?
ORDER BY p.number, g.game"""
_KINDS = (int, str, str, str, int, str, str, bytes, bytes, bytes, bytes, bytes, str)

_EARLIER = """
SELECT p.number
FROM pairs p
CROSS JOIN thinking t ON t.run = p.run AND t.pair = p.number AND t.game = 0
CROSS JOIN thinking u ON u.run = p.run AND u.pair = p.number AND u.game = 1
WHERE p.run = ? AND p.match = ? AND p.opening = ? AND p.repeats IS NULL
  AND t.cells = ? AND u.cells = ?
LIMIT 1"""

_TALLY = f"""
INSERT INTO tallies
SELECT p.run, p.match, p.score, g.game, o.hunter, g.winner, g.reason,
       count(*), {", ".join(f"sum(g.{name})" for name in SUMS)}
FROM pairs p
CROSS JOIN games g ON g.run = p.run AND g.pair = +p.number
CROSS JOIN openings o ON o.run = p.run AND o.number = p.opening
WHERE p.run = ? AND p.number BETWEEN ? AND ? AND p.repeats IS NULL
GROUP BY p.run, p.match, p.score, g.game, o.hunter, g.winner, g.reason
ON CONFLICT DO UPDATE SET
  {", ".join(f"{name} = {name} + excluded.{name}" for name in ("games", *SUMS))}"""
