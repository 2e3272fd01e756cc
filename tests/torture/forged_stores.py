"""Ways to forge a store: a foreign schema, runs that pass for others, and b-trees without end.

Each function takes the bytes of a good store and returns those of a forged one.  All results are
SQLite files that SQLite itself opens.
"""

from __future__ import annotations

import random
import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from torture.mutations import JUNK_VALUES, change_token

from knightfall.arena.store_file import RUN_TABLES

TABLES = ("runs", *RUN_TABLES)
PAGE_SIZE = 4096

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


@contextmanager
def opened(data: bytes) -> Iterator[tuple[sqlite3.Connection, list[bytes]]]:
    """Yield a store in memory whose schema can be written, and a list for its final bytes."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory there is no log
    db.execute("PRAGMA writable_schema = ON")
    result: list[bytes] = []
    try:
        yield db, result
        result.append(db.serialize())
    finally:
        db.close()


def changed(data: bytes, *statements: str) -> bytes:
    """Return a store after some statements, which may write to the schema."""
    with opened(data) as (db, result):
        for statement in statements:
            db.execute(statement)
    return result[0]


# -- the schema ----------------------------------------------------------------------------------


def as_view(table: str, columns: str, source: str) -> tuple[str, ...]:
    """Return statements that put an endless view in the place of a table."""
    return (
        f"ALTER TABLE {table} RENAME TO old_{table}",
        f"CREATE VIEW {table} AS {ENDLESS} SELECT {columns} FROM {source}",
    )


WINS = "UPDATE games SET winner = 'w'; UPDATE tallies SET winner = 'w'"

OBJECTS = {
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON {table} BEGIN " + WINS + "; END",),
    "an endless trigger": (
        "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN " + WINS
        + "; INSERT INTO entrants " + "SELECT 9, x, x, x FROM (WITH RECURSIVE c(x) AS (SELECT 1 "
        "UNION ALL SELECT x + 1 FROM c) SELECT x FROM c); END",
    ),
    "a view": as_view("runs", "x AS id, 'a' AS key, '{{}}' AS plan", "c"),
    "an endless view": (
        "DROP TABLE {table}", "CREATE VIEW {table} AS " + ENDLESS + " SELECT x AS run FROM c",
    ),
    "a table": ("CREATE TABLE more (x)",),
    "a table with a hostile name": ('CREATE TABLE "\x1b[2J\n" (x)',),
    "an index": ("CREATE INDEX i ON {table} ({column})",),
    "an index of an expression": ("CREATE INDEX i ON {table} (abs({column}))",),
    "a partial index": ("CREATE INDEX i ON {table} ({column}) WHERE {column} > 1",),
    "a virtual table": ("CREATE VIRTUAL TABLE f USING fts5(x)",),
    "a virtual table for one of ours": (
        "DROP TABLE {table}", "CREATE VIRTUAL TABLE {table} USING fts5(run, number)",
    ),
    "statistics": ("ANALYZE",),
    "no table": ("DROP TABLE {table}",),
    "no schema": ("DELETE FROM sqlite_master",),
    "two tables in one place": (
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
        " WHERE name = 'pairs') WHERE name = 'games'",
    ),
    "another version": ("PRAGMA user_version = 0",),
    "a version below all": ("PRAGMA user_version = -1",),
}  # fmt: skip
"""Objects that a store does not have, and the statements that make them."""

DEFINITIONS = {
    "a check": ("TEXT NOT NULL", "TEXT NOT NULL CHECK (randomblob(1000000000) IS NOT NULL)"),
    "a default": ("TEXT NOT NULL", "TEXT NOT NULL DEFAULT (randomblob(1000000000))"),
    "a collation": ("TEXT NOT NULL", "TEXT NOT NULL COLLATE NOCASE"),
    "a generated column": ("INTEGER NOT NULL", "INTEGER NOT NULL AS (1)"),
    "a foreign key": ("TEXT NOT NULL", "TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE"),
    "another name": ("NOT NULL", "/* */ NOT NULL"),
    "a column more": ("PRIMARY KEY", "more TEXT, PRIMARY KEY"),
    "a quoted comment": ("NOT NULL", "NOT NULL CHECK ('-- ' IS NOT\n'')"),
    "no key": ("WITHOUT ROWID", ""),
}
"""Changes of a table's definition."""


