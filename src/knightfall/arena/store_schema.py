"""The tables of a store, and the comparison of a file's schema with them.

A schema is more than data: a trigger, a view, an index or a generated column contains expressions,
which SQLite evaluates when a table is read or written.  So a file whose schema differs from that of
a store is refused before its tables are used.
"""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from typing import NamedTuple

from knightfall.untrusted_input import shown

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
