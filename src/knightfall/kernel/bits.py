"""Sets of cells as 64-bit words, and the LLVM instructions that Numba does not offer for them.

Bit i of a word is cell i of the board (see `knightfall.board`), so a 3×4 board lies like this::

    a4 b4 c4        bit 0  1  2
    a3 b3 c3            3  4  5
    a2 b2 c2            6  7  8
    a1 b1 c1            9 10 11

A word is always ``uint64`` and a cell always ``int64``.  The two never meet in arithmetic:
Numba would turn the sum into a float.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from knightfall.kernel.compile import compile_later, compiled

Bits = int
"""A set of cells (``uint64`` once compiled)."""

CLOCK_MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 0)


@intrinsic  # type: ignore[untyped-decorator]
def _population(typing: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing: Any, word: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # The 1 promises that the word is not zero, which saves a comparison.
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


@intrinsic  # type: ignore[untyped-decorator]
def call_heuristic(
    typing: Any, address: Any, board: Any, open: Any, me: Any, opp: Any, to_move: Any
) -> Any:
    """Call the heuristic at a C address.  It cannot raise; the record is passed as a pointer."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [value.type for value in values[1:]])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])

    word, cell = types.uint64, types.int64
    return types.float64(word, board, word, cell, cell, cell), emit


@intrinsic  # type: ignore[untyped-decorator]
def call_search(
    typing: Any, address: Any, board: Any, state: Any, open: Any, mover: Any, waiter: Any
) -> Any:
    """Call the search at a C address.  Records are passed as pointers; the result is in `state`."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        # Numba's C functions without a result return a null pointer.
        kind = ir.FunctionType(ir.IntType(8).as_pointer(), [value.type for value in values[1:]])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])
        return context.get_dummy_value()

    word, cell = types.uint64, types.int64
    return types.void(word, board, state, word, cell, cell), emit


@intrinsic  # type: ignore[untyped-decorator]
def nanoseconds(typing: Any, address: Any, place: Any) -> Any:
    """Return the monotonic clock's time, from C's ``clock_gettime`` at an address.

    `place` is the address of two words for its result.  (A local variable would enlarge every
    stack frame of the recursion that calls it.)
    """

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole, small = ir.IntType(64), ir.IntType(32)
        pair = ir.ArrayType(whole, 2).as_pointer()  # seconds, nanoseconds
        kind = ir.FunctionType(small, [small, pair])
        both = builder.inttoptr(values[1], pair)
        which = ir.Constant(small, CLOCK_MONOTONIC)
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), [which, both])
        read = builder.load(both)
        seconds = builder.mul(builder.extract_value(read, 0), ir.Constant(whole, 1_000_000_000))
        return builder.add(seconds, builder.extract_value(read, 1))

    return types.int64(types.uint64, types.uint64), emit


def records(record: Any) -> Any:
    """Return a function for compiled code that returns record `index` of an array at an address.

    It replaces ``array[index]`` where passing the array would be too slow.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing: Any, address: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            size = ir.Constant(ir.IntType(64), record.size)
            place = builder.add(values[0], builder.mul(values[1], size))
            return builder.inttoptr(place, context.get_value_type(record))

        return record(types.uint64, types.uint64), emit

    return at


@intrinsic  # type: ignore[untyped-decorator]
def address_of(typing: Any, record: Any) -> Any:
    """Return the address of a record, as `records` takes it."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.uint64(record), emit


@compiled(types.int64(types.uint64))
def count(cells: Bits) -> int:
    """Return how many cells are in the set."""
    return _population(cells)  # type: ignore[no-any-return]


@compiled(types.int64(types.uint64))
def first(cells: Bits) -> int:
    """Return the first cell of a set, in board order.  The set must not be empty."""
    return _trailing_zeros(cells)  # type: ignore[no-any-return]


@compiled(types.uint64(types.uint64))
def rest(cells: Bits) -> Bits:
    """Return the set without its first cell."""
    return cells & (cells - types.uint64(1))  # type: ignore[no-any-return]


@compiled(types.uint64(types.int64))
def bit(cell: int) -> Bits:
    """Return the set of one cell."""
    return types.uint64(1) << types.uint64(cell)  # type: ignore[no-any-return]


def _each(cells: Bits) -> Iterator[int]:
    """Yield the cells of a set in board order: ``for cell in each(moves(board, open, me)): …``."""
    while cells != types.uint64(0):
        yield _trailing_zeros(cells)
        cells = cells & (cells - types.uint64(1))


# Numba writes a compiled generator to its disk cache but cannot read it back, so this one is
# compiled again wherever it is used.
each = compile_later(_each, cache=False)
