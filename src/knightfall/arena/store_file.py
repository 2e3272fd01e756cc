"""The SQLite file that holds runs: its tables, its errors in one line each, and pairs as rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from knightfall.arena.plan import (
    DEPTH,
    MICROSECONDS,
    NODES,
    REASONS,
    SCORE,
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
"""Pages that a copy takes without looking up: Ctrl-C waits no longer than that."""

APPLICATION = 0x4B464152  # "KFAR", in the file's header: which program's file this is
VERSION = 1
BUSY_SECONDS = 30.0
"""How long to wait for another process that is writing.  One batch of pairs takes milliseconds."""

# Every table but the first begins its key with the run.  Rows are kept in the order of their keys,
# so a run that was played by many workers leaves the same rows as one that was played by one.
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
OF_A_RUN = ("entrants", "matches", "openings", "pairs", "games", "thinking", "tallies")
SUMS = (
    "moves_w", "moves_b", "depth_w", "depth_b",
    "nodes_w", "nodes_b", "microseconds_w", "microseconds_b",
)  # fmt: skip
"""What is summed up over a game, and over many in `tallies`, for either side."""


IN_MEMORY = ":memory:"
"""The path of a store that is gone when it is closed."""


def user_store() -> Path:
    """The file that the command line keeps its runs in."""
    return data_folder() / "arena.sqlite"


class StoreFile:
    """A store's connection.  Every failure comes out as a `KnightfallError` that names the file."""

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
        with self._telling():
            self._db = self._reader() if read_only else self._writer()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    # -- using it --------------------------------------------------------------------------

    def rows(
        self, query: str, values: Sequence[Any] = (), kinds: Sequence[Any] | None = None
    ) -> list[Any]:
        """All that a query finds.

        With `kinds`, a type or a tuple of types for each column, a damaged file that holds
        anything else there is refused.
        """
        with self._telling():
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
        """The error that says so."""
        return KnightfallError(f"{self.path} is damaged: {why}")

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Insert, update or delete, inside of `writing`; the number of the row inserted last."""
        with self._telling():
            return self._db.execute(statement, values).lastrowid or 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All of the block's changes or none of them; nobody else writes meanwhile."""
        yield from self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Queries inside see the same state, whatever others write meanwhile."""
        yield from self._transaction("BEGIN")

    def _transaction(self, begin: str) -> Iterator[None]:
        with self._telling():
            self._db.execute(begin)
        try:
            yield
            with self._telling():
                self._db.execute("COMMIT")
        except BaseException:  # Ctrl-C too
            if self._db.in_transaction:  # a full disk ends it by itself
                self._db.execute("ROLLBACK")
            raise

    def shrink(self) -> None:
        """Give the space of deleted rows back to the disk, as far as nobody is in the way."""
        with suppress(sqlite3.Error):  # what is not given back now is used again later
            free, before = 1, 0
            while free != before:
                # A little at a time, for others wait; execute would free one page and stop.
                self._db.executescript("PRAGMA incremental_vacuum(4096)")
                before, (free,) = free, self._db.execute("PRAGMA freelist_count").fetchone()
        self.checkpoint()

    def checkpoint(self) -> None:
        """Bring what was written from the file beside it (``-wal``) into the store itself.

        As far as nobody is in the way: others are not waited for, and the next one does it.
        """
        _checkpoint(self._db)

    def back_up(self, path: Path, on_progress: Callable[[int, int], None]) -> None:
        """Copy the store as it is at this moment, whatever others write meanwhile.

        `path` must not exist; `on_progress` hears of pages that are left, and of how many.
        """
        with self._telling():
            copy = sqlite3.connect(path, isolation_level=None)
            try:
                # The snapshot keeps the copy from beginning anew whenever somebody writes.
                with self.snapshot():
                    self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
                    self._db.backup(
                        copy,
                        pages=PAGES_AT_ONCE,
                        progress=lambda _, left, of: on_progress(left, of),
                    )
            finally:
                copy.close()

    # -- opening it ------------------------------------------------------------------------

    def _connect(self, options: str) -> sqlite3.Connection:
        db = sqlite3.connect(
            f"{self.path.as_uri()}?{options}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # transactions begin where `writing` says so
        )
        try:
            self._look_at(db)
        except BaseException:
            db.close()
            raise
        return db

    def _look_at(self, db: sqlite3.Connection) -> None:
        """Refuse what is not a store, or not one this version can read."""
        db.execute("BEGIN")  # at one moment of it: somebody may just be making it
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
        if not self.path.exists() or not self.path.stat().st_size:
            raise NotFound(f"no runs yet in {self.path}")
        try:
            db = self._connect("mode=rw")  # a file that cannot be written is only read
        except sqlite3.OperationalError as error:
            # Readers share a little file beside the store.  Where it cannot be made, in a folder
            # that is read-only, nobody can be writing either.
            if _code(error) not in _UNWRITABLE or Path(f"{self.path}-wal").exists():
                raise
            db = self._connect("mode=ro&immutable=1")
        _checkpoint(db)
        db.execute("PRAGMA query_only = ON")
        if db.execute("PRAGMA user_version").fetchone() == (0,):  # somebody is about to make it
            db.close()
            raise NotFound(f"no runs yet in {self.path}")
        return db

    def _writer(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KnightfallError(f"cannot make {self.path.parent}: {error.strerror}") from None
        db = self._connect("mode=rwc")
        db.execute("PRAGMA synchronous = NORMAL")  # safe from crashes; a power cut loses seconds
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # it waits for whoever is writing
            db.execute("PRAGMA journal_mode = WAL")  # others may read while one writes
            self._create(db)
        _checkpoint(db)
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone() == (0,):  # nobody else was quicker
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")

    # -- what can be wrong with it -----------------------------------------------------------

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise KnightfallError(self._told(error)) from None
        except UnicodeDecodeError:  # SQLite's own words on damage may quote it
            raise self.damaged("it holds texts that are none") from None

    def _told(self, error: sqlite3.Error) -> str:
        code, path, what = _code(error), self.path, " ".join(str(error).split())
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"{path} is locked by another process (waited {BUSY_SECONDS:g} s); nothing was "
                "lost, and starting it again goes on"
            )
        if code == sqlite3.SQLITE_FULL:
            return (
                f"{path}: the disk is full; all that was stored before is safe, and "
                "starting it again goes on once there is room"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return f"{path} is not a store of runs: it is no SQLite file"
        if code == sqlite3.SQLITE_CORRUPT:
            return f"{path} is damaged: {what}"
        if code in _UNWRITABLE:
            what = "read" if self._read_only else "write to"
            return f"no permission to {what} {path}, or the folder it is in"
        return f"{path}: {what}"


def _checkpoint(db: sqlite3.Connection) -> None:
    # A disk that is full or cannot be written to, or damage that SQLite quotes.
    with suppress(sqlite3.Error, UnicodeDecodeError):
        db.execute("PRAGMA busy_timeout = 0")
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)


def _code(error: sqlite3.Error) -> int:
    """The kind of an error; 0 for those that do not come from SQLite itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


