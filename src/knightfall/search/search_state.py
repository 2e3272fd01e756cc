"""The state of a search: one flat record with its limits, its result and its scratch space.

Scores are floats from the mover's point of view, in three ranges::

    ±(WIN − n)      proven: won or lost n plies from the root
    ±LIMIT          the largest heuristic values; +∞ and −∞ from a heuristic become these
    between         a heuristic value

so a proven win beats any heuristic value, a shorter win beats a longer one, and a longer loss beats
a shorter one.

Ties among equal moves are broken by the agent's seed, the same way on every machine: a search tries
the root's moves in a shuffled order and keeps the first of the best.  The shuffle depends on the
seed and the position only, so an agent's move never depends on earlier searches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, call_heuristic, call_search, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, POCKET, Geometry, moves

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

WIN = float(2**52)
PROVEN = float(2**52 - 2**10)
LIMIT = float(2**51)

PLIES = 66
"""More plies than any game has: at most 64 cells to fill, and one ply to detect the end."""

OPTIONS, COUNTS = 9, 2
"""How many integers the state has for options of a particular search, and for its counters."""

NO_ANSWER = -1
"""The move of a search that resigns, or that has no move when its time is up."""

DTYPE = np.dtype(
    [
        # input
        ("heuristic", "u8"),  # the address of its C function
        ("depth_limit", "i8"),
        ("seed", "u8"),  # breaks ties among equal moves
        ("symmetric", "i8"),  # 1: mirror images have equal values
        ("table", "u8"),  # the address of its first entry, and how many there are
        ("entries", "u8"),
        ("generation", "u8"),  # entries of other generations are ignored
        ("options", "i8", (OPTIONS,)),  # for searches with options of their own
        # output
        ("nodes", "i8"),
        ("move", "i8"),
        ("score", "f8"),
        ("depth", "i8"),  # the last depth that was finished
        ("length", "i8"),
        ("pv", "i1", (PLIES,)),
        # scratch: row p belongs to ply p
        ("horizon", "i8"),  # the ply of the leaves
        ("root", "i8", (64,)),  # the root's moves in the order they are searched
        ("killers", "i8", (PLIES, 2)),
        ("lines", "i1", (PLIES, PLIES)),
        ("lengths", "i8", (PLIES,)),
        ("late", "i8"),  # 1: no move was found before the time was up
        ("word", "u8"),  # a random word
        ("counts", "i8", (COUNTS,)),  # counters of a particular search
    ],
    align=True,
)
STATE = from_dtype(DTYPE)
State = Any

# The settings of a search; a game has one record for each player.
SETTINGS_DTYPE = np.dtype(
    [
        ("entry", "u8"),  # the address of the compiled search
        ("heuristic", "u8"),
        ("symmetric", "i8"),
        ("depth_limit", "i8"),
        ("limit", "i8"),  # nodes per move
        ("seed", "u8"),
        ("table", "u8"),
        ("entries", "u8"),
        ("watched", "i8"),  # 1: a user's heuristic, which may have changed the board
        ("options", "i8", (OPTIONS,)),
    ],
    align=True,
)
SETTINGS = from_dtype(SETTINGS_DTYPE)

ENTRY_POINT = types.void(GEOMETRY, STATE, _u64, _i64, _i64)
"""The signature of every search: board, state, open, mover, waiter."""


@compiled(
    types.void(_u64, types.Array(GEOMETRY, 1, "C"), types.Array(STATE, 1, "C"), _u64, _i64, _i64)
)
def search_at(address: int, boards: Any, states: Any, open: Bits, mover: int, waiter: int) -> None:
    """Call the search at an address from Python, which passes arrays faster than records."""
    call_search(address, boards[0], states[0], open, mover, waiter)


@compiled(types.boolean(_f64))
def is_proven(score: float) -> bool:
    """Return whether a score is a proven win or loss."""
    return score >= PROVEN or score <= -PROVEN


@compiled(
    _f64(GEOMETRY, STATE, _u64, _i64, _i64, _i64),
    forceinline=True,
)
def leaf(board: Geometry, state: State, open: Bits, mover: int, waiter: int, ply: int) -> float:
    """Return a leaf's value for the mover.

    Heuristics need not be antisymmetric, so they are always evaluated for the side to move at the
    root, which is the mover at even plies.  Before both knights are placed the value is 0.
    """
    state.nodes += 1
    if open & board.knight[_u64(mover)] == _u64(0):
        return ply - WIN
    if (mover | waiter) >= POCKET:
        return 0.0
    mine = ply & 1 == 0
    me, opp = (mover, waiter) if mine else (waiter, mover)
    value = call_heuristic(state.heuristic, board, open, me, opp, mover)
    # Written so that nan, too, becomes −LIMIT.
    if not value > -LIMIT:
        value = -LIMIT
    elif value > LIMIT:
        value = LIMIT
    return value if mine else -value  # type: ignore[no-any-return]


@compiled(types.void(STATE, _i64, _i64), forceinline=True)
def remember(state: State, ply: int, cell: int) -> None:
    """Set the best line at `ply` to `cell`, followed by the best line at the next ply."""
    here, there = _u64(ply), _u64(ply + 1)
    state.lines[here, 0] = cell
    length = state.lengths[there]
    for i in range(_u64(length)):
        state.lines[here, i + _u64(1)] = state.lines[there, i]
    state.lengths[here] = length + 1


@compiled(types.void(STATE, _f64, _i64))
def conclude(state: State, score: float, depth: int) -> None:
    """Write score, depth and the root's best line to the result fields of `state`."""
    state.score = score
    state.depth = depth
    state.length = state.lengths[0]
    for i in range(state.length):
        state.pv[i] = state.lines[0, i]
    state.move = state.lines[0, 0]


