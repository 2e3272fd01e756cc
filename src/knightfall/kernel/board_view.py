"""The read-only board of users' heuristics: the geometry record with a type that refuses writes.

Compiled code that writes to a `BOARD_VIEW`, to an array in it or to a slice of one, also in another
function to which it passes them, is refused when it is compiled.  knightfall's own functions accept
the view as a plain record.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numba
from numba import types
from numba.core.datamodel.models import ArrayModel, NestedArrayModel, RecordModel
from numba.core.errors import TypingError
from numba.core.imputils import lower_cast, lower_setattr_generic
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, register_model

from knightfall.kernel.rules import GEOMETRY

_NAME = "read-only board"
_REFUSED = "Cannot modify"  # Numba's own words about read-only arrays
_NUMBA_FOLDER = os.path.dirname(numba.__file__)


class _BoardSlice(types.Array):  # type: ignore[misc]
    """Numba type of a read-only slice of the board's arrays; a copy is an ordinary array."""

    def __init__(self, dtype: Any, ndim: int, layout: str) -> None:
        name = f"{_NAME} array({dtype}, {ndim}d, {layout})"
        super().__init__(dtype, ndim, layout, readonly=True, name=name)

    def copy(
        self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None
    ) -> Any:
        """Return the type of an array derived from this: read-only unless `readonly` is False."""
        dtype = self.dtype if dtype is None else dtype
        ndim = self.ndim if ndim is None else ndim
        layout = self.layout if layout is None else layout
        if readonly is False:
            return types.Array(dtype, ndim, layout)
        return _BoardSlice(dtype, ndim, layout)


class _BoardArray(types.NestedArray):  # type: ignore[misc]
    """Numba type of a read-only array in the geometry record."""

    mutable = False

    def __init__(self, array: Any) -> None:
        super().__init__(array.dtype, array.shape)
        self.name = f"{_NAME} array({array.dtype}, {array.shape})"

    copy = _BoardSlice.copy


class _BoardView(types.Record):  # type: ignore[misc]
    """Numba type of the geometry record that refuses writes to its fields and arrays."""

    mutable = False

    def __init__(self) -> None:
        fields = [
            (name, {"type": field.type, "offset": field.offset, "alignment": field.alignment})
            for name, field in GEOMETRY.fields.items()
        ]
        super().__init__(fields, GEOMETRY.size, GEOMETRY.aligned)
        self.name = _NAME

    def typeof(self, key: str) -> Any:
        """Return the Numba type of a field; that of an array is read-only."""
        field = super().typeof(key)
        return _BoardArray(field) if isinstance(field, types.NestedArray) else field

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Allow conversion to the plain record, which knightfall's own functions take."""
        return Conversion.safe if other == GEOMETRY else None


register_model(_BoardSlice)(ArrayModel)
register_model(_BoardArray)(NestedArrayModel)
register_model(_BoardView)(RecordModel)

BOARD_VIEW = _BoardView()
"""The type of the argument `board` of users' heuristics."""


@lower_cast(_BoardView, types.Record)  # type: ignore[untyped-decorator]
def _as_record(context: Any, builder: Any, here: Any, there: Any, value: Any) -> Any:
    return value


@lower_setattr_generic(_BoardView)  # type: ignore[untyped-decorator]
def _refuse(context: Any, builder: Any, signature: Any, values: Any, field: str) -> Any:
    raise TypingError(f"{_REFUSED} {_NAME}: {field}")


@intrinsic  # type: ignore[untyped-decorator]
def view(typing: Any, board: Any) -> Any:
    """Return the record as a `BOARD_VIEW`, in compiled code."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return values[0]

    return BOARD_VIEW(GEOMETRY), emit


def find_board_write(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of a write to the board if that is why Numba refused a function.

    The write may be in a function that the refused one calls.  Return None for other errors.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    if not re.search(rf"{_REFUSED} (readonly array of type: )?{_NAME}", text):
        return None
    places = re.findall(r"^During: .* at (.+) \((\d+)\)$", text, re.MULTILINE)  # innermost first
    for file, line in places:
        if not file.startswith(_NUMBA_FOLDER):
            return file, int(line)
    return "", 0
