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
import threading
from collections.abc import Callable
from typing import Any, overload

from knightfall.errors import KnightfallError
from knightfall.heuristics.ours import OURS
from knightfall.heuristics.published import PUBLISHED, USER, Declared
from knightfall.heuristics.variants import VARIANTS

Score = Callable[..., float]
"""A heuristic's Python function."""

PARAMETERS = ("board", "open", "me", "opp", "to_move")

REGISTRY: dict[str, Declared] = {row.id: row for row in (*PUBLISHED, *VARIANTS, *OURS)}
"""Every declared heuristic by its id, in the order of declaration."""


@overload
def heuristic(function: Score) -> Any: ...
@overload
def heuristic(*, formula: str = ..., symmetric: bool = ...) -> Callable[[Score], Any]: ...
def heuristic(function: Score | None = None, *, formula: str = "", symmetric: bool = False) -> Any:
    """Declare a heuristic of your own; its id is the function's name.

    Returns the function as a Numba dispatcher: other heuristics may call it, and so may Python.
    It is compiled when it is first used.  `symmetric` promises that mirrored and turned
    positions get the same value, which lets a search skip mirror images (`knightfall check` finds
    out).
    """

    def declare(score: Score) -> Any:
        from knightfall.kernel.compile import compile_later  # here: it is the compiler

        id = score.__name__
        known = REGISTRY.get(id)
        if known is not None and known.study != USER:
            raise KnightfallError(
                f"heuristic id {id!r} is taken by the {known.study} study: choose another name"
            )
        dispatcher = compile_later(score, cache=False)
        summary = (inspect.getdoc(score) or "").split("\n")[0]
        REGISTRY[id] = Declared(id, USER, formula, summary, symmetric, function=dispatcher)
        return dispatcher

    return declare if function is None else declare(function)


def ready_for_python() -> None:
    """Compile for sets what plain Python may loop with, and forbid to compile it for anything else.

    In Python a set is an int, for which Numba would otherwise compile a version of its own that
    cannot hold cell 63.  Published heuristics see to that by themselves.
    """
    from numba import types

    from knightfall.kernel.bits import each

    with _forbidding:  # or one thread would forbid what another is about to compile
        if not each.signatures:
            each.compile((types.uint64,))
        each.disable_compile()


_forbidding = threading.Lock()


def check_parameters(score: Score) -> None:
    """Refuse a function that does not take the five arguments."""
    try:
        given = list(inspect.signature(getattr(score, "py_func", score)).parameters.values())
    except (TypeError, ValueError):
        given = []
    if len(given) != len(PARAMETERS) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in given):
        name = getattr(score, "__name__", repr(score))
        raise KnightfallError(
            f"heuristic {name!r} must take exactly ({', '.join(PARAMETERS)}), "
            f"not ({', '.join(str(p) for p in given)})"
        )
