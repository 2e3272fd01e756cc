"""Stopping of compiled code: at a node limit, at a deadline, or on Ctrl-C.

Every search compares its node count with ``board.limit`` at every node.  Setting that limit to 0
stops it, which is done by

* the search itself, which reads the C library's clock every few hundred nodes (about 30 ns per
  reading; without ``clock_gettime``, as on Windows, only the stopwatch watches the time);
* the stopwatch, one thread per process, in case a search waits for a slow heuristic;
* the main thread on Ctrl-C.  Python handles a signal only between byte codes, and compiled code has
  none, so long computations run in another thread while the main one waits.
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
from knightfall.kernel.rules import GEOMETRY, Geometry, GeometryArray

# -- the clock ----------------------------------------------------------------------------------


def _address() -> int:
    """Return the address of C's ``clock_gettime``; 0 if there is none."""
    if not hasattr(time, "clock_gettime_ns") or ctypes.sizeof(ctypes.c_long) != 8:
        return 0
    try:
        function = ctypes.CDLL(None).clock_gettime
    except (OSError, AttributeError, TypeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


CLOCK = _address()
"""The address of the clock for compiled code; 0 if there is none."""


def stop_in(boards: GeometryArray, seconds: float) -> None:
    """Set the deadline of the search with these geometry records to `seconds` from now."""
    if CLOCK:
        boards["deadline"] = time.clock_gettime_ns(CLOCK_MONOTONIC) + int(seconds * 1e9)
        boards["dial"] = boards["reading"].ctypes.data
        boards["clock"] = CLOCK


@compiled(types.void(GEOMETRY))
def check_clock(board: Geometry) -> None:
    """Stop the search if its time is up.  Call it every few hundred nodes."""
    if board.clock != types.uint64(0) and nanoseconds(board.clock, board.dial) >= board.deadline:
        board.limit = 0


@compiled(types.float64(GEOMETRY))
def time_left(board: Geometry) -> float:
    """Return the seconds until the deadline, 0 if the search must stop; inf without a deadline."""
    if board.limit == 0:
        return 0.0
    if board.clock == types.uint64(0):
        return math.inf
    left = board.deadline - nanoseconds(board.clock, board.dial)
    return max(0.0, left / 1e9)  # type: ignore[no-any-return]


@compiled(types.int64(GEOMETRY, types.int64))
def steps_left(board: Geometry, used: int) -> int:
    """Return how many steps an evaluation that has taken `used` steps may still take.

    At 0 it must return the best value that it has found.  The number is 0 as soon as the search
    must stop.  Otherwise it depends on `used` alone, so that values are reproducible.
    """
    if board.limit == 0:
        return 0
    return max(0, board.step_limit - used)  # type: ignore[no-any-return]


@compiled(types.void(GEOMETRY))
def cut_short(board: Geometry) -> None:
    """Count an evaluation that ran out of steps: its value is the best found, not exact."""
    board.cut += 1


# -- the stopwatch ------------------------------------------------------------------------------


THREAD = "knightfall-stopwatch"


class Alarm:
    """Stops one search at its deadline, unless it was cancelled."""

    def __init__(self, boards: GeometryArray) -> None:
        self._boards: GeometryArray | None = boards

    def ring(self) -> None:
        """Stop the search, unless the alarm was cancelled."""
        boards = self._boards
        if boards is not None:
            boards["limit"] = 0

    def cancel(self) -> None:
        """Cancel the alarm, and release the search's records."""
        self._boards = None


class Stopwatch:
    """A thread that stops searches at their deadlines (`time.perf_counter` seconds)."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._serial = itertools.count()
        threading.Thread(target=self._watch, name=THREAD, daemon=True).start()

    def stop_at(self, deadline: float, boards: GeometryArray) -> Alarm:
        """Stop the search that uses these geometry records at the deadline.

        A search that ends earlier should cancel the alarm, which otherwise keeps its records alive.
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
    """Return this process's stopwatch, starting it on first use."""
    global _stopwatch
    if _stopwatch is None:
        _stopwatch = Stopwatch()
    return _stopwatch


def _forget() -> None:
    """Forget the stopwatch after a fork: the child does not inherit its thread."""
    global _stopwatch
    _stopwatch = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# -- Ctrl-C -------------------------------------------------------------------------------------


GRACE = 1.0
"""Seconds that work may take to end after its stop.  Only a heuristic that hangs takes longer."""

PATIENCE = 20.0
"""Seconds within which a user's heuristic must return at least once."""

CHECKS = 10
"""How many times `run_interruptibly` checks a heuristic's progress within its `patience`."""


def stop_function(boards: GeometryArray) -> Callable[[], None]:
    """Return a function that stops the search with these geometry records."""

    def stop() -> None:
        boards["limit"] = 0

    return stop


def run_interruptibly(
    run: Callable[[], None],
    stop: Callable[[], None],
    seconds: float | None = None,
    progress: Callable[[], int] | None = None,
    blamed: str = "the heuristic",
    patience: float | None = None,
) -> None:
    """Call `run` so that Ctrl-C can interrupt it; `run` must end soon after a call of `stop`.

    With `seconds`, it must end within about that time.  With `progress`, which returns a counter,
    that must change within `patience` seconds.  Otherwise AgentFailure is raised, whose message
    names `blamed`, and the thread that runs it is abandoned.
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
    """Wait for `done`; return False after `seconds`, or after `patience` seconds of no progress.

    No progress means that `CHECKS` checks in a row saw the same count.  On an overloaded
    machine the checks are delayed as well, so that a slow heuristic is not mistaken for a hung one.
    """
    if progress is None:
        return done.wait(None if seconds == math.inf else seconds)
    now = time.monotonic()
    until, before, unchanged = now + seconds, progress(), 0
    while not done.wait(max(0.0, min(patience / CHECKS, until - now))):
        now = time.monotonic()
        unchanged = unchanged + 1 if before == (before := progress()) else 0
        if now >= until or unchanged >= CHECKS:
            return False
    return True


@contextmanager
def deferred_keyboard_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; processes started inside ignore it for good.

    A terminal sends Ctrl-C to all processes, but only the one that started the others handles it.
    """
    enable_keyboard_interrupt()  # otherwise they would outlive this process
    with DeferredSigint():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
