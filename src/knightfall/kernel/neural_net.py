"""A small neural network in vector instructions of LLVM.

From Numba's loops LLVM does not recognise that 32 sums of 19 products each are one loop over
vectors.  Written as vector instructions, they take a few nanoseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

HIDDEN = 32
"""Hidden units of a net; a power of two."""

UNIT = 2.0**-12
"""Weights of the first layer are multiples of this.  Their products with counts are exact in single
precision, and so are their sums, in any order of addition."""

CHAINS = 3
"""Independent partial sums: an addition takes several cycles, in which another one can start."""

_WORD = ir.IntType(32)


def packed(
    first: npt.NDArray[np.float32],
    first_bias: npt.NDArray[np.float32],
    second: npt.NDArray[np.float32],
    second_bias: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """Return the arrays of several nets in the layout that `net_value` reads; the first index is
    the number of the net.

    A row for each step of the computation, a column for each hidden unit::

        the bias of the hidden units
        the weights of count 0, of count 1, …
        the weights of the hidden units in the output
        the bias of the output, and zeros
    """
    last = np.zeros_like(second)
    last[:, 0] = second_bias[:, 0]
    rows = [first_bias[:, None], first, second[:, None], last[:, None]]
    return np.ascontiguousarray(np.concatenate(rows, axis=1), np.float32)


@intrinsic  # type: ignore[untyped-decorator]
def net_value(typing: Any, nets: Any, number: Any, counts: Any) -> Any:
    """Return second · max(0, first · counts + bias) + bias for net `number` of the `packed` ones.

    `counts` is a tuple of whole numbers.  The second layer is computed in double precision,
    because its terms cancel each other.
    """

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        units, rows = HIDDEN, counts.count + 3
        single = ir.VectorType(ir.FloatType(), units)
        double = ir.VectorType(ir.DoubleType(), units)
        nothing = ir.Constant(single, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(_WORD, units), [0] * units)
        size = ir.Constant(ir.IntType(64), units * rows)
        net = builder.gep(array.data, [builder.mul(values[1], size)])

        def row(place: int) -> Any:
            at = builder.gep(net, [ir.Constant(ir.IntType(64), place * units)])
            loaded = builder.load(builder.bitcast(at, single.as_pointer()))
            loaded.align = 4
            return loaded

        sums = [row(0)]
        for place in range(counts.count):
            seen = builder.trunc(builder.extract_value(values[2], place), _WORD)
            seen = builder.sitofp(seen, ir.FloatType())
            seen = builder.insert_element(nothing, seen, ir.Constant(_WORD, 0))
            seen = builder.shuffle_vector(seen, nothing, everywhere)
            product = builder.fmul(seen, row(place + 1), flags=("contract",))
            if len(sums) < CHAINS:
                sums.append(product)
            else:
                chain = place % CHAINS
                sums[chain] = builder.fadd(sums[chain], product, flags=("contract",))
        hidden = sums[0]
        for other in sums[1:]:
            hidden = builder.fadd(hidden, other)
        zeros = ir.Constant(single, [0.0] * units)
        hidden = builder.select(builder.fcmp_ordered(">", hidden, zeros), hidden, zeros)
        weights = builder.fpext(row(counts.count + 1), double)
        answer = builder.fmul(builder.fpext(hidden, double), weights)
        width = units
        while width > 1:  # add halves until one number is left
            width //= 2
            halves = [
                builder.shuffle_vector(
                    answer, answer, ir.Constant(ir.VectorType(_WORD, width), list(half))
                )
                for half in (range(width), range(width, 2 * width))
            ]
            answer = builder.fadd(*halves)
        bias = builder.extract_element(row(counts.count + 2), ir.Constant(_WORD, 0))
        total = builder.extract_element(answer, ir.Constant(_WORD, 0))
        return builder.fadd(total, builder.fpext(bias, ir.DoubleType()))

    return types.float64(nets, types.uint64, counts), emit
