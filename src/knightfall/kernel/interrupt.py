"""How compiled code is told to stop: by a number of steps, by the clock, or by Ctrl-C.

Every search compares its node count with ``board.limit`` at every node, and whoever wants it to
stop sets that limit to 0.  Three do:

* the search itself, which reads the C library's clock now and then (some 30 ns a reading; where
  there is no ``clock_gettime``, as on Windows, it leaves the time to the stopwatch);
* the stopwatch, one thread per process, in case a search waits for a costly heuristic;
* the main thread on Ctrl-C.  Python handles a signal only between byte codes, and compiled code has
  none, so whatever may take long runs in another thread while the main one waits.
"""

from __future__ import annotations

import ctypes
import heapq
import itertools
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba import types

from knightfall.errors import AgentFailure
from knightfall.isolation.sigint import DeferredSigint, enable_keyboard_interrupt
from knightfall.kernel.bits import CLOCK_MONOTONIC, nanoseconds
from knightfall.kernel.compile import compiled
from knightfall.kernel.geometry import GEOMETRY, GeometryArray
from knightfall.kernel.rules import Geometry

# -- the clock ----------------------------------------------------------------------------------


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
        return math.inf
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


# -- the stopwatch ------------------------------------------------------------------------------


THREAD = "knightfall-stopwatch"


class Alarm:
    """What rings at a deadline: it tells one search to stop, unless it was cancelled."""

    def __init__(self, boards: GeometryArray) -> None:
        self._boards: GeometryArray | None = boards

    def ring(self) -> None:
        """Stop the search."""
        boards = self._boards
        if boards is not None:
            boards["limit"] = 0

    def cancel(self) -> None:
        """Let go of the search."""
        self._boards = None


class Stopwatch:
    """Stops searches at their deadlines (`time.perf_counter` seconds)."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._serial = itertools.count()
        threading.Thread(target=self._watch, name=THREAD, daemon=True).start()

    def stop_at(self, deadline: float, boards: GeometryArray) -> Alarm:
        """Stop the search that uses these geometry records at the deadline.

        A search that ends sooner should cancel the alarm, which otherwise keeps its records.
        """
        alarm = Alarm(boards)
        with self._wake:
            entry = (deadline, next(self._serial), alarm)
            heapq.heappush(self._alarms, entry)
            if self._alarms[0] is entry:
                self._wake.notify()
        return alarm

    def _watch(self) -> None:
        with self._wake:
            while True:
                wait = None
                while self._alarms:
                    wait = self._alarms[0][0] - time.perf_counter()
                    if wait > 0:
                        break
                    _, _, alarm = heapq.heappop(self._alarms)
                    alarm.ring()
                    wait = None
                self._wake.wait(wait)


_stopwatch: Stopwatch | None = None


def stopwatch() -> Stopwatch:
    """This process's stopwatch."""
    global _stopwatch
    if _stopwatch is None:
        _stopwatch = Stopwatch()
    return _stopwatch


def _forget() -> None:
    """A forked child has no threads but the one that forked: it needs a watcher of its own."""
    global _stopwatch
    _stopwatch = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# -- Ctrl-C -------------------------------------------------------------------------------------


GRACE = 1.0
"""Seconds to wait for work that was told to stop.  Only a heuristic that hangs takes longer."""

PATIENCE = 20.0
"""Seconds within which a user's heuristic must have returned once more."""

LOOKS = 10
"""How often we look in that time whether it has."""


def limit_to_nothing(boards: GeometryArray) -> Callable[[], None]:
    """What stops a search that uses these geometry records."""

    def stop() -> None:
        boards["limit"] = 0

    return stop


def interruptibly(
    run: Callable[[], None],
    stop: Callable[[], None],
    seconds: float | None = None,
    progress: Callable[[], int] | None = None,
    blamed: str = "the heuristic",
    patience: float | None = None,
) -> None:
    """Call `run`, which ends soon after `stop` was called.

    If `seconds` are given, it is expected to be told by then; if there is a number that says how
    far it has got, that must change within its patience.  Work that does neither is left to
    itself, with an error that blames whom it may be waiting for.
    """
    if threading.current_thread() is not threading.main_thread():
        run()
        return
    done = threading.Event()
    failure: list[BaseException] = []

    def work() -> None:
        try:
            run()
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, name="knightfall-worker", daemon=True)
    worker.start()
    try:
        limit = math.inf if seconds is None else seconds + GRACE
        if not _ends(done, limit, progress, patience or PATIENCE):
            raise AgentFailure("timeout", f"{blamed} does not return: has it an endless loop?")
    except BaseException:  # Ctrl-C
        stop()
        worker.join(GRACE)
        raise
    if failure:
        raise failure[0]


def _ends(
    done: threading.Event, seconds: float, progress: Callable[[], int] | None, patience: float
) -> bool:
    """Wait until it is done; False if that takes so long, or there is no progress for long.

    We look ten times in our patience, and it is at its end after ten looks in vain: on a machine
    that is so busy that nobody here gets on, we do not look either.
    """
    if progress is None:
        return done.wait(None if seconds == math.inf else seconds)
    now = time.monotonic()
    until, before, in_vain = now + seconds, progress(), 0
    while not done.wait(max(0.0, min(patience / LOOKS, until - now))):
        now = time.monotonic()
        in_vain = in_vain + 1 if before == (before := progress()) else 0
        if now >= until or in_vain >= LOOKS:
            return False
    return True


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Hear of Ctrl-C when the block is over; processes started inside never do.

    A terminal sends it to them all, but only the one that started the others is to act on it.
    """
    enable_keyboard_interrupt()  # or they would outlive us
    with DeferredSigint():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
