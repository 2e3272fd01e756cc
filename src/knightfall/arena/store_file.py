"""The SQLite file that holds runs: its tables, its error messages, and pairs as rows."""

from __future__ import annotations

import os
import sqlite3
import weakref
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
from knightfall.arena.store_checks import (
    APPLICATION,
    LONGEST,
    LONGEST_NUMBER,
    TABLES,
    VERSION,
    StepLimit,
    check_files,
    check_log,
    connect,
    has_log,
    primary_code,
)
from knightfall.errors import KnightfallError, NotFound
from knightfall.position import Position, other
from knightfall.user_folders import data_folder

PAGES_AT_ONCE = 1024
"""Pages that a backup copies in one step; Ctrl-C takes effect between two steps."""

BUSY_SECONDS = 30.0
"""Seconds to wait for another process that is writing; a batch of pairs takes milliseconds."""

RUN_TABLES = ("entrants", "matches", "openings", "pairs", "games", "thinking", "tallies")
SUMS = (
    "moves_w", "moves_b", "depth_w", "depth_b",
    "nodes_w", "nodes_b", "microseconds_w", "microseconds_b",
)  # fmt: skip
"""The columns with sums over the moves of a game, and in `tallies` over many games, by side."""

IN_MEMORY = ":memory:"
"""The path of a store in memory, which is lost when it is closed."""


def user_store() -> Path:
    """Return the path of the store that the command line uses by default.

    Example:
        >>> kf.user_store().name
        'arena.sqlite'
    """
    return data_folder() / "arena.sqlite"


