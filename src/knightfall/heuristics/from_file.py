"""A model of one's own as a heuristic.

`net` and `linear` make one from a file that ``knightfall learn fit`` wrote; in a file of heuristics
that is one line each, as in the ``models.py`` beside the models.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import types

from knightfall.heuristics.features import FEATURES, NUMBER, describe
from knightfall.heuristics.learned import role_of
from knightfall.heuristics.model_file import HIDDEN, POWERS, both_roles, read_model
from knightfall.kernel.compile import compile_later

_u64, _f64 = types.uint64, types.float64
Score = Callable[..., float]


def linear(file: str | os.PathLike[str]) -> Score:
    """The heuristic of a file with a linear model."""
    model = read_model(Path(file), "linear", FEATURES)
    weights = both_roles(model, "weights")
    bias = both_roles(model, "bias")

    def value(board: Any, open: Any, mover: int, waiter: int) -> float:
        describe(board, open, mover, waiter)
        role = role_of(board, mover, waiter)
        at = _f64(board.sheet[_u64(NUMBER - 2)]) / _f64(board.sheet[_u64(NUMBER - 1)])
        total, power = 0.0, 1.0
        for which in range(POWERS):
            part = bias[role, which]
            for feature in range(NUMBER):
                part += weights[role, which, feature] * _f64(board.sheet[_u64(feature)])
            total += part * power
            power *= at
        return total

    return _both_ways(value)


def net(file: str | os.PathLike[str]) -> Score:
    """The heuristic of a file with a net."""
    model = read_model(Path(file), "net", FEATURES)
    first = both_roles(model, "first")
    first_bias = both_roles(model, "first_bias")
    second = both_roles(model, "second")
    second_bias = both_roles(model, "second_bias")

    def value(board: Any, open: Any, mover: int, waiter: int) -> float:
        describe(board, open, mover, waiter)
        role = role_of(board, mover, waiter)
        hidden = first_bias[role].copy()  # a heuristic of a file may not write on the board's sheet
        for feature in range(NUMBER):
            seen = _f64(board.sheet[_u64(feature)])
            for unit in range(HIDDEN):
                hidden[unit] += seen * first[role, feature, unit]
        total = second_bias[role, 0]
        for unit in range(HIDDEN):
            total += max(hidden[unit], 0.0) * second[role, unit]
        return total  # type: ignore[no-any-return]

    return _both_ways(value)


def _both_ways(value: Callable[..., float]) -> Score:
    """A value for the mover as a heuristic, which is asked for either side."""
    compiled_value = compile_later(value, cache=False)

    def score(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        if to_move == me:
            return compiled_value(board, open, me, opp)  # type: ignore[no-any-return]
        return -compiled_value(board, open, opp, me)  # type: ignore[no-any-return]

    return score
