"""Time budgets: one watching thread per process tells searches that their time is up.

Every search compares its node count with ``board.limit`` at every node.  The watcher sets that
limit to 0.  A search with many nodes to spend also heeds the clock itself
(`knightfall.kernel.clock`), in case this thread is woken late; one that waits for a costly
heuristic leaves that to the watcher.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time

from knightfall.kernel.geometry import GeometryArray

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
