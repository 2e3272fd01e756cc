"""The clocks that a submission is asked by: the one on the wall, and one that counts questions."""

from __future__ import annotations

from collections.abc import Callable
from timeit import default_timer

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
