"""The slow road: a heuristic Numba cannot compile is called back from the search as plain Python.

The search neither knows nor cares: it gets a C function pointer of the usual signature, behind
which ctypes calls the Python function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from knightfall.heuristics.registry import HEURISTIC
from knightfall.kernel.geometry import DTYPE

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
)


def _record_at(address: int) -> Any:
    """The geometry record that lies at an address."""
    memory = (ctypes.c_char * DTYPE.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory), DTYPE)[0]


class PlainPython(types.WrapperAddressProtocol):  # type: ignore[misc]
    """A Python function as a function pointer.

    An exception cannot pass through compiled code: it is kept, the search is told to stop, and
    whoever started the search asks `failure` for it.
    """

    def __init__(self, score: Callable[..., float]) -> None:
        self._score = score
        self._failures: dict[int, BaseException] = {}
        self._callback = _CALLBACK(self._call)

    def _call(self, address: int, open: int, me: int, opp: int, to_move: int) -> float:
        board = _record_at(address)
        if board.limit == 0:
            return 0.0
        try:
            return float(self._score(board, np.uint64(open), me, opp, to_move))
        except BaseException as error:  # Ctrl-C, too, must wait until the search has ended
            self._failures[address] = error
            board.limit = 0
            return 0.0

    def failure(self, boards: Any) -> BaseException | None:
        """What went wrong in the search that used these geometry records, if anything did."""
        return self._failures.pop(boards.ctypes.data, None)

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return HEURISTIC
