"""Heuristics that were learned from positions: a line a person can read, and a small net.

Both judge by the features of `knightfall.heuristics.features` how much more likely a player is to
win than to lose, as a logarithm of odds.  The net looks at a position with different eyes as the
hunter and as the runner.  The hunter, who nearly always has a won game, has learned from the solver
who wins by best play.  The runner, who nearly always is lost so, has also learned from games who
won in the end: where hunters go wrong.  The weights are constants of the compiled code.
"""

from __future__ import annotations

from numba import types

from knightfall.heuristics.features import FEATURES, NUMBER, describe
from knightfall.heuristics.model_file import FOLDER, HIDDEN, by_view, read_model
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

# By view; see `view_of`.
_WEIGHTS, _BIAS = by_view(_linear, "weights"), by_view(_linear, "bias")
_FIRST, _FIRST_BIAS = by_view(_net, "first"), by_view(_net, "first_bias")
_SECOND, _SECOND_BIAS = by_view(_net, "second"), by_view(_net, "second_bias")


@compiled(_u64(GEOMETRY, _i64, _i64, _i64))
def view_of(board: Geometry, me: int, opp: int, to_move: int) -> Bits:
    """The place of a player's view in `VIEWS`: 2 if it runs, and 1 more if it waits.

    Whoever is to move hunts if both knights stand on one colour.
    """
    apart = ((board.dark >> _u64(me)) ^ (board.dark >> _u64(opp))) & _u64(1)
    waits = _u64(0) if to_move == me else _u64(1)
    return _u64(2) * (apart ^ waits) + waits  # type: ignore[no-any-return]


@published
def learned_linear(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Learned weights of what can be counted on the board."""
    view = view_of(board, me, opp, to_move)
    describe(board, open, to_move, me + opp - to_move)
    at = _f64(board.sheet[_u64(NUMBER - 2)]) / _f64(board.sheet[_u64(NUMBER - 1)])
    squared = at * at
    total = _f64(_BIAS[view, 0]) + at * _f64(_BIAS[view, 1]) + squared * _f64(_BIAS[view, 2])
    for feature in range(NUMBER):
        weight = (
            _f64(_WEIGHTS[view, 0, feature])
            + at * _f64(_WEIGHTS[view, 1, feature])
            + squared * _f64(_WEIGHTS[view, 2, feature])
        )
        total += weight * _f64(board.sheet[_u64(feature)])
    return total  # type: ignore[no-any-return]


@published
def learned_net(board: Geometry, open: Bits, me: int, opp: int, to_move: int) -> float:
    """A small net over what can be counted on the board.

    Eight hidden units at a time: their sums stay in two registers of a machine that has vectors.
    In double precision, for large parts cancel each other.
    """
    view = view_of(board, me, opp, to_move)
    describe(board, open, to_move, me + opp - to_move)
    total = _f64(_SECOND_BIAS[view, 0])
    for block in range(HIDDEN // 8):
        at = _u64(8 * block)
        a, b = _f64(_FIRST_BIAS[view, at]), _f64(_FIRST_BIAS[view, at + _u64(1)])
        c, d = _f64(_FIRST_BIAS[view, at + _u64(2)]), _f64(_FIRST_BIAS[view, at + _u64(3)])
        e, f = _f64(_FIRST_BIAS[view, at + _u64(4)]), _f64(_FIRST_BIAS[view, at + _u64(5)])
        g, h = _f64(_FIRST_BIAS[view, at + _u64(6)]), _f64(_FIRST_BIAS[view, at + _u64(7)])
        for feature in range(NUMBER):
            place = _u64(feature)
            seen = _f64(board.sheet[place])
            a += seen * _f64(_FIRST[view, place, at])
            b += seen * _f64(_FIRST[view, place, at + _u64(1)])
            c += seen * _f64(_FIRST[view, place, at + _u64(2)])
            d += seen * _f64(_FIRST[view, place, at + _u64(3)])
            e += seen * _f64(_FIRST[view, place, at + _u64(4)])
            f += seen * _f64(_FIRST[view, place, at + _u64(5)])
            g += seen * _f64(_FIRST[view, place, at + _u64(6)])
            h += seen * _f64(_FIRST[view, place, at + _u64(7)])
        total += max(a, 0.0) * _f64(_SECOND[view, at]) + max(b, 0.0) * _f64(
            _SECOND[view, at + _u64(1)]
        )
        total += max(c, 0.0) * _f64(_SECOND[view, at + _u64(2)])
        total += max(d, 0.0) * _f64(_SECOND[view, at + _u64(3)])
        total += max(e, 0.0) * _f64(_SECOND[view, at + _u64(4)])
        total += max(f, 0.0) * _f64(_SECOND[view, at + _u64(5)])
        total += max(g, 0.0) * _f64(_SECOND[view, at + _u64(6)])
        total += max(h, 0.0) * _f64(_SECOND[view, at + _u64(7)])
    return total  # type: ignore[no-any-return]
