"""What a heuristic is to compiled code: one signature, and an address that is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numba import types

from knightfall.kernel.bits import ask
from knightfall.kernel.compile import compile_later, compiled
from knightfall.kernel.geometry import GEOMETRY

HEURISTIC = types.float64(GEOMETRY, types.uint64, types.int64, types.int64, types.int64)
"""The one signature of every heuristic, published or a user's."""


def published(score: Callable[..., float]) -> Any:
    """Return a published heuristic as a Numba dispatcher: others may call it, and so may Python.

    It is compiled when it is first used, and for one signature only.  In Python a set is an int,
    for which Numba would otherwise compile a version of its own that cannot hold cell 63.
    `knightfall.heuristics.registry` tells what it is.
    """
    dispatcher = compile_later(score, cache=True)
    find = dispatcher.get_call_template

    def found(args: Any, kws: Any) -> Any:
        # There is one version of it, whatever kind of board its caller was given.
        template, signature, _, _ = find(HEURISTIC.args, {})
        return template, signature, dispatcher.fold_argument_types(args, kws)[1], {}

    def compiled_for_python(*_: Any) -> Any:
        # Numba asks for a version for arguments it has none for, and calls what it gets with them.
        with _compiling:
            ready(dispatcher).disable_compile()
        return dispatcher

    dispatcher.get_call_template = found
    dispatcher._compile_for_args = compiled_for_python
    return dispatcher


_compiling = threading.Lock()


def ready(score: Any) -> Any:
    """A heuristic's dispatcher, compiled."""
    if not score.signatures:
        score.compile(HEURISTIC)
    return score


def _note_failure(board: Any, open: int, me: int, opp: int, to_move: int) -> None:
    board.asked[0] = open
    board.asked[1] = types.uint64(me)
    board.asked[2] = types.uint64(opp)
    board.asked[3] = types.uint64(to_move)
    board.failed = 1
    board.limit = 0


note_failure = compile_later(_note_failure, cache=True)
"""What a heuristic that fails leaves behind: what was asked, and a search that stops."""


@compiled(
    types.float64(
        types.Array(GEOMETRY, 1, "C"),
        types.uint64,
        types.uint64,
        types.int64,
        types.int64,
        types.int64,
    )
)
def ask_once(boards: Any, address: int, open: int, me: int, opp: int, to_move: int) -> float:
    """Ask the heuristic at an address about one position."""
    return ask(address, boards[0], open, me, opp, to_move)  # type: ignore[no-any-return]


@compiled(
    types.void(
        types.Array(GEOMETRY, 1, "C"),
        types.uint64,
        types.Array(types.uint64, 2, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.int64, 1, "C"),
    )
)
def ask_many(boards: Any, address: int, questions: Any, values: Any, done: Any) -> None:
    """Ask about one position after the other, from number `done` on, until the limit is 0.

    A question is a row of open, me, opp and to_move; `done` always says how many were answered.
    """
    board = boards[0]
    while done[0] < len(questions) and board.limit != 0:
        row = questions[done[0]]
        me, opp, to_move = types.int64(row[1]), types.int64(row[2]), types.int64(row[3])
        values[done[0]] = ask(address, board, row[0], me, opp, to_move)
        done[0] += 1
