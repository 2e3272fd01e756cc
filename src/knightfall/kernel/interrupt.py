"""Letting Ctrl-C end compiled code.

Python handles a signal only between byte codes, and compiled code has none.  So whatever may take
long runs in another thread while the main one waits; on Ctrl-C the work is told to stop the way
everyone tells it: its limit becomes 0.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knightfall.errors import AgentFailure
from knightfall.isolation.sigint import HeldOff, enable_keyboard_interrupt
from knightfall.kernel.geometry import GeometryArray

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
    with HeldOff():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