def _close_abandoned(db: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # it belongs to another thread
        db.close()


class StoreFile:
    """The connection to a store.  SQLite errors are raised as `KnightfallError`s with the path."""

    def __init__(self, path: str | os.PathLike[str] | None, read_only: bool) -> None:
        self._read_only = read_only
        self._limit: StepLimit | None = None
        self.in_memory = path == IN_MEMORY
        if self.in_memory:
            self.path = self._file = Path("memory")
            self._db = sqlite3.connect(IN_MEMORY, isolation_level=None)
            self._create(self._db)
            # Results keep a store in memory as long as they are used; nothing else closes it.
            weakref.finalize(self, _close_abandoned, self._db).atexit = False
            return
        self.path = Path(os.path.expanduser(path or user_store())).absolute()
        if "\0" in str(self.path):
            raise KnightfallError(
                f"store {str(self.path)!r}: a name cannot contain a NUL character"
            )
        self._file = Path(os.path.realpath(self.path))  # SQLite's other files are beside this one
        check_files(self._file)
        with self._errors():
            self._db = self._reader() if read_only else self._writer()
            self._identity = _identity(self._file)

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
            rows = self._fetch(query, values, numbers=bool(kinds) and set(kinds or ()) <= _NUMBERS)
        for column, kind in enumerate(kinds or ()):
            wrong = next((row for row in rows if not isinstance(row[column], kind)), None)
            if wrong is not None:
                found, wanted = type(wrong[column]).__name__, getattr(kind, "__name__", kind)
                raise self.damaged(
                    f"column {column + 1} of a row has type {found}, expected {wanted}"
                )
        return rows

    def _fetch(self, query: str, values: Sequence[Any], numbers: bool) -> list[Any]:
        """Return all rows of a query, which returns only numbers if `numbers`."""
        limit = self._begin_statement(LONGEST_NUMBER if numbers else LONGEST)
        cursor = self._db.execute(query, values)
        if limit is None or numbers:
            return cursor.fetchall()
        rows, size = list[Any](), 0
        for row in cursor:
            rows.append(row)
            size += sum(len(value) for value in row if isinstance(value, str | bytes))
            limit.check_bytes(size)
            if limit.fault:
                raise self.damaged(limit.fault)
        return rows

    def _begin_statement(self, longest: int) -> StepLimit | None:
        """Bound the next statement, whose values have at most `longest` bytes each."""
        if self._limit is not None:
            self._limit.begin()
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        return self._limit

    def damaged(self, why: object) -> KnightfallError:
        """Return an error that says that the file is damaged, and why."""
        return KnightfallError(f"{self.path} is damaged: {why}")

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement that changes rows; return the number of the row inserted last.

        The caller must be in a `writing` block.
        """
        with self._errors():
            self._begin_statement(LONGEST)
            return self._db.execute(statement, values).lastrowid or 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make all changes of the block or none; other processes wait with their writes."""
        if not self.is_current:
            raise KnightfallError(
                f"{self.path} was deleted or replaced by another file while it was in use: nothing "
                "more can be stored; starting again continues with what the file of this name has"
            )
        yield from self._transaction("BEGIN IMMEDIATE")

    @property
    def is_current(self) -> bool:
        """Whether the file that was opened is still the one of this name."""
        return self.in_memory or _identity(self._file) == self._identity

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries of the block see the same state, even if other processes write."""
        if self._db.in_transaction:  # the transaction under way already does so
            yield
            return
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
        with suppress(KnightfallError), self._errors():  # space that is not freed is reused later
            free, before = 1, 0
            while free != before:
                self._begin_statement(LONGEST)
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
        """Open the file with options of an SQLite URI, and check that it is a store or empty."""
        if has_log(self._file):
            check_log(self._file)
        db, self._limit = connect(self._file, options, BUSY_SECONDS)
        return db

    def _reader(self) -> sqlite3.Connection:
        """Open an existing store for reading; raise `NotFound` if there is none yet."""
        if not self._file.exists() or not self._file.stat().st_size:
            raise NotFound(f"no runs yet in {self.path}")
        try:
            db = self._connect("mode=rw")  # SQLite falls back to read-only
        except sqlite3.OperationalError as error:
            # Readers share a small file beside the store.  In a read-only folder it cannot be
            # created, but then no process can be writing either.
            if primary_code(error) not in _UNWRITABLE:
                raise
            if has_log(self._file):
                raise KnightfallError(
                    f"no permission to read the log of {self.path}, which has its latest games: "
                    "copy both files to a folder of yours, or let their owner open the store "
                    "(knightfall runs moves the log into it)"
                ) from None
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
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KnightfallError(f"cannot create {self._file.parent}: {error.strerror}") from None
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
            for statement in TABLES.split(";\n"):  # `executescript` would end the transaction
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
            if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
                if self._limit is not None and self._limit.fault:
                    raise self.damaged(self._limit.fault) from None
                raise KeyboardInterrupt from None
            raise KnightfallError(self._message(error)) from None
        except UnicodeDecodeError:  # raised when SQLite's message quotes damaged bytes
            raise self.damaged("a text column is not valid UTF-8") from None

    def _message(self, error: sqlite3.Error) -> str:
        """Return a message that says what failed and what to do."""
        code, path, what = primary_code(error), self.path, " ".join(str(error).split())
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"{path} is locked by another process (waited {BUSY_SECONDS:g} s); nothing was "
                "lost, and starting again continues the run"
            )
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            why = "the disk is full" if code == sqlite3.SQLITE_FULL else _why_not_written(error)
            return (
                f"{path}: {why}; all pairs stored before are safe, and starting again continues "
                "the run"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return f"{path} is not a store of runs: it is not an SQLite file"
        if code == sqlite3.SQLITE_CORRUPT:
            return f"{path} is damaged: {what}"
        if code == sqlite3.SQLITE_TOOBIG:
            return f"{path}: a value is longer than {LONGEST:,} bytes, the most that a store holds"
        if code in _UNWRITABLE:
            what = "read" if self._read_only else "write to"
            return f"no permission to {what} {path} or its folder"
        if what.startswith("Could not decode"):
            return f"{path} is damaged: a text column is not valid UTF-8"
        return f"{path}: {what}"


def _why_not_written(error: sqlite3.Error) -> str:
    """Return why the system refused to read or write, and what to do about it."""
    name = getattr(error, "sqlite_errorname", "SQLITE_IOERR")
    if "READ" in name:
        return f"the disk cannot be read ({name}): it may be failing, or was removed"
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if most != resource.RLIM_INFINITY:
            return (
                f"a file must not grow beyond {most:,} bytes here: raise the limit with "
                "ulimit -f unlimited"
            )
    except ImportError:  # Windows
        pass
    return (
        f"the disk cannot be written ({name}): it may be full, over a quota, failing or removed; "
        "free some space"
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, which identify it; None if there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


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


_NUMBERS = {int, int | None}


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
        repeats = None
        if self.may_repeat:
            cells = [game.cells for game in record.games]
            found = self.file.rows(_EARLIER, (self.run, match, opening, *cells))
            repeats = int(found[0][0]) if found else None
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


def pairs_from(
    file: StoreFile, run: int, plan: Plan, start: int, how_many: int
) -> list[PairRecord]:
    """Return the stored pairs of `how_many` numbers from `start` on."""
    rows = file.rows(_PAIRS, (run, start, start + how_many), _KINDS)
    if [(row[0], row[4]) for row in rows] != [(start + at // 2, at % 2) for at in range(len(rows))]:
        raise file.damaged(f"run {run} lacks a game of one of its pairs from {start} on")
    if len(rows) % 2:
        raise file.damaged(f"run {run} has a pair with only one game")
    games = [_game(file, row) for row in rows]
    pairs = []
    for row, one, two in zip(rows[::2], games[::2], games[1::2], strict=True):
        pair = PairRecord(_task(file, plan, row), (one, two))
        if (pair.score, pair.first) != row[-2:]:
            raise file.damaged(f"the score of pair {row[0]} is not that of its games")
        pairs.append(pair)
    return pairs


def _task(file: StoreFile, plan: Plan, row: Sequence[Any]) -> PairTask:
    """Return the task of a pair in a row of the query `_PAIRS`, with the agents of its plan."""
    number, match, opening, seed = row[:4]
    if match != number % len(plan.matches):
        raise file.damaged(f"pair {number} is of match {match}, but its number belongs to another")
    met = plan.matches[match]
    a, b = plan.entrants[met.a].agent, plan.entrants[met.b].agent
    return PairTask(number, a, b, opening, seed)


def _game(file: StoreFile, row: Sequence[Any]) -> GameRecord:
    """Return the game in a row of the query `_PAIRS`; raise a `KnightfallError` if it is wrong."""
    game = GameRecord(*row[5:-2])
    try:
        right = is_known_ending(game.winner, game.reason)
        _check(game, f"pair {row[0]}")
        opening = position(row[2])
    except KnightfallError as error:
        raise file.damaged(error) from None
    if not right or any(cell >= opening.board.cells for cell in game.cells):
        raise file.damaged(
            f"pair {row[0]} has a game with an unknown winner or reason, or a move off the board"
        )
    mover, waiter = opening.to_move, other(opening.to_move)
    if game.winner != (mover if game.plies % 2 else waiter):  # the side to move at the end has lost
        raise file.damaged(f"pair {row[0]} has a game whose moves give another winner")
    return game


@lru_cache(maxsize=4096)
def position(fen: str) -> Position:
    """Return the position of a FEN; it is cached, because many games begin with the same one."""
    return Position.from_fen(fen)


def is_known_ending(winner: object, reason: object) -> bool:
    """Return whether a winner and a reason are valid."""
    return winner in ("w", "b") and reason in REASONS


def _sums(game: GameRecord, first_mover: str) -> list[int]:
    """Return moves, depths, nodes and times of a game, each summed per side, for `SUMS`."""
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
            raise KnightfallError(
                f"{where}: column {name} has {items:g} items, expected {game.plies}, one per move"
            )


# CROSS JOIN makes SQLite visit the tables in this order; the plus sign keeps it from scanning a
# range of pairs where one is looked up.
_PAIRS = """
SELECT p.number, p.match, o.fen, p.seed, g.game,
       g.winner, g.reason, t.cells, t.scores, t.depths, t.nodes, t.microseconds, t.detail,
       p.score, p.first
FROM pairs p
CROSS JOIN games g ON g.run = p.run AND g.pair = +p.number
CROSS JOIN thinking t ON t.run = p.run AND t.pair = +p.number AND t.game = g.game
CROSS JOIN openings o ON o.run = p.run AND o.number = p.opening
WHERE p.run = ? AND p.number >= ? AND p.number < ?
ORDER BY p.number, g.game"""
_KINDS = (int, int, str, int, int, str, str, bytes, bytes, bytes, bytes, bytes, str, int, int)

# The first pair of the same match with the same moves in both games.
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
