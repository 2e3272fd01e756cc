"""The solver's table: proven facts about positions.

A proof stays true, so the table is never emptied, is shared by all threads and outlives a solve.
An entry is two words that together contain the whole position, so a hit is never wrong, on any
board of up to 64 cells::

    data   bits  0–6   mover's cell      14–15  outcome: 1 the mover wins, 2 it loses
                 7–13  waiter's cell     16–22  within: the game is over within this many plies
                                         23–29  the mover does not win within this many plies
                                         30–36  the mover does not lose within this many plies
    key    open cells, xor data scrambled

Two threads may write the two words of one entry at the same time.  Then key and data do not
belong together, and the decoded open cells are 64 random bits, which are practically never those of
a position that is looked up.

Threads that search the same position share the proofs and avoid each other's moves.  Before a
thread searches a position it leaves a mark.  A thread that sees another's mark on a move defers
that move until it has searched the others; by then the answer is usually in the table.  (In chess
programming this is simplified ABDADA.)  If a mark is overwritten or missed, work is done twice, but
the result stays right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, count, records
from knightfall.kernel.compile import compiled

# -- the state of one thread --------------------------------------------------------------------


PLIES = 66
"""More plies than any game has."""

DTYPE = np.dtype(
    [
        ("nodes", "i8"),
        ("table", "u8"),  # the address of `proof_table`, and its number of buckets − 1
        ("buckets", "u8"),
        ("stored", "i8"),  # entries this thread was the first to fill
        ("marks", "u8"),  # the address of `thread_marks`; 0 = this thread is alone
        ("upper", "i8"),  # positions with at least this many open cells use table and ordering
        # Scratch: row p belongs to ply p.
        ("order", "i8", (PLIES, 8)),  # moves, packed as value · 64 + cell, best first
        ("killer", "i8", (PLIES,)),
    ],
    align=True,
)
STATE = from_dtype(DTYPE)
State = Any


# -- the table ----------------------------------------------------------------------------------


_u64, _i64 = types.uint64, types.int64

ENTRY_DTYPE = np.dtype([("key", "u8"), ("data", "u8")])
ENTRY = from_dtype(ENTRY_DTYPE)
Table = npt.NDArray[Any]
BUCKET = 4
"""Entries per bucket: one cache line."""

UNKNOWN, WINS, LOSES = 0, 1, 2
NEVER = 127
"""An unknown length: more plies than any game has."""

# The data of a position without proofs: `within` is NEVER, all else is 0.
BLANK = NEVER << 16

_entry_at = records(ENTRY)


@compiled(_u64(_i64, _i64), forceinline=True)
def cells_of(mover: int, waiter: int) -> int:
    """Return the bits of `data` that hold the knights' cells."""
    return _u64(mover) | (_u64(waiter) << _u64(7))  # type: ignore[no-any-return]


@compiled(_u64(_u64, _u64), forceinline=True)
def hash_position(open: Bits, cells: int) -> int:
    """Return a hash of a position."""
    key = (open ^ (cells << _u64(48))) * _u64(0x9E3779B97F4A7C15)
    return key ^ (key >> _u64(29))  # type: ignore[no-any-return]


@compiled(_u64(_u64), forceinline=True)
def scrambled(data: int) -> int:
    """Return a bijective hash of `data`; an entry's key is this, xor the open cells."""
    word = data * _u64(0xBF58476D1CE4E5B9)
    return word ^ (word >> _u64(31))  # type: ignore[no-any-return]


@compiled(_u64(STATE, _u64, _i64, _i64))
def probe(state: State, open: Bits, mover: int, waiter: int) -> int:
    """Return the data of a position, 0 if the table has none."""
    cells = cells_of(mover, waiter)
    start = (hash_position(open, cells) & state.buckets) << _u64(2)
    for i in range(BUCKET):
        entry = _entry_at(state.table, start + _u64(i))
        data = entry.data
        if data & _u64(0x3FFF) == cells and entry.key ^ scrambled(data) == open:
            return data  # type: ignore[no-any-return]
    return _u64(0)  # type: ignore[no-any-return]


