"""Where heuristics are declared: a decorator, and the table it fills.

A heuristic is a pure function ``(board, open, me, opp, to_move) -> float``:

- ``board`` is the geometry record (`knightfall.kernel.geometry`): sizes, knight moves, distances;
- ``open`` is the set of open cells, one bit each;
- ``me`` and ``opp`` are the cells of the player evaluated and of its opponent;
- ``to_move`` is the cell of whichever of the two moves next, so ``to_move == me`` asks "my turn?".

The value is always from me's point of view, whoever is to move.  A heuristic is only asked when
both knights stand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, overload

import numba
from numba import types

from knightfall.errors import KnightfallError
from knightfall.kernel.bits import ask, each
from knightfall.kernel.compile import compile_later, compiled
from knightfall.kernel.geometry import GEOMETRY

Score = Callable[..., float]
"""A heuristic's Python function."""

HEURISTIC = types.float64(GEOMETRY, types.uint64, types.int64, types.int64, types.int64)
"""The one signature of every heuristic, published or a user's."""

PARAMETERS = ("board", "open", "me", "opp", "to_move")

STUDIES = ("course", "lookahead", "directional", "reachability", "staged", "aggressive")
USER = "user"
"""What stands for a study where a heuristic is somebody's own."""


@dataclass(frozen=True)
class Declared:
    """One row of the table: a heuristic, or a family of them when `parameter` is set.

    `score` is the dispatcher that compiles it; for a family it is the function that makes the
    member's Python function from the parameter.
    """

    id: str
    study: str
    formula: str
    summary: str
    symmetric: bool
    costly: bool
    score: Any = field(repr=False)
    parameter: str = ""
    published: tuple[Fraction, ...] = ()


REGISTRY: dict[str, Declared] = {}
"""Every declared heuristic by its id, in the order of declaration."""


def _declare(row: Declared) -> None:
    known = REGISTRY.get(row.id)
    if known is not None and known.study != USER:
        raise KnightfallError(
            f"heuristic id {row.id!r} is taken by the {known.study} study: choose another name"
        )
    REGISTRY[row.id] = row


@overload
def heuristic(function: Score) -> Any: ...
@overload
def heuristic(
    *, study: str = ..., formula: str = ..., symmetric: bool = ..., costly: bool = ...
) -> Callable[[Score], Any]: ...
def heuristic(
    function: Score | None = None,
    *,
    study: str = USER,
    formula: str = "",
    symmetric: bool | None = None,
    costly: bool = False,
) -> Any:
    """Declare a heuristic; its id is the function's name.

    Returns the function as a Numba dispatcher: other heuristics may call it, and so may Python.
    It is compiled when it is first used.  `symmetric` promises that mirrored and turned
    positions get the same value, which lets a search skip mirror images; published heuristics
    keep it by default, a user's is only believed to if its author says so (`knightfall check` finds
    out).  A `costly` heuristic searches on its own: it heeds ``board.step_limit`` and
    ``board.limit``.
    """

    def declare(score: Score) -> Any:
        dispatcher = compile_later(score, cache=study != USER)
        if study != USER:
            _have_one_version(dispatcher)
        text = (inspect.getdoc(score) or "").split("\n")[0]
        keeps = symmetric if symmetric is not None else study != USER
        _declare(Declared(score.__name__, study, formula, text, keeps, costly, dispatcher))
        return dispatcher

    return declare if function is None else declare(function)


def family(
    *, study: str, formula: str, parameter: str, published: Iterable[Fraction]
) -> Callable[[Callable[[float], Score]], Callable[[float], Score]]:
    """Declare a family of heuristics: the function makes a member from its parameter."""

    def declare(make: Callable[[float], Score]) -> Callable[[float], Score]:
        summary = (inspect.getdoc(make) or "").split("\n")[0]
        _declare(
            Declared(
                make.__name__,
                study,
                formula,
                summary,
                symmetric=True,
                costly=False,
                score=make,
                parameter=parameter,
                published=tuple(published),
            )
        )
        return make

    return declare


def _note_failure(board: Any, open: int, me: int, opp: int, to_move: int) -> None:
    board.asked[0] = open
    board.asked[1] = types.uint64(me)
    board.asked[2] = types.uint64(opp)
    board.asked[3] = types.uint64(to_move)
    board.failed = 1
    board.limit = 0


note_failure = compile_later(_note_failure, cache=True)
"""What a heuristic that fails leaves behind: what was asked, and a search that stops."""


def _have_one_version(score: Any) -> None:
    """Let compiled code call a heuristic as it is, whatever kind of board it was given itself."""
    find = score.get_call_template

    def found(args: Any, kws: Any) -> Any:
        ready(score).disable_compile()
        return find(args, kws)

    score.get_call_template = found


def ready(score: Any) -> Any:
    """A heuristic's dispatcher, compiled."""
    if not score.signatures:
        score.compile(HEURISTIC)
    return score


def ready_for_python() -> None:
    """Compile whatever plain Python may call for sets, and forbid to compile it for anything else.

    In Python a set is an int, for which Numba would otherwise compile a version of its own that
    cannot hold cell 63.
    """
    for row in REGISTRY.values():
        if row.study != USER and not row.parameter:
            ready(row.score).disable_compile()
    if not each.signatures:
        each.compile((types.uint64,))
    each.disable_compile()


def check_parameters(score: Score) -> None:
    """Refuse a function that does not take the five arguments."""
    if isinstance(score, numba.core.dispatcher.Dispatcher):
        score = score.py_func
    try:
        given = list(inspect.signature(score).parameters.values())
    except (TypeError, ValueError):
        given = []
    if len(given) != len(PARAMETERS) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in given):
        name = getattr(score, "__name__", repr(score))
        raise KnightfallError(
            f"heuristic {name!r} must take exactly ({', '.join(PARAMETERS)}), "
            f"not ({', '.join(str(p) for p in given)})"
        )


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
