"""The slow road: a heuristic Numba cannot compile is called back from the search as plain Python.

The search neither knows nor cares: it gets the address of a C function, behind which ctypes
calls the Python function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from knightfall.kernel.geometry import FIELDS, GeometryArray

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


class _Whole:
    """An array of whole numbers that gives Python's own."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return _Whole(found) if isinstance(found, np.ndarray) else int(found)

    def __len__(self) -> int:
        return len(self._array)


class PlainBoard(np.record):  # type: ignore[misc]
    """The geometry record as plain Python sees it: its numbers are Python's own.

    NumPy's would behave differently from compiled ones: they divide by zero without an error,
    and a set of theirs cannot meet ``~bit(cell)``, which is negative in Python.
    """

    def __getattribute__(self, name: str) -> Any:
        found = np.record.__getattribute__(self, name)
        if isinstance(found, np.ndarray):
            return _Whole(found)
        return int(found) if isinstance(found, np.integer) else found


_PLAIN = np.dtype((PlainBoard, FIELDS))


def plain_board(boards: GeometryArray) -> Any:
    """The first of some geometry records, for plain Python."""
    return boards.view(_PLAIN)[0]


def _board_at(address: int) -> Any:
    memory = (ctypes.c_char * _PLAIN.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory), _PLAIN)[0]


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
        board = _board_at(address)
        if board.limit == 0:
            return 0.0
        try:
            return a_number(self._score(board, open, me, opp, to_move))
        except BaseException as error:  # Ctrl-C, too, must wait until the search has ended
            self._failures[address] = error
            board.limit = 0
            return 0.0

    def failure(self, boards: Any) -> BaseException | None:
        """What went wrong in the search that used these geometry records, if anything did."""
        return self._failures.pop(boards.ctypes.data, None)
