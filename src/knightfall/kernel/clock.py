"""What compiled code may still spend: the time of a search, and the steps of one evaluation.

Deep inside a search there is no Python to ask for the time, so it calls the C library itself:
some 30 ns a reading.  Where there is no ``clock_gettime`` (Windows), `knightfall.search.stopwatch`
has to do alone.
"""

from __future__ import annotations

import ctypes
import time
from math import inf

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


@compiled(types.float64(GEOMETRY))
def time_left(board: Geometry) -> float:
    """Seconds until the search must answer, 0 if it must at once; inf without a time budget."""
    if board.limit == 0:
        return 0.0
    if board.clock == types.uint64(0):
        return inf
    left = board.deadline - nanoseconds(board.clock, board.dial)
    return max(0.0, left / 1e9)  # type: ignore[no-any-return]


@compiled(types.int64(GEOMETRY, types.int64))
def steps_left(board: Geometry, used: int) -> int:
    """Steps that one evaluation may still take after `used`; 0: return what was found so far.

    It is 0 at once when the search is told to stop.  Otherwise it depends on `used` alone, so that
    values repeat.
    """
    if board.limit == 0:
        return 0
    return max(0, board.step_limit - used)  # type: ignore[no-any-return]


@compiled(types.void(GEOMETRY))
def cut_short(board: Geometry) -> None:
    """Note that an evaluation ran out of steps: its value is the best found, and not exact."""
    board.cut += 1