# -- the root's moves in the order of the seed --------------------------------------------------


@compiled(_u64(_u64))
def scramble(word: int) -> int:
    """Return a pseudo-random bijection of a word: Steele, Lea and Flood's splitmix finalizer."""
    word = (word ^ (word >> _u64(30))) * _u64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> _u64(27))) * _u64(0x94D049BB133111EB)
    return word ^ (word >> _u64(31))  # type: ignore[no-any-return]


@compiled(_u64(_u64, _u64, _i64, _i64))
def seeded_word(seed: int, open: Bits, mover: int, waiter: int) -> int:
    """Return a pseudo-random word that depends only on a seed and a position."""
    word = scramble(seed ^ _u64(0x9E3779B97F4A7C15))
    word = scramble(word ^ open)
    return scramble(word ^ _u64(mover * 128 + waiter))


@compiled(_i64(STATE, _u64, _u64, _i64, _i64))
def begin(state: State, choice: Bits, open: Bits, mover: int, waiter: int) -> int:
    """Write the root's moves, shuffled by the seed, to `state.root`; return how many there are.

    The first of them is the result until a search finds a better one.
    """
    number = 0
    while choice != _u64(0):
        state.root[number] = first(choice)
        choice = rest(choice)
        number += 1
    word = seeded_word(state.seed, open, mover, waiter)
    for last in range(number - 1, 0, -1):
        word = scramble(word + _u64(0x9E3779B97F4A7C15))
        other = _i64(word % _u64(last + 1))
        cell = state.root[last]
        state.root[last] = state.root[other]
        state.root[other] = cell
    state.nodes = 0
    state.lines[0, 0] = state.root[0]
    state.lengths[0], state.lengths[1] = 1, 0
    conclude(state, 0.0, 0)
    return number


@compiled(ENTRY_POINT)
def any_move(board: Geometry, state: State, open: Bits, mover: int, waiter: int) -> None:
    """Choose a pseudo-random move by the seed, without a search."""
    begin(state, moves(board, open, mover), open, mover, waiter)
