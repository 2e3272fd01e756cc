"""The clocks that a submission is asked by: the one on the wall, and those that count questions."""

from __future__ import annotations

import datetime
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from timeit import default_timer
from typing import Any, Protocol

TICK = 60
"""Microseconds by which a counted clock advances each time it is asked for the time left: 150 ms
are 2,500 questions, as many as nodes that the course's own players are given here."""


class Timer(Protocol):
    """Something that Python's own clocks go by while it runs; see `running`."""

    def seconds(self) -> float:
        """Return the seconds that have passed; asking may cost time."""


class WallClock:
    """The clock on the wall, begun when it is made."""

    def __init__(self, limit: float) -> None:
        self._limit, self._start = limit, default_timer()

    def left(self) -> float:
        """Return the milliseconds left."""
        return self._limit - 1000.0 * (default_timer() - self._start)

    def late(self) -> float:
        """Return by how many milliseconds the limit is exceeded; negative if it is not."""
        return -self.left()


class CountedClock:
    """A clock that advances by a tick each time it is asked, also through Python's own clocks.

    Those go on from `before`, the seconds that have passed by clocks of the same player.
    """

    def __init__(self, limit: float, before: float = 0.0, *, tick: float = TICK / 1000.0) -> None:
        self._limit, self._before, self._tick = limit, before, tick
        self._asked = 0
        self.asked_elsewhere = 0
        """How many of the questions came through Python's own clocks."""

    def left(self) -> float:
        """Return the milliseconds left; asking costs a tick."""
        self._asked += 1
        return -self.late()

    def late(self) -> float:
        """Return by how many milliseconds the limit is exceeded; negative if it is not."""
        return self._asked * self._tick - self._limit

    def seconds(self) -> float:
        """See `Timer`: asking costs a tick."""
        self._asked += 1
        self.asked_elsewhere += 1
        return self.passed

    @property
    def passed(self) -> float:
        """Return the seconds that have passed for the player, without asking."""
        return self._before + self._asked * self._tick / 1000.0


STATE_TICK = 15
"""Microseconds that a question asked of the successor's state costs: 150 ms are 10,000 questions,
some 2,500 positions of a search that asks for results, ends, actions and liberties."""

QUESTIONS = ("actions", "liberties", "result", "terminal_test", "utility", "_has_liberties")
"""The methods of the successor's state that cost a tick."""


class StateClock:
    """A clock of the successor, whose players are not told their time.

    It goes on by a tick with each question asked of a state; those that a method of the state asks
    itself are free.  `on_end` is called with every tick after the last.
    """

    def __init__(self, limit: float, on_end: Callable[[], None]) -> None:
        self._left = round(1000 * limit / STATE_TICK)
        self._on_end = on_end
        self._inside = False
        self.asked = 0

    def tick(self) -> None:
        """Count a question."""
        self.asked += 1
        if self.asked > self._left:
            self._on_end()

    def seconds(self) -> float:
        """See `Timer`: asking costs a tick."""
        self.tick()
        return self.asked * STATE_TICK / 1e6

    def attach(self, kind: type[Any]) -> None:
        """Have the methods of a class of states counted from now on, in subclasses, too."""
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
"""Seconds that counted clocks show at first: the beginning of 2017."""

_running: list[Timer | None] = []


@contextmanager
def running(timer: Timer | None) -> Iterator[None]:
    """Let Python's clocks go by a timer inside the block; without one they stand still.

    It has an effect only after `count_all_clocks`.
    """
    _running.append(timer)
    try:
        yield
    finally:
        _running.pop()


def count_all_clocks() -> None:
    """Let Python's clocks go by the running timer, so that players with their own clock see it.

    They begin at the same moment in every process: floats are rounded alike then, and random
    numbers may be seeded with the time.
    Call it in the submission's own process, before the submission is imported.  Outside of
    `running` they tell the real time.
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
    return lambda: start + kind(unit * _seconds()) if _running else real()


class _CountedDatetime(datetime.datetime):
    """A datetime whose present goes by the running timer."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        if not _running:
            return super().now(tz)
        moment = cls.fromtimestamp(BEGINNING, datetime.UTC)
        moment += datetime.timedelta(seconds=_seconds())
        return moment.astimezone(tz) if tz else moment.astimezone().replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.UTC).replace(tzinfo=None)


def _seconds() -> float:
    timer = _running[-1]
    return 0.0 if timer is None else timer.seconds()