def with_object(data: bytes, name: str, table: str = "games", column: str = "run") -> bytes:
    """Return a store with one of `OBJECTS`."""
    values = {"table": table, "column": column}
    return changed(data, *(statement.format(**values) for statement in OBJECTS[name]))


def with_definition(data: bytes, name: str, table: str = "games") -> bytes:
    """Return a store in which a table has one of `DEFINITIONS`, if that changes it."""
    old, new = DEFINITIONS[name]
    with opened(data) as (db, result):
        ((sql,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,))
        db.execute(
            "UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql.replace(old, new, 1), table)
        )
    return result[0]


def forge_schema(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a store with another schema: by known attacks, or by random changes of its texts."""
    table = rng.choice(TABLES)
    how = rng.random()
    if how < 0.3:
        with suppress(sqlite3.Error):  # not every object fits every table
            return with_object(data, rng.choice(list(OBJECTS)), table, rng.choice(("run", "key")))
    if how < 0.5:
        return with_definition(data, rng.choice(list(DEFINITIONS)), table)
    with opened(data) as (db, result):
        for _ in range(rng.choice((1, 1, 2, 3))):
            _change_schema_row(db, rng)
    return result[0]


def _change_schema_row(db: sqlite3.Connection, rng: random.Random) -> None:
    """Change one value of the schema's table, copy a row of it, or delete one."""
    rows = db.execute("SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_master")
    chosen, *values = rng.choice(rows.fetchall())
    column, value = rng.choice(("type", "name", "tbl_name", "rootpage", "sql", "sql", "sql")), None
    how = rng.random()
    with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):  # SQLite itself refuses it
        if how < 0.05:
            db.execute("DELETE FROM sqlite_master WHERE rowid = ?", (chosen,))
        elif how < 0.15:
            values[1] = rng.choice((values[1], "more", "sqlite_more", "sqlite_master"))
            db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", values)
        elif how < 0.25:
            db.execute("UPDATE sqlite_master SET rootpage = ? WHERE rowid = ?",
                       (rng.randrange(-1, 30), chosen))  # fmt: skip
        elif how < 0.8 and values[-1]:
            text = change_token(values[-1].encode(), [], rng).decode("utf-8", "replace")
            if rng.random() < 0.3:
                text = re.sub(" ", rng.choice(("\u00a0", "\n", " --\n", " /**/ ")), text, count=3)
            db.execute("UPDATE sqlite_master SET sql = ? WHERE rowid = ?", (text, chosen))
        else:
            value = rng.choice([one for one in JUNK_VALUES if not isinstance(one, dict | list)])
            db.execute(f"UPDATE sqlite_master SET {column} = ? WHERE rowid = ?", (value, chosen))


# -- runs that pass for others -------------------------------------------------------------------

PLAYED = ("pairs", "games", "thinking", "tallies", "openings")

