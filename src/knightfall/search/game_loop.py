"""Whole games in compiled code, without Python between the moves.

With 2,500 nodes per move a search takes a tenth of a millisecond.  A position, a report and a call
from Python would take as long again, so for agents that are only a search (every kind with a depth
or node budget) the loop of the game is compiled, too.  The moves are the same as those of
`run_search`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import from_dtype, types

from knightfall.kernel.bits import Bits, call_search, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, Geometry, moves
from knightfall.search.search_state import LIMIT, NO_ANSWER, OPTIONS, PLIES, SETTINGS, STATE, State

_u64, _i64 = types.uint64, types.int64

GAME_DTYPE = np.dtype(
    [
        ("clock", "u8"),  # the address of the clock (0 = none), and of two words for its result
        ("dial", "u8"),
        ("reading", "i8", (2,)),  # those words
        ("stop", "i8"),  # 1: end the game before its next move
        ("generation", "u8"),  # marks table entries; a new number for each search
        ("plies", "i8"),  # how many moves were made
        # why the mover lost: 1, its heuristic raised an error; 2, it changed its board; 3, it
        # resigned, because every line is lost; 4, its time was up before it had a move
        ("failed", "i8"),
        ("cells", "u1", (PLIES,)),
        ("depths", "u1", (PLIES,)),
        ("microseconds", "u4", (PLIES,)),
        ("scores", "f8", (PLIES,)),
        ("nodes", "u8", (PLIES,)),
    ],
    align=True,
)
GAME = from_dtype(GAME_DTYPE)


_MOST = 2**32 - 1
FAILED, TAMPERED, RESIGNED, TOO_LATE = 1, 2, 3, 4


@compiled(types.float64(types.float64))
def _as_reported(score: float) -> float:
    """Return a score as `Report` has it: ±inf if it is proven or the heuristic returned ±inf."""
    if score >= LIMIT:
        return math.inf
    if score <= -LIMIT:
        return -math.inf
    return score + 0.0  # no −0


@compiled(types.boolean(types.Array(_u64, 1, "C"), types.Array(_u64, 1, "C", readonly=True)))
def _begins_with(words: Any, rules: Any) -> bool:
    """Return whether a board's record still begins with the words `rules`, its original content."""
    difference = _u64(0)
    for i in range(len(rules)):
        difference |= words[i] ^ rules[i]
    return difference == _u64(0)  # type: ignore[no-any-return]


@compiled(types.void(GEOMETRY, STATE, SETTINGS, _u64, _u64, _i64, _i64))
def search_for(
    board: Geometry,
    state: State,
    player: Any,
    generation: int,
    open: Bits,
    mover: int,
    waiter: int,
) -> None:
    """Run a player's search; `generation` marks its entries in the transposition table."""
    board.limit = player.limit
    board.failed = 0
    state.heuristic = player.heuristic
    state.symmetric = player.symmetric
    state.depth_limit = player.depth_limit
    state.seed = player.seed
    state.table = player.table
    state.entries = player.entries
    state.generation = generation
    for option in range(OPTIONS):
        state.options[option] = player.options[option]
    for ply in range(PLIES):  # every search starts without killers
        state.killers[ply, 0] = 0
        state.killers[ply, 1] = 0
    call_search(player.entry, board, state, open, mover, waiter)


@compiled(
    types.void(
        types.Array(GEOMETRY, 1, "C"),
        types.Array(_u64, 1, "C"),
        types.Array(_u64, 1, "C", readonly=True),
        types.Array(STATE, 1, "C"),
        types.Array(SETTINGS, 1, "C"),
        types.Array(GAME, 1, "C"),
        _u64,
        _i64,
        _i64,
    )
)
def play(
    boards: Any,
    words: Any,
    rules: Any,
    states: Any,
    players: Any,
    games: Any,
    open: Bits,
    mover: int,
    waiter: int,
) -> None:
    """Play a game to its end; `players` has both players' settings, and players[0] is to move.

    The game ends when the side to move has no move or resigns, when its heuristic fails, or when
    `stop` is set.  `words` are those of the board's record; no search may change its first part,
    the `rules`.
    """
    board, state, game = boards[0], states[0], games[0]
    turn = 0
    game.plies = 0
    game.failed = 0
    while moves(board, open, mover) != _u64(0) and game.stop == 0:
        player = players[turn]
        before = _i64(0)
        if game.clock != _u64(0):
            before = nanoseconds(game.clock, game.dial)
        game.generation += _u64(1)
        steps = board.step_limit
        search_for(board, state, player, game.generation, open, mover, waiter)
        if player.watched != 0 and (
            (board.limit != player.limit and board.limit != 0)
            or state.nodes > player.limit
            or board.step_limit != steps
            or not _begins_with(words, rules)
        ):
            game.failed = TAMPERED
            return
        if board.failed != 0:
            game.failed = FAILED
            return
        if game.stop != 0:
            return  # the search was stopped, too
        cell = state.move
        if cell == NO_ANSWER:
            game.failed = RESIGNED if state.late == 0 else TOO_LATE
            return
        at = _u64(game.plies)
        game.cells[at] = cell
        game.depths[at] = state.depth
        game.scores[at] = _as_reported(state.score)
        game.nodes[at] = state.nodes
        if game.clock != _u64(0):
            taken = (nanoseconds(game.clock, game.dial) - before + 500) // 1000
            game.microseconds[at] = min(taken, _MOST)
        game.plies += 1
        open &= ~(_u64(1) << _u64(cell))
        mover, waiter = waiter, cell
        turn = 1 - turn
