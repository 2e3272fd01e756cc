"""Numba type for a list of cells, stored as a bit mask.

A student's score counts moves, iterates over them and tests membership.  Real lists of tuples would
be allocated each time.  A mask with one bit per cell gives the same answers in the same order: the
course's order of knight moves is the order of the bits by rows, and open cells come by columns.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import StructModel
from numba.core.imputils import RefType, iternext_impl
from numba.extending import (
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    overload,
    register_model,
)

from knightfall.kernel.bits import bit, count, first, rest
from knightfall.kernel.compile import compiled

CELL = types.UniTuple(types.int64, 2)
"""The Numba type of a cell, (row, column)."""

_u64, _i64 = types.uint64, types.int64


class _Walk(types.SimpleIteratorType):  # type: ignore[misc]
    """Numba iterator type over `Cells`, whose bits number the cells by rows or by columns."""

    def __init__(self, *, by_column: bool) -> None:
        self.by_column = by_column
        super().__init__(f"walk through cells by {'column' if by_column else 'row'}", CELL)


class Cells(types.IterableType):  # type: ignore[misc]
    """Numba type of a list of cells, stored as a mask and the length of a row or column (`side`).

    If `by_column`, bit n is the cell in row n % side of column n // side; otherwise it is the cell
    in column n % side of row n // side.
    """

    def __init__(self, *, by_column: bool) -> None:
        self.by_column = by_column
        super().__init__(f"cells by {'column' if by_column else 'row'}")

    @property
    def iterator_type(self) -> Any:
        """Return the Numba iterator type over the cells."""
        return _Walk(by_column=self.by_column)


BY_ROW, BY_COLUMN = Cells(by_column=False), Cells(by_column=True)


@register_model(Cells)
class _CellsModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("word", _u64), ("side", _i64)])


@register_model(_Walk)
class _WalkModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        left = types.EphemeralPointer(_u64)
        super().__init__(manager, kind, [("left", left), ("side", _i64)])


make_attribute_wrapper(Cells, "word", "_word")
make_attribute_wrapper(Cells, "side", "_side")


def _maker(kind: Cells) -> Any:
    @intrinsic
    def make(typing: Any, word: Any, side: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = cgutils.create_struct_proxy(kind)(context, builder)
            made.word, made.side = values
            return made._getvalue()

        return kind(_u64, _i64), emit

    return make


by_row, by_column = _maker(BY_ROW), _maker(BY_COLUMN)
"""Compiled constructors: make `Cells` from a mask and the length of a row (or column)."""


# -- numbers and cells -----------------------------------------------------------------------


@compiled(CELL(_i64, _i64))
def row_first(number: int, width: int) -> tuple[int, int]:
    """Return (row, column) of a cell number that counts by rows."""
    row = number // width
    return row, number - row * width


@compiled(CELL(_i64, _i64))
def column_first(number: int, height: int) -> tuple[int, int]:
    """Return (row, column) of a cell number that counts by columns."""
    column = number // height
    return number - column * height, column


@compiled(_u64(_u64, _i64, _i64))
def turned(word: int, width: int, height: int) -> int:
    """Convert a mask whose bits number the cells by rows into one that numbers them by columns."""
    found = _u64(0)
    while word != _u64(0):
        number = first(word)
        row = number // width
        found |= bit(row + (number - row * width) * height)
        word = rest(word)
    return found  # type: ignore[no-any-return]


@compiled(_i64(_u64, _i64))
def nth(word: int, index: int) -> int:
    """Return the bit number of the `index`-th set bit; a negative index counts from the end."""
    size = count(word)
    if index < 0:
        index += size
    if index < 0 or index >= size:
        raise IndexError("list index out of range")
    for _ in range(index):
        word = rest(word)
    return first(word)


# -- list operations -------------------------------------------------------------------------


def _of(cells: Any) -> Callable[[int, int], tuple[int, int]]:
    """Return the function that converts a bit's number into (row, column) for this Numba type."""
    return column_first if cells.by_column else row_first


def _can(operation: Any, of: Any) -> None:
    """Register a compiled implementation of a one-argument operation on `Cells`."""
    overload(operation)(lambda cells: of if isinstance(cells, Cells) else None)


_can(len, lambda cells: count(cells._word))
_can(bool, lambda cells: cells._word != _u64(0))
_can(operator.not_, lambda cells: cells._word == _u64(0))


@overload(operator.getitem)
def _getitem(cells: Any, index: Any) -> Any:
    if not isinstance(cells, Cells) or not isinstance(index, types.Integer):
        return None
    cell = _of(cells)

    def getitem(cells: Any, index: Any) -> Any:
        return cell(nth(cells._word, index), cells._side)

    return getitem


@overload(operator.contains)
def _contains(cells: Any, cell: Any) -> Any:
    if not isinstance(cells, Cells) or cell != CELL:
        return None
    where = 1 if cells.by_column else 0

    def contains(cells: Any, cell: Any) -> bool:
        line, place = cell[where], cell[1 - where]
        number = line * cells._side + place
        if line < 0 or place < 0 or place >= cells._side or number > 63:
            return False
        return bool((cells._word & bit(number)) != _u64(0))

    return contains


@lower_builtin("getiter", Cells)
def _walk(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    cells = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0])
    walk = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    walk.left = cgutils.alloca_once_value(builder, cells.word)
    walk.side = cells.side
    return walk._getvalue()


@lower_builtin("iternext", _Walk)
@iternext_impl(RefType.UNTRACKED)
def _next(context: Any, builder: Any, signature: Any, values: Any, result: Any) -> None:
    (kind,) = signature.args
    cell = _of(kind)
    walk = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    left = builder.load(walk.left)
    more = builder.icmp_unsigned("!=", left, ir.Constant(left.type, 0))
    result.set_valid(more)
    with builder.if_then(more):
        found = context.compile_internal(
            builder, lambda left, side: cell(first(left), side), CELL(_u64, _i64),
            [left, walk.side],
        )  # fmt: skip
        result.yield_(found)
        after = context.compile_internal(builder, lambda left: rest(left), _u64(_u64), [left])
        builder.store(after, walk.left)