SWAPS: dict[str, tuple[str, ...]] = {
    "keys": (
        "CREATE TEMP TABLE t AS SELECT id, key FROM runs",
        "UPDATE runs SET key = id",
        "UPDATE runs SET key = (SELECT key FROM t WHERE t.id = 3 - runs.id)",
    ),
    "plans": (
        "CREATE TEMP TABLE t AS SELECT id, plan FROM runs",
        "UPDATE runs SET plan = (SELECT plan FROM t WHERE t.id = 3 - runs.id)",
    ),
    "versions": (
        "UPDATE runs SET versions = '{\"knightfall\": \"another\"}' WHERE id = 1",
    ),
    "agents": (
        "CREATE TEMP TABLE t AS SELECT * FROM entrants WHERE run = 1",
        "UPDATE entrants SET (agent, name) = (SELECT agent, name FROM t"
        " WHERE t.number = 1 - entrants.number) WHERE run = 1 AND number < 2",
    ),
    "names": ("UPDATE entrants SET name = 'perfect' WHERE run = 1 AND number = 0",),
    "seats": (
        "UPDATE matches SET a = b, b = a WHERE run = 1",
    ),
    "winners": (
        "UPDATE games SET winner = CASE winner WHEN 'w' THEN 'b' ELSE 'w' END WHERE run = 1",
    ),
    "scores": ("UPDATE pairs SET score = 2, first = 1 WHERE run = 1 AND score < 2",),
    "tallies": ("UPDATE tallies SET games = games + 1 WHERE run = 1",),
    "a gap": ("UPDATE pairs SET number = number + 1000 WHERE run = 1 AND number > 0",),
    "kinds": ("UPDATE runs SET kind = 'worth' WHERE id = 1",),
}  # fmt: skip
"""Statements after which run 1 is not what was played."""


def orphaned(data: bytes, source: int, target: int) -> bytes:
    """Return a store in which a run that does not exist yet has the games of another."""
    statements = []
    for table in PLAYED:
        with opened(data) as (db, _):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")][1:]
        names = ", ".join(columns)
        statements.append(
            f"INSERT INTO {table} SELECT {target}, {names} FROM {table} WHERE run = {source}"
        )
    return changed(data, *statements)


# -- b-trees without end -------------------------------------------------------------------------


def endless(data: bytes, table: str, levels: int = 12) -> bytes:
    """Return a store of some more pages in which a table has billions of rows.

    All cells of a page refer to one child, on so many levels.  The table must fit into a page.
    """
    db = sqlite3.connect(":memory:")
    db.deserialize(data[:18] + b"\x01\x01" + data[20:])
    ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    db.close()
    place = slice((root - 1) * PAGE_SIZE, root * PAGE_SIZE)
    leaf = data[place]
    kind, cells = leaf[0], struct.unpack_from(">H", leaf, 3)[0]
    assert kind in (10, 13), "the table must be one page"
    assert cells
    (first,) = struct.unpack_from(">H", leaf, 8)
    record = leaf[first : first + 1 + leaf[first]]
    whole, child = bytearray(data + leaf), len(data) // PAGE_SIZE + 1
    for _ in range(levels):
        whole += _interior(5 if kind == 13 else 2, child, record)
        child += 1
    whole[place] = whole[(child - 1) * PAGE_SIZE : child * PAGE_SIZE]
    struct.pack_into(">I", whole, 28, child)  # pages of the file
    return bytes(whole)


def _interior(kind: int, child: int, record: bytes) -> bytes:
    """Return an interior page all of whose cells refer to one page."""
    page, places = bytearray(PAGE_SIZE), []
    cell = struct.pack(">I", child) + (record if kind == 2 else b"\x01")
    at, fits = PAGE_SIZE, (PAGE_SIZE - 12) // (len(cell) + 2)
    for _ in range(fits):
        at -= len(cell)
        page[at : at + len(cell)] = cell
        places.append(at)
    struct.pack_into(">BHHHB", page, 0, kind, 0, fits, at, 0)
    struct.pack_into(f">I{fits}H", page, 8, child, *places)
    return bytes(page)


# -- files beside a store ------------------------------------------------------------------------


def deleting_journal(data: bytes, victim: str) -> bytes:
    """Return a journal for a store after whose use SQLite deletes a file."""
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">IIIII", 0, 1, len(data) // PAGE_SIZE, 512, PAGE_SIZE)
    name = victim.encode()
    lock_page = 0x40000000 // PAGE_SIZE + 1
    end = struct.pack(">I", lock_page) + name + struct.pack(">II", len(name), sum(name)) + magic
    return head.ljust(512, b"\0") + end
