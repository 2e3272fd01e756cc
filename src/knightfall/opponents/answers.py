"""What a player replies in a trial, and what all of them would."""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.kernel.bits import Bits, first, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import moves
from knightfall.opponents.asking import BOARDS, SOLVER_STATES, STATES
from knightfall.opponents.replies import GOLDEN, PLAYERS, REPLY_TABLE, ask_once, place_for
from knightfall.opponents.state import PRACTICE, SURE, WAYS, Practice
from knightfall.opponents.stranger import ask_stranger
from knightfall.search.search_state import scramble

_u64, _i64 = types.uint64, types.int64
_WHERE = (BOARDS, STATES, BOARDS, SOLVER_STATES)


@compiled(
    types.boolean(*_WHERE, PRACTICE, REPLY_TABLE, PLAYERS, _i64, _i64, _u64, _i64, _i64),
)
def _ask(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    at: int,
    number: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> bool:
    """Ask a player, be it a search or the stranger; False if it was cut short."""
    if number == practice.stranger:
        return ask_stranger(
            *(boards, states, solver_boards, solver_states),
            *(practice, table, players, at, open, mover, waiter),
        )
    return ask_once(boards, states, practice, table, players, at, number, open, mover, waiter)


@compiled(_i64(*_WHERE, PRACTICE, REPLY_TABLE, PLAYERS, _i64, _u64, _i64, _i64))
def reply(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practice: Practice,
    table: Any,
    players: Any,
    number: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> int:
    """What a player moves to, drawn from what it may, with the flag `SURE`; −1 if cut short."""
    at = place_for(table, practice, open, mover, waiter)
    entry = table[at]
    if entry.asked[number] < practice.samples and not _ask(
        *(boards, states, solver_boards, solver_states),
        *(practice, table, players, at, number, open, mover, waiter),
    ):
        return -1
    total = 0
    for way in range(WAYS):
        total += entry.weights[number, way]
    practice.draws += _u64(1)
    word = scramble(practice.seed + practice.draws * _u64(GOLDEN))
    lot = _i64(word % _u64(total))
    left = moves(boards[0], open, mover)
    for way in range(WAYS):
        lot -= _i64(entry.weights[number, way])
        if lot < 0:
            break
        left = rest(left)
    flag = SURE if (entry.sure >> _u64(number)) & _u64(1) != _u64(0) else 0
    return first(left) | flag


@compiled(
    _i64(
        *(*_WHERE, types.Array(PRACTICE, 1, "C"), REPLY_TABLE, PLAYERS),
        *(types.Array(types.boolean, 1, "C"), _u64, _i64, _i64),
    )
)
def ask_about(
    boards: Any,
    states: Any,
    solver_boards: Any,
    solver_states: Any,
    practices: Any,
    table: Any,
    players: Any,
    whom: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> int:
    """Ask some players about a position until all is known of them; its place in the table."""
    practice = practices[0]
    at = place_for(table, practice, open, mover, waiter)
    for number in range(len(whom)):
        while whom[number] and table[at].asked[number] < practice.samples:
            if not _ask(
                *(boards, states, solver_boards, solver_states),
                *(practice, table, players, at, number, open, mover, waiter),
            ):
                return at
    return at
