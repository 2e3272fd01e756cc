"""Ties among equal moves are broken by the agent's seed, the same way on every machine.

A search tries the root's moves in a shuffled order and keeps the first of the best.  The shuffle
depends on the seed and the position only, so an agent's answer never depends on what it was
asked before.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import moves
from knightfall.search.state import ENTRY_POINT, STATE, State, conclude

_u64, _i64 = types.uint64, types.int64


@compiled(_u64(_u64))
def scramble(word: int) -> int:
    """A bijection of 64-bit words that looks random: Steele, Lea and Flood's splitmix finish."""
    word = (word ^ (word >> _u64(30))) * _u64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> _u64(27))) * _u64(0x94D049BB133111EB)
    return word ^ (word >> _u64(31))  # type: ignore[no-any-return]


@compiled(_i64(STATE, _u64, _u64, _i64, _i64))
def begin(state: State, choice: Bits, open: Bits, mover: int, waiter: int) -> int:
    """Write the root's moves to `state.root` in the seed's order; returns how many there are.

    The first of them is the answer until a search has a better one.
    """
    number = 0
    while choice != _u64(0):
        state.root[number] = first(choice)
        choice = rest(choice)
        number += 1
    word = scramble(state.seed ^ _u64(0x9E3779B97F4A7C15))
    word = scramble(word ^ open)
    word = scramble(word ^ _u64(mover * 128 + waiter))
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
def any_move(boards: Any, states: Any, open: Bits, mover: int, waiter: int) -> None:
    """No search at all: every move is as good as any other, and the seed picks one."""
    begin(states[0], moves(boards[0], open, mover), open, mover, waiter)
