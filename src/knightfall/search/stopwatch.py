"""Time budgets: one watching thread per process tells searches that their time is up.

Compiled code cannot look at the clock, but it compares its node count with ``board.limit`` at
every node.  The watcher sets that limit to 0.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time

from knightfall.kernel.geometry import GeometryArray


class Stopwatch:
    """Stops searches at their deadlines (`time.perf_counter` seconds)."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._alarms: list[tuple[float, int, GeometryArray]] = []
        self._serial = itertools.count()
        threading.Thread(target=self._watch, name="knightfall-stopwatch", daemon=True).start()

    def stop_at(self, deadline: float, boards: GeometryArray) -> None:
        """Stop the search that uses these geometry records at the deadline.

        A search that ends sooner need not say so: stopping it again harms nobody.
        """
        with self._wake:
            alarm = (deadline, next(self._serial), boards)
            heapq.heappush(self._alarms, alarm)
            if self._alarms[0] is alarm:
                self._wake.notify()

    def _watch(self) -> None:
        with self._wake:
            while True:
                wait = None
                while self._alarms:
                    wait = self._alarms[0][0] - time.perf_counter()
                    if wait > 0:
                        break
                    _, _, boards = heapq.heappop(self._alarms)
                    boards["limit"] = 0
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
