"""Timing: both sides of a ratio alternate after a warm-up, and the fastest round counts.

On a shared machine a slow period then affects both sides, and the fastest round is the least
disturbed one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable the garbage collector during a measurement."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fastest(
    sides: Mapping[str, Callable[[], object]], rounds: int, calls: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Return the shortest time of each side in seconds; sides alternate after a warm-up round.

    A fast side may be called several times per turn (`calls`).
    """
    best = dict.fromkeys(sides, float("inf"))
    with no_collection():
        for turn in range(rounds + 1):
            for name, work in sides.items():
                for _ in range((calls or {}).get(name, 1)):
                    spent = seconds_of(work)
                    if turn > 0:
                        best[name] = min(best[name], spent)
    return best


def percentile(sorted_values: list[float], share: float) -> float:
    """Return the smallest value that at least `share` (0 to 1) of the values do not exceed."""
    index = max(0, -(-len(sorted_values) * share // 1) - 1)
    return sorted_values[int(index)]