class PairWriter:
    """Adds pairs to a run, inside of a transaction that the caller holds."""

    def __init__(self, file: StoreFile, run: int, plan: Plan) -> None:
        self.file, self.run = file, run
        self.places = len(plan.matches)
        self.may_repeat = may_repeat(plan)
        self.added: list[int] = []

    def add(self, record: PairRecord) -> None:
        """Insert the pair's rows."""
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
        """Count what was added since the last time, so that nobody has to count it again."""
        if self.added:
            self.file.change(_TALLY, (self.run, self.added[0], self.added[-1]))
            self.added.clear()

    def _opening(self, fen: str) -> int:
        """The number of an opening; a new one gets the next."""
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
        """The first pair of the same match whose two games went the same way, move for move."""
        cells = [game.cells for game in record.games]
        found = self.file.rows(_EARLIER, (self.run, match, opening, *cells))
        return int(found[0][0]) if found else None


def copy_pairs(file: StoreFile, source: int, target: int, plan: Plan) -> None:
    """Give a new run the first pairs of another one of the same schedule, as many as it wants.

    Inside of a transaction that the caller holds.
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
    """So many pairs from a number on, as far as they are there."""
    rows = file.rows(_PAIRS, (run, start, start + how_many), _KINDS)
    games = [_game(file, row) for row in rows]
    if [row[0] for row in rows[::2]] != [row[0] for row in rows[1::2]]:
        raise file.damaged(f"run {run} has pairs that lack a game")
    return [
        PairRecord(PairTask(*row[:5]), both)
        for row, both in zip(rows[::2], zip(games[::2], games[1::2], strict=True), strict=True)
    ]


def _game(file: StoreFile, row: Sequence[Any]) -> GameRecord:
    game = GameRecord(*row[5:])
    try:
        right = right_game(game.winner, game.reason)
        _check(game, f"pair {row[0]}")
        cells = position(row[3]).board.cells
    except KnightfallError as error:
        raise file.damaged(error) from None
    if not right or any(cell >= cells for cell in game.cells):
        raise file.damaged(f"pair {row[0]} has a game that makes no sense")
    return game


@lru_cache(maxsize=4096)
def position(fen: str) -> Position:
    """The position of a FEN: many games begin with the same."""
    return Position.from_fen(fen)


def right_game(winner: object, reason: object) -> bool:
    """Whether a game may end so."""
    return winner in ("w", "b") and reason in REASONS


def _sums(game: GameRecord, first_mover: str) -> list[int]:
    """The figures of `SUMS`: w's moves are every second one, from the first or the second on."""
    sums = []
    for column in (_ONES[: game.plies], *(game.column(name).tolist() for name in _SUMMED)):
        mover, waiter = sum(column[0::2]), sum(column[1::2])
        sums += [mover, waiter] if first_mover == "w" else [waiter, mover]
    return sums


_ONES = [1] * 64  # moves are counted as ones are summed up
_SUMMED: tuple[Literal["depths", "nodes", "microseconds"], ...]
_SUMMED = ("depths", "nodes", "microseconds")  # in the order of `SUMS`, after the moves


def _check(game: GameRecord, where: str) -> None:
    for name, size in _SIZES.items():
        items = len(getattr(game, name)) / size
        if items != game.plies:
            raise KnightfallError(f"{where}: {items:g} {name} for {game.plies} moves")


_SIZES = {
    "scores": np.dtype(SCORE).itemsize,
    "depths": np.dtype(DEPTH).itemsize,
    "nodes": np.dtype(NODES).itemsize,
    "microseconds": np.dtype(MICROSECONDS).itemsize,
}

# CROSS JOIN looks the tables up in this order, and the plus sign keeps SQLite from thinking that a
# range of pairs would do where there is just the one.
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