@compiled(types.void(STATE, _u64, _i64, _i64, _u64))
def store(state: State, open: Bits, mover: int, waiter: int, data: int) -> None:
    """Store the data of a position in place of the one that is cheapest to prove again.

    That is the position with the fewest open cells in the bucket.
    """
    cells = cells_of(mover, waiter)
    start = (hash_position(open, cells) & state.buckets) << _u64(2)
    chosen, fewest = start, 65
    for i in range(BUCKET):
        entry = _entry_at(state.table, start + _u64(i))
        there = entry.key ^ scrambled(entry.data)
        if entry.data & _u64(0x3FFF) == cells and there == open:
            chosen, fewest = start + _u64(i), -1
            break
        if entry.data == _u64(0):
            if fewest > 0:
                chosen, fewest = start + _u64(i), 0
        elif count(there) < fewest:
            chosen, fewest = start + _u64(i), count(there)
    if fewest == 0:
        state.stored += 1
    entry = _entry_at(state.table, chosen)
    data = data | cells
    entry.key = open ^ scrambled(data)
    entry.data = data


@compiled(_i64(_u64), forceinline=True)
def outcome(data: int) -> int:
    """Return UNKNOWN, WINS or LOSES, for the mover."""
    return _i64((data >> _u64(14)) & _u64(3))  # type: ignore[no-any-return]


@compiled(_i64(_u64), forceinline=True)
def within(data: int) -> int:
    """Return the plies within which best play ends the game; NEVER if that is unknown."""
    return _i64((data >> _u64(16)) & _u64(127))  # type: ignore[no-any-return]


@compiled(_i64(_u64, _i64), forceinline=True)
def beyond(data: int, plies: int) -> int:
    """Return the most plies, of the parity of `plies`, in which the game is proven *not* to end.

    For odd plies with a win of the mover, for even plies with a loss.  Negative if unknown.
    """
    shift = _u64(23) if plies & 1 else _u64(30)
    return _i64((data >> shift) & _u64(127)) - 2  # type: ignore[no-any-return]


@compiled(_u64(_u64, _i64), forceinline=True)
def with_outcome(data: int, mover_wins: int) -> int:
    """Return the data with the winner added."""
    if data == _u64(0):
        data = _u64(BLANK)
    return data | ((_u64(WINS) if mover_wins else _u64(LOSES)) << _u64(14))  # type: ignore[no-any-return]


@compiled(_u64(_u64, _i64, types.boolean), forceinline=True)
def with_answer(data: int, plies: int, ends: bool) -> int:
    """Return the data with the answer to `game_length.ends_within` added."""
    if data == _u64(0):
        data = _u64(BLANK)
    if ends:
        data = with_outcome(data, plies & 1)
        if plies < within(data):
            data = (data & ~(_u64(127) << _u64(16))) | (_u64(plies) << _u64(16))
    elif plies > beyond(data, plies):
        shift = _u64(23) if plies & 1 else _u64(30)
        data = (data & ~(_u64(127) << shift)) | (_u64(plies + 2) << shift)
    return data


# -- marks of threads ---------------------------------------------------------------------------


MARKS = 1 << 14
MARK_DTYPE = np.dtype([("key", "u8")])
_mark_at = records(from_dtype(MARK_DTYPE))


@compiled(_u64(_u64, _i64, _i64, _i64), forceinline=True)
def _key(open: Bits, mover: int, waiter: int, question: int) -> int:
    """Return the key of a mark: a hash of a position and of a question about it."""
    return hash_position(open, cells_of(mover, waiter)) + _u64(question)  # type: ignore[no-any-return]


@compiled(types.boolean(STATE, _u64, _i64, _i64, _i64))
def defer_move(state: State, open: Bits, mover: int, waiter: int, question: int) -> bool:
    """Return whether another thread is searching this question about the position after a move."""
    if state.marks == _u64(0):
        return False
    key = _key(open, mover, waiter, question)
    return _mark_at(state.marks, key & _u64(MARKS - 1)).key == key  # type: ignore[no-any-return]


@compiled(types.void(STATE, _u64, _i64, _i64, _i64))
def starting_search(state: State, open: Bits, mover: int, waiter: int, question: int) -> None:
    """Mark a question as being searched by a thread."""
    if state.marks != _u64(0):
        key = _key(open, mover, waiter, question)
        one = _mark_at(state.marks, key & _u64(MARKS - 1))
        one.key = key


@compiled(types.void(STATE, _u64, _i64, _i64, _i64))
def finished_search(state: State, open: Bits, mover: int, waiter: int, question: int) -> None:
    """Remove the mark of a question."""
    if state.marks != _u64(0):
        key = _key(open, mover, waiter, question)
        one = _mark_at(state.marks, key & _u64(MARKS - 1))
        one.key = _u64(0)
