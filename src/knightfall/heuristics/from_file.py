"""Heuristics from model files that users have fitted.

`net` and `linear` return the heuristic of a file that ``knightfall learn fit`` wrote.  The
``models.py`` that it writes beside the models has one such line for each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from knightfall.heuristics.features import FEATURES, RACE, describe, race
from knightfall.heuristics.learned import line_value, view_of
from knightfall.heuristics.model_file import by_view, read_model
from knightfall.kernel.neural_net import net_value, packed

Score = Callable[..., float]


def linear(file: str | os.PathLike[str]) -> Score:
    """Return the heuristic of a file with a linear model."""
    model = read_model(Path(file), "linear", FEATURES)
    weights, bias = by_view(model, "weights"), by_view(model, "bias")

    def score(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        describe(board, open, to_move, me + opp - to_move)
        return line_value(board, weights, bias, view_of(board, me, opp, to_move))

    return score


def net(file: str | os.PathLike[str]) -> Score:
    """Return the heuristic of a file with a net."""
    model = read_model(Path(file), "net", RACE)
    arrays = ("first", "first_bias", "second", "second_bias")
    nets = packed(*(by_view(model, name) for name in arrays))

    def score(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        counts = race(board, open, to_move, me + opp - to_move)
        return net_value(nets, view_of(board, me, opp, to_move), counts)  # type: ignore[no-any-return]

    return score
