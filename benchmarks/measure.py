"""How time is taken: both sides of a ratio in turns, warmed up, the fastest of several rounds.

On a shared machine a slow spell then hits both sides alike, and the fastest round is the one
that was disturbed least.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector out of the measurement."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def seconds_of(work: Callable[[], object]) -> float:
    """The wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fastest(
    sides: Mapping[str, Callable[[], object]], rounds: int, calls: Mapping[str, int] | None = None
) -> dict[str, float]:
    """The shortest time of each side in seconds; sides take turns, the first round is a warm-up.

    A side that is over quickly may be called several times a turn (`calls`).
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
    """The smallest value that at least `share` (0 to 1) of the values do not exceed."""
    index = max(0, -(-len(sorted_values) * share // 1) - 1)
    return sorted_values[int(index)]
