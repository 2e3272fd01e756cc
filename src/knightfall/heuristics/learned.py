"""Heuristics that were learned from the solver's truth: a line a person can read, and a small net.

Both judge a position for the mover, by the features of `knightfall.heuristics.features`: how much
more likely it is to win than to lose, as a logarithm of odds.  Hunter and runner have weights of
their own.  The weights are constants of the compiled code.
"""

from __future__ import annotations

from numba import types

from knightfall.heuristics.features import FEATURES, NUMBER, describe
from knightfall.heuristics.model_file import FOLDER, HIDDEN, both_roles, read_model
from knightfall.heuristics.signature import published
from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY
from knightfall.kernel.rules import Geometry

_u64, _i64, _f64 = types.uint64, types.int64, types.float64

LINEAR = FOLDER / "learned_linear.json"
NET = FOLDER / "learned_net.json"

_linear = read_model(LINEAR, "linear", FEATURES)
_net = read_model(NET, "net", FEATURES)

# By role: 0 the mover hunts, 1 it runs.
_WEIGHTS, _BIAS = both_roles(_linear, "weights"), both_roles(_linear, "bias")
_FIRST, _FIRST_BIAS = both_roles(_net, "first"), both_roles(_net, "first_bias")
_SECOND, _SECOND_BIAS = both_roles(_net, "second"), both_roles(_net, "second_bias")


@compiled(_u64(GEOMETRY, _i64, _i64))
def role_of(board: Geometry, mover: int, waiter: int) -> Bits:
    """0 if the mover is the hunter, 1 if it is the runner."""
    return ((board.dark >> _u64(mover)) ^ (board.dark >> _u64(waiter))) & _u64(1)  # type: ignore[no-any-return]


@compiled(_f64(GEOMETRY, _u64, _i64, _i64))
def linear_value(board: Geometry, open: Bits, mover: int, waiter: int) -> float:
    """The mover's log-odds by the linear model."""
    describe(board, open, mover, waiter)
    role = role_of(board, mover, waiter)
    at = _f64(board.sheet[_u64(NUMBER - 2)]) / _f64(board.sheet[_u64(NUMBER - 1)])
    squared = at * at
    total = _BIAS[role, 0] + at * _BIAS[role, 1] + squared * _BIAS[role, 2]
    for feature in range(NUMBER):
        weight = (
            _WEIGHTS[role, 0, feature]
            + at * _WEIGHTS[role, 1, feature]
            + squared * _WEIGHTS[role, 2, feature]
        )
        total += weight * _f64(board.sheet[_u64(feature)])
    return total  # type: ignore[no-any-return]


@compiled(_f64(GEOMETRY, _u64, _i64, _i64))
def net_value(board: Geometry, open: Bits, mover: int, waiter: int) -> float:
    """The mover's log-odds by the net.

    Eight hidden units at a time: their sums stay in two registers of a machine that has vectors.
    In double precision, for large parts cancel each other.
    """
    describe(board, open, mover, waiter)
    role = role_of(board, mover, waiter)
    total = _SECOND_BIAS[role, 0]
    for block in range(HIDDEN // 8):
        at = _u64(8 * block)
        a, b = _FIRST_BIAS[role, at], _FIRST_BIAS[role, at + _u64(1)]
        c, d = _FIRST_BIAS[role, at + _u64(2)], _FIRST_BIAS[role, at + _u64(3)]
        e, f = _FIRST_BIAS[role, at + _u64(4)], _FIRST_BIAS[role, at + _u64(5)]
        g, h = _FIRST_BIAS[role, at + _u64(6)], _FIRST_BIAS[role, at + _u64(7)]
        for feature in range(NUMBER):
            place = _u64(feature)
            seen = _f64(board.sheet[place])
            a += seen * _FIRST[role, place, at]
            b += seen * _FIRST[role, place, at + _u64(1)]
            c += seen * _FIRST[role, place, at + _u64(2)]
            d += seen * _FIRST[role, place, at + _u64(3)]
            e += seen * _FIRST[role, place, at + _u64(4)]
            f += seen * _FIRST[role, place, at + _u64(5)]
            g += seen * _FIRST[role, place, at + _u64(6)]
            h += seen * _FIRST[role, place, at + _u64(7)]
        total += max(a, 0.0) * _SECOND[role, at] + max(b, 0.0) * _SECOND[role, at + _u64(1)]
        total += max(c, 0.0) * _SECOND[role, at + _u64(2)]
        total += max(d, 0.0) * _SECOND[role, at + _u64(3)]
        total += max(e, 0.0) * _SECOND[role, at + _u64(4)]
        total += max(f, 0.0) * _SECOND[role, at + _u64(5)]
        total += max(g, 0.0) * _SECOND[role, at + _u64(6)]
        total += max(h, 0.0) * _SECOND[role, at + _u64(7)]
    return total  # type: ignore[no-any-return]


@published
def learned_linear(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Learned weights of what can be counted on the board."""
    if to_move == me:
        return linear_value(board, open, me, opp)
    return -linear_value(board, open, opp, me)


@published
def learned_net(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """A small net over what can be counted on the board."""
    if to_move == me:
        return net_value(board, open, me, opp)
    return -net_value(board, open, opp, me)
