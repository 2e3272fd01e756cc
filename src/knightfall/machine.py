"""What this machine has to offer: processor cores, and how busy they are."""

from __future__ import annotations

import os
import time

ENOUGH = 0.8
"""Share of a core from which on a game by the wall clock is worth playing."""


def core_numbers() -> list[int]:
    """The cores that this process may use, as the system numbers them."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores() -> int:
    """How many cores this process may use."""
    return len(core_numbers())


def core_share(seconds: float = 0.03) -> float:
    """Return the share of a core, from 0 to 1, that other processes leave to this one.

    Measured by computing for so many seconds of processor time.
    """
    began, used = time.perf_counter(), time.thread_time()
    while (spent := time.thread_time() - used) < seconds:
        pass
    return min(1.0, spent / (time.perf_counter() - began))


def wait_for_core(patience: float, pause: float = 0.5) -> float:
    """Wait until this process has a core to itself, at most so many seconds; return its share."""
    until = time.monotonic() + patience
    while (share := core_share()) < ENOUGH and time.monotonic() < until:
        time.sleep(pause)
    return share


def seconds_waited(process: int | str = "self") -> float:
    """Return the seconds that a process was ready to run and had no core.

    Of its first thread, since it began; 0 where the system does not tell (Linux does).
    """
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def load() -> float | None:
    """How many processes wanted a core in the last minute; None where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None
