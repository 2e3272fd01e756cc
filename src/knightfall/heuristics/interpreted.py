"""The slow road: a heuristic Numba cannot compile is called back from the search as plain Python.

The search neither knows nor cares: it gets the address of a C function, behind which ctypes
calls the Python function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import typeof_impl

from knightfall.kernel.board_view import BOARD_VIEW
from knightfall.kernel.geometry import FIELDS, READ_ONLY, GeometryArray

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
)


def a_number(value: Any) -> float:
    """What a heuristic returned, as a float."""
    if value is None:
        raise TypeError("it returned None: is a return missing?")
    return float(value)


def _refuse(*_: object) -> Any:
    raise TypeError(READ_ONLY)


class _Whole:
    """An array of whole numbers that gives Python's own, and takes none."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return _Whole(found) if isinstance(found, np.ndarray) else int(found)

    def __len__(self) -> int:
        return len(self._array)

    __setitem__ = __delitem__ = _refuse
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _refuse
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _refuse


class PlainBoard(np.record):  # type: ignore[misc]
    """The geometry record as plain Python sees it: read-only, its numbers Python's own.

    NumPy's would behave differently from compiled ones: they divide by zero without an error,
    and a set of theirs cannot meet ``~bit(cell)``, which is negative in Python.
    """

    def __getattribute__(self, name: str) -> Any:
        found = np.record.__getattribute__(self, name)
        if isinstance(found, np.ndarray):
            return _Whole(found)
        return int(found) if isinstance(found, np.integer) else found

    __setattr__ = __delattr__ = __setitem__ = _refuse


def _plain_fields() -> np.dtype[Any]:
    """The record's fields but `asked`, which no heuristic needs.

    Numba remembers a record's type by its fields: with the same ones, compiled code that plain
    Python hands its board to might write to it.
    """
    fields = {name: (field[0], field[1]) for name, field in (FIELDS.fields or {}).items()}
    del fields["asked"]
    return np.dtype(
        {
            "names": list(fields),
            "formats": [kind for kind, _ in fields.values()],
            "offsets": [offset for _, offset in fields.values()],
            "itemsize": FIELDS.itemsize,
        }
    )


_PLAIN = np.dtype((PlainBoard, _plain_fields()))
_LIMIT = int(FIELDS.fields["limit"][1])  # type: ignore[index]


@typeof_impl.register(PlainBoard)  # type: ignore[untyped-decorator]
def _type_of_plain_board(board: PlainBoard, context: Any) -> Any:
    return BOARD_VIEW


def plain_board(boards: GeometryArray) -> Any:
    """The first of some geometry records, for plain Python."""
    plain = boards.view(_PLAIN)
    plain.flags.writeable = False
    return plain[0]


def _board_at(address: int) -> Any:
    memory = (ctypes.c_char * _PLAIN.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory).toreadonly(), _PLAIN)[0]


class PlainPython:
    """A Python function with a C `address`.

    An exception cannot pass through compiled code: it is kept, the search is told to stop, and
    whoever started the search asks `failure` for it.
    """

    def __init__(self, score: Callable[..., float]) -> None:
        self._score = score
        self._failures: dict[int, BaseException] = {}
        self._callback = _CALLBACK(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _call(self, address: int, open: int, me: int, opp: int, to_move: int) -> float:
        limit = ctypes.c_int64.from_address(address + _LIMIT)
        if limit.value == 0:
            return 0.0
        try:
            return a_number(self._score(_board_at(address), open, me, opp, to_move))
        except BaseException as error:  # Ctrl-C, too, must wait until the search has ended
            self._failures[address] = error
            limit.value = 0
            return 0.0

    def failure(self, boards: Any) -> BaseException | None:
        """What went wrong in the search that used these geometry records, if anything did."""
        return self._failures.pop(boards.ctypes.data, None)
