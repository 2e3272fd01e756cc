"""Heuristics with learned weights: a linear model that people can read, and a small neural network.

From counts (`knightfall.heuristics.features`) both estimate the log odds that a player wins.  There
are separate weights for hunter and runner.  The hunter, whose positions are nearly always won, was
trained on the solver's results.  The runner, whose positions are nearly always lost, was also
trained on the results of games, to find positions in which hunters err.  The weights are constants
of the compiled code.
"""

from __future__ import annotations

from typing import Any

from numba import types

from knightfall.heuristics.c_signature import published
from knightfall.heuristics.features import FEATURES, NUMBER, RACE, describe, race
from knightfall.heuristics.model_file import FOLDER, by_view, read_model
from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.neural_net import net_value, packed
from knightfall.kernel.rules import GEOMETRY, Geometry

_u64, _i64, _f32, _f64 = types.uint64, types.int64, types.float32, types.float64

LINEAR = FOLDER / "learned_linear.json"
NET = FOLDER / "learned_net.json"

_linear = read_model(LINEAR, "linear", FEATURES)
_net = read_model(NET, "net", RACE)

# By view; see `view_of`.
_WEIGHTS, _BIAS = by_view(_linear, "weights"), by_view(_linear, "bias")
_NETS = packed(*(by_view(_net, name) for name in ("first", "first_bias", "second", "second_bias")))


@compiled(_u64(GEOMETRY, _i64, _i64, _i64))
def view_of(board: Geometry, me: int, opp: int, to_move: int) -> Bits:
    """Return a player's index in `VIEWS`: 0 or 1 for the hunter, 2 or 3 for the runner.

    It is odd if the player is not to move.

    The side to move is the hunter if both knights stand on the same colour.
    """
    apart = ((board.dark >> _u64(me)) ^ (board.dark >> _u64(opp))) & _u64(1)
    waits = _u64(0) if to_move == me else _u64(1)
    return _u64(2) * (apart ^ waits) + waits  # type: ignore[no-any-return]


@compiled(
    _f64(
        GEOMETRY,
        types.Array(_f32, 3, "C", readonly=True),
        types.Array(_f32, 2, "C", readonly=True),
        _u64,
    ),
    forceinline=True,
)
def line_value(board: Geometry, weights: Any, bias: Any, view: Bits) -> float:
    """Return the linear model's value of the features in `board.sheet`; see `view_of`."""
    at = _f64(board.sheet[_u64(NUMBER - 2)]) / _f64(board.sheet[_u64(NUMBER - 1)])
    squared = at * at
    total = _f64(bias[view, 0]) + at * _f64(bias[view, 1]) + squared * _f64(bias[view, 2])
    for feature in range(NUMBER):
        weight = (
            _f64(weights[view, 0, feature])
            + at * _f64(weights[view, 1, feature])
            + squared * _f64(weights[view, 2, feature])
        )
        total += weight * _f64(board.sheet[_u64(feature)])
    return total  # type: ignore[no-any-return]


@published
def learned_linear(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Weighted sum of counts of cells, with learned weights."""
    describe(board, open, to_move, me + opp - to_move)
    return line_value(board, _WEIGHTS, _BIAS, view_of(board, me, opp, to_move))


@published
def learned_net(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Small neural network, from counts of the cells that each knight reaches first."""
    counts = race(board, open, to_move, me + opp - to_move)
    return net_value(_NETS, view_of(board, me, opp, to_move), counts)  # type: ignore[no-any-return]
