"""The clock as compiled code reads it.

Deep inside a search there is no Python to ask for the time, so it calls the C library itself:
some 30 ns a reading.  Where there is no ``clock_gettime`` (Windows), `knightfall.search.stopwatch`
has to do alone.
"""

from __future__ import annotations

import ctypes
import time

from numba import types

from knightfall.kernel.bits import CLOCK_MONOTONIC, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, GeometryArray
from knightfall.kernel.rules import Geometry


def _address() -> int:
    if not hasattr(time, "clock_gettime_ns") or ctypes.sizeof(ctypes.c_long) != 8:
        return 0
    try:
        function = ctypes.CDLL(None).clock_gettime
    except (OSError, AttributeError, TypeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_CLOCK = _address()


def clock_address() -> int:
    """Where compiled code finds the clock; 0 if it has none."""
    return _CLOCK


def stop_in(boards: GeometryArray, seconds: float) -> None:
    """Have the search that uses these geometry records stop itself, so many seconds from now."""
    if _CLOCK:
        boards["deadline"] = time.clock_gettime_ns(CLOCK_MONOTONIC) + int(seconds * 1e9)
        boards["dial"] = boards["reading"].ctypes.data
        boards["clock"] = _CLOCK


@compiled(types.void(GEOMETRY))
def heed_clock(board: Geometry) -> None:
    """Stop the search if its time is up.  To be called every few hundred nodes."""
    if board.clock != types.uint64(0) and nanoseconds(board.clock, board.dial) >= board.deadline:
        board.limit = 0
