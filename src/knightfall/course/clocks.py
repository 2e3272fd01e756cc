"""Clocks that time a submission's moves: the wall clock, and clocks that count calls instead."""

from __future__ import annotations

import datetime
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from timeit import default_timer
from typing import Any

TICK = 60
"""Microseconds by which a counted clock advances with each call of `time_left()`: 150 ms are 2,500
calls, the same number as the nodes that the course's own players may search here."""


class WallClock:
    """A real-time clock that starts when it is created; the limit is in milliseconds."""

    def __init__(self, limit: float) -> None:
        self._limit, self._start = limit, default_timer()

    def left(self) -> float:
        """Return the milliseconds left."""
        return self._limit - 1000.0 * (default_timer() - self._start)

    def late(self) -> float:
        """Return the milliseconds beyond the limit; negative while time is left."""
        return -self.left()


class CountedClock:
    """A clock that advances by one tick per call, including calls through Python's own clocks.

    Python's clocks continue from `before`, the seconds used by the same player's earlier moves.
    """

    def __init__(self, limit: float, before: float = 0.0, *, tick: float = TICK / 1000.0) -> None:
        self._limit, self._before, self._tick = limit, before, tick
        self._asked = 0
        self.asked_elsewhere = 0
        """How many of the calls came through Python's own clocks."""

    def left(self) -> float:
        """Return the milliseconds left; the call costs a tick."""
        self._asked += 1
        return -self.late()

    def late(self) -> float:
        """Return the milliseconds beyond the limit; negative while time is left."""
        return self._asked * self._tick - self._limit

    def seconds(self) -> float:
        """Return the seconds used so far, for Python's own clocks; the call costs a tick."""
        self._asked += 1
        self.asked_elsewhere += 1
        return self.passed

    @property
    def passed(self) -> float:
        """Return the seconds used by the player so far; costs no tick."""
        return self._before + self._asked * self._tick / 1000.0


STATE_TICK = 15
"""Microseconds that a method call on the successor's state costs: 150 ms are 10,000 calls, or about
2,500 positions of a search that calls result, terminal_test, actions and liberties."""

QUESTIONS = ("actions", "liberties", "result", "terminal_test", "utility", "_has_liberties")
"""The methods of the successor's state that cost a tick."""


class StateClock:
    """A clock for the 11×9 game that advances by a tick with each method call on a state.

    Players of the 11×9 game, from the successor course, get no `time_left` function.  Calls from
    within a state's methods are free.  `on_end` is called at every tick after the limit.
    """

    def __init__(self, limit: float, on_end: Callable[[], None]) -> None:
        self._left = round(1000 * limit / STATE_TICK)
        self._on_end = on_end
        self._inside = False
        self.asked = 0

    def tick(self) -> None:
        """Count one call; call `on_end` if the limit is exceeded."""
        self.asked += 1
        if self.asked > self._left:
            self._on_end()

    def seconds(self) -> float:
        """Return the seconds used so far, for Python's own clocks; the call costs a tick."""
        self.tick()
        return self.asked * STATE_TICK / 1e6

    def attach(self, kind: type[Any]) -> None:
        """Count calls of the methods of a state class from now on, including its subclasses."""
        for name in QUESTIONS:
            setattr(kind, name, self._counted(getattr(kind, name)))

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def asked(*args: Any, **options: Any) -> Any:
            if self._inside:
                return method(*args, **options)
            self._inside = True
            try:
                self.tick()
                return method(*args, **options)
            finally:
                self._inside = False

        return asked


# -- Python's own clocks -----------------------------------------------------------------------

CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")

BEGINNING = 1_483_228_800
"""The time that counted clocks start from, in seconds since 1970: the beginning of 2017."""

_running: list[Callable[[], float]] = []


@contextmanager
def running(seconds: Callable[[], float] | None) -> Iterator[None]:
    """Make Python's clocks return `seconds()` inside the block, or a fixed time if it is None.

    This has an effect only after `count_all_clocks`.
    """
    _running.append(seconds or (lambda: 0.0))
    try:
        yield
    finally:
        _running.pop()


def count_all_clocks() -> None:
    """Replace Python's clocks by clocks that show the time of `running`, for this process.

    Players that read `time.time()` and the like are then timed in ticks, too.  The clocks start at
    the same moment in every process, so that float rounding and seeds taken from the time repeat.
    Call it in the submission's own process before the submission is imported.  Outside of
    `running` the clocks show the real time.
    """
    if issubclass(datetime.datetime, _CountedDatetime):
        return
    for name in CLOCKS:
        setattr(time, name, _counted(getattr(time, name), 1))
        setattr(time, f"{name}_ns", _counted(getattr(time, f"{name}_ns"), 1_000_000_000))
    timeit.default_timer = time.perf_counter
    datetime.datetime = _CountedDatetime  # type: ignore[misc]


def _counted(real: Callable[[], Any], unit: int) -> Callable[[], Any]:
    kind = type(real())
    start = kind(unit * BEGINNING)
    return lambda: start + kind(unit * _running[-1]()) if _running else real()


class _CountedDatetime(datetime.datetime):
    """A datetime class whose `now`, `today` and `utcnow` show the time of `running`."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        if not _running:
            return super().now(tz)
        moment = cls.fromtimestamp(BEGINNING, datetime.UTC)
        moment += datetime.timedelta(seconds=_running[-1]())
        return moment.astimezone(tz) if tz else moment.astimezone().replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.UTC).replace(tzinfo=None)
