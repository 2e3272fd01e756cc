"""A model of one's own as a heuristic.

`net` and `linear` make one from a file that ``knightfall learn fit`` wrote; in a file of heuristics
that is one line each, as in the ``models.py`` beside the models.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import types

from knightfall.heuristics.features import FEATURES, NUMBER, describe
from knightfall.heuristics.learned import view_of
from knightfall.heuristics.model_file import HIDDEN, POWERS, by_view, read_model

_u64, _f64 = types.uint64, types.float64
Score = Callable[..., float]


def linear(file: str | os.PathLike[str]) -> Score:
    """The heuristic of a file with a linear model."""
    model = read_model(Path(file), "linear", FEATURES)
    weights = by_view(model, "weights")
    bias = by_view(model, "bias")

    def score(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        view = view_of(board, me, opp, to_move)
        describe(board, open, to_move, me + opp - to_move)
        at = _f64(board.sheet[_u64(NUMBER - 2)]) / _f64(board.sheet[_u64(NUMBER - 1)])
        total, power = 0.0, 1.0
        for which in range(POWERS):
            part = _f64(bias[view, which])
            for feature in range(NUMBER):
                part += _f64(weights[view, which, feature]) * _f64(board.sheet[_u64(feature)])
            total += part * power
            power *= at
        return total

    return score


def net(file: str | os.PathLike[str]) -> Score:
    """The heuristic of a file with a net."""
    model = read_model(Path(file), "net", FEATURES)
    first = by_view(model, "first")
    first_bias = by_view(model, "first_bias")
    second = by_view(model, "second")
    second_bias = by_view(model, "second_bias")

    def score(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        view = view_of(board, me, opp, to_move)
        describe(board, open, to_move, me + opp - to_move)
        hidden = first_bias[view].astype(
            np.float64
        )  # a heuristic of a file may not write on the board's sheet
        for feature in range(NUMBER):
            seen = _f64(board.sheet[_u64(feature)])
            for unit in range(HIDDEN):
                hidden[unit] += seen * _f64(first[view, feature, unit])
        total = _f64(second_bias[view, 0])
        for unit in range(HIDDEN):
            total += max(hidden[unit], 0.0) * _f64(second[view, unit])
        return total  # type: ignore[no-any-return]

    return score
