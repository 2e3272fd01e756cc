"""The C signature of all heuristics, and calls of a heuristic at an address."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numba import types

from knightfall.kernel.bits import call_heuristic
from knightfall.kernel.compile import compile_later, compiled
from knightfall.kernel.rules import GEOMETRY

HEURISTIC = types.float64(GEOMETRY, types.uint64, types.int64, types.int64, types.int64)
"""The signature of every heuristic, published or a user's."""


def published(score: Callable[..., float]) -> Any:
    """Return a published heuristic as a Numba dispatcher, callable from compiled code and Python.

    It is compiled on first use, for one signature only.  In Python a set of cells is an int, for
    which Numba would otherwise compile another version, with signed words that have no bit for
    cell 63.  `knightfall.heuristics.registry` describes the heuristic.
    """
    dispatcher = compile_later(score, cache=True)
    find = dispatcher.get_call_template

    def found(args: Any, kws: Any) -> Any:
        # There is only one version, also for callers with a read-only board.
        template, signature, _, _ = find(HEURISTIC.args, {})
        return template, signature, dispatcher.fold_argument_types(args, kws)[1], {}

    def compiled_for_python(*_: Any) -> Any:
        # Numba asks for a version for new argument types, and calls the result with the arguments.
        with _compiling:
            ready(dispatcher).disable_compile()
        return dispatcher

    dispatcher.get_call_template = found
    dispatcher._compile_for_args = compiled_for_python
    return dispatcher


_compiling = threading.Lock()


def ready(score: Any) -> Any:
    """Compile a heuristic's dispatcher, unless it is compiled already, and return it."""
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
"""Record the arguments of a heuristic that failed, and stop the search."""


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
def evaluate_at(boards: Any, address: int, open: int, me: int, opp: int, to_move: int) -> float:
    """Return the value of one position by the heuristic at an address."""
    return call_heuristic(address, boards[0], open, me, opp, to_move)  # type: ignore[no-any-return]


@compiled(
    types.void(
        types.Array(GEOMETRY, 1, "C"),
        types.uint64,
        types.Array(types.uint64, 2, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.int64, 1, "C"),
    )
)
def evaluate_many_at(boards: Any, address: int, questions: Any, values: Any, done: Any) -> None:
    """Evaluate positions in order, from number `done` on; end early if `board.limit` becomes 0.

    A question is a row of open, me, opp and to_move; `done` always has the number of values so far.
    """
    board = boards[0]
    while done[0] < len(questions) and board.limit != 0:
        row = questions[done[0]]
        me, opp, to_move = types.int64(row[1]), types.int64(row[2]), types.int64(row[3])
        values[done[0]] = call_heuristic(address, board, row[0], me, opp, to_move)
        done[0] += 1
