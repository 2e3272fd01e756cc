"""The clocks that a submission is asked by: the one on the wall, and those that count questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from timeit import default_timer
from typing import Any

TICK = 60
"""Microseconds by which a counted clock advances each time it is asked for the time left: 150 ms
are 2,500 questions, as many as nodes that the course's own players are given here."""

Clock = tuple[Callable[[], float], Callable[[], float]]
"""What a player asks for the milliseconds left, and what tells by how much they are exceeded."""


def wall_clock(limit: float) -> Clock:
    """The clock on the wall, begun now."""
    start = default_timer()

    def left() -> float:
        return limit - 1000.0 * (default_timer() - start)

    return left, lambda: -left()


def counted_clock(limit: float, tick: float = TICK / 1000.0) -> Clock:
    """A clock that goes on by a tick each time it is asked."""
    asked = 0

    def left() -> float:
        nonlocal asked
        asked += 1
        return limit - asked * tick

    return left, lambda: asked * tick - limit


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
