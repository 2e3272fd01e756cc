"""Letting Ctrl-C end compiled code.

Python handles a signal only between byte codes, and compiled code has none.  So whatever may take
long runs in another thread while the main one waits; on Ctrl-C the work is told to stop the way
everyone tells it: its limit becomes 0.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

from knightfall.errors import KnightfallError
from knightfall.kernel.geometry import GeometryArray
from knightfall.sigint import HeldOff, raise_from_here

GRACE = 1.0
"""Seconds to wait for work that was told to stop.  Only a heuristic that hangs takes longer."""


def limit_to_nothing(boards: GeometryArray) -> Callable[[], None]:
    """What stops a search that uses these geometry records."""

    def stop() -> None:
        boards["limit"] = 0

    return stop


def interruptibly(
    run: Callable[[], None], stop: Callable[[], None], seconds: float | None = None
) -> None:
    """Call `run`, which ends soon after `stop` was called.

    If `seconds` are given, it is expected to be told by then.  Work that does not stop is left to
    itself, with a `KnightfallError`.
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
        if not done.wait(None if seconds is None else seconds + GRACE):
            raise KnightfallError("the heuristic does not return: is there an endless loop in it?")
    except BaseException:  # Ctrl-C
        stop()
        worker.join(GRACE)
        raise
    if failure:
        raise failure[0]


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Hear of Ctrl-C when the block is over; processes started inside never do.

    A terminal sends it to them all, but only the one that started the others is to act on it.
    """
    raise_from_here()  # or they would outlive us
    with HeldOff():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        resource_tracker.ensure_running()  # of multiprocessing; it lets Ctrl-C through as it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
