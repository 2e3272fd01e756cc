"""The published heuristics by id, and the functions from which users build their own.

A heuristic is a function of five arguments that returns the value of a position for `me`.  Here is
one that prefers open cells around its knight and few moves of the opponent::

    from knightfall.heuristics import heuristic, mobility, space

    @heuristic
    def cosy(board, open, me, opp, to_move):
        return space(board, open, me) - 0.5 * mobility(board, open, opp)

Sets of cells (`open`, the result of `moves` or `reach`) are words with one bit per cell: use
`count`, `each`, `first`, `rest` and `bit` on them.  `knightfall.heuristics.registry` explains the
arguments.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from knightfall.heuristics.registry import REGISTRY, STUDIES, heuristic

if TYPE_CHECKING:
    from knightfall.heuristics.vocabulary import (
        bit,
        count,
        cut_short,
        each,
        first,
        mobility,
        moves,
        onward,
        reach,
        rest,
        space,
        spread,
        steps_left,
        time_left,
    )

__all__ = [
    "REGISTRY",
    "bit",
    "count",
    "cut_short",
    "each",
    "first",
    "heuristic",
    "mobility",
    "moves",
    "onward",
    "reach",
    "rest",
    "space",
    "spread",
    "steps_left",
    "time_left",
]


def __getattr__(name: str) -> Any:
    # These functions and the studies are compiled, which takes time: imported on first use.
    if name in __all__:
        return getattr(import_module("knightfall.heuristics.vocabulary"), name)
    if name in STUDIES:
        return import_module(f"knightfall.heuristics.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
