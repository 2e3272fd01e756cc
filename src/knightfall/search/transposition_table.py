"""The transposition table: results of positions that this search has visited before.

Every ply fills exactly one cell, so a position can only recur at the same ply: an entry never
needs its score adjusted, and never comes from another depth of the same iteration.  Entries have
the whole position, not a hash of it, so a hit is never wrong.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, records
from knightfall.kernel.compile import compiled
from knightfall.search.search_state import STATE, State

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
SETTLED = 127
"""The depth of an entry whose score no deeper search can change."""
NO_MOVE = 255

# 32 bytes, two to a cache line; a pair of neighbours is one bucket.
ENTRY_DTYPE = np.dtype(
    [
        ("open", "u8"),
        ("score", "f8"),
        ("generation", "u8"),
        ("mover", "u1"),
        ("waiter", "u1"),
        ("depth", "u1"),
        ("bound", "u1"),
        ("move", "u1"),
    ],
    align=True,
)
ENTRY = from_dtype(ENTRY_DTYPE)
Table = npt.NDArray[Any]

_entry_at = records(ENTRY)
"""In compiled code: return the entry with an index in the table at an address."""

_u64, _i64 = types.uint64, types.int64


@compiled(_u64(_u64, _u64, _i64, _i64), forceinline=True)
def bucket(entries: int, open: Bits, mover: int, waiter: int) -> int:
    """Return the index of the first of the two entries where a position may be found."""
    key = open ^ (_u64(mover) << _u64(57)) ^ (_u64(waiter) << _u64(50))
    key = key * _u64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: spreads nearby keys
    return (key ^ (key >> _u64(32))) & (entries - _u64(2))  # type: ignore[no-any-return]


class Probe(NamedTuple):
    """A copy of a position's entry; `found` says whether there is one."""

    found: bool
    score: float
    depth: int
    bound: int
    move: int


PROBE = types.NamedTuple((types.boolean, types.float64, _i64, _i64, _i64), Probe)


@compiled(PROBE(STATE, _u64, _i64, _i64))
def probe(state: State, open: Bits, mover: int, waiter: int) -> Probe:
    """Return a copy of a position's entry."""
    index = bucket(state.entries, open, mover, waiter)
    for _ in range(2):
        entry = _entry_at(state.table, index)
        if (
            entry.open == open
            and entry.generation == state.generation
            and entry.mover == mover
            and entry.waiter == waiter
        ):
            depth, bound, move = _i64(entry.depth), _i64(entry.bound), _i64(entry.move)
            return Probe(True, entry.score, depth, bound, move)
        index ^= _u64(1)
    return Probe(False, 0.0, _i64(0), _i64(EXACT), _i64(NO_MOVE))


@compiled(types.void(STATE, _u64, _i64, _i64, types.float64, _i64, _i64, _i64))
def store(
    state: State,
    open: Bits,
    mover: int,
    waiter: int,
    score: float,
    depth: int,
    bound: int,
    move: int,
) -> None:
    """Store a result: the deepest in the first slot of its bucket, the newest in the second."""
    index = bucket(state.entries, open, mover, waiter)
    entry = _entry_at(state.table, index)
    same = entry.open == open and entry.mover == mover and entry.waiter == waiter
    if not same and entry.generation == state.generation and entry.depth > depth:
        entry = _entry_at(state.table, index ^ _u64(1))
    entry.open = open
    entry.score = score
    entry.generation = state.generation
    entry.mover = mover
    entry.waiter = waiter
    entry.depth = depth
    entry.bound = bound
    entry.move = move


_SMALLEST, _LARGEST = 1 << 12, 1 << 20
_NODES_PER_ENTRY = 16
_tables = threading.local()


def size_for(nodes: int) -> int:
    """Return the number of entries of a table for a search of about `nodes` nodes.

    Few nodes are deep enough to be stored, and a table that fits the processor's cache is better
    than one with room for everything.
    """
    size = _SMALLEST
    while size * _NODES_PER_ENTRY < nodes and size < _LARGEST:
        size <<= 1
    return size


def new_table(entries: int) -> Table:
    """Return an empty table whose memory pages are allocated, so that no search waits for them."""
    table = np.zeros(entries, ENTRY_DTYPE)
    table["generation"] = 0
    return table


def table_for(entries: int) -> tuple[int, int]:
    """Return the address of this thread's table of this size, and a new generation number.

    All searches of a thread share the table.  A search ignores entries with another generation
    number than its own, so that a new number empties the table at no cost.
    """
    held: dict[int, Table] = _tables.__dict__.setdefault("held", {})
    if entries not in held:
        held[entries] = new_table(entries)
    _tables.generation = getattr(_tables, "generation", 0) + 1
    return held[entries].ctypes.data, _tables.generation
