"""The processor cores of this machine, and how busy they are."""

from __future__ import annotations

import os
import time

ENOUGH = 0.8
"""The least share of a core with which games with time budgets are played."""


def core_numbers() -> list[int]:
    """Return the system's numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(core_numbers())


def core_share(seconds: float = 0.03) -> float:
    """Return the share of a core, from 0 to 1, that other processes leave to this one.

    Measured by computing for `seconds` of processor time.
    """
    began, used = time.perf_counter(), time.thread_time()
    while (spent := time.thread_time() - used) < seconds:
        pass
    return min(1.0, spent / (time.perf_counter() - began))


def wait_for_core(patience: float, pause: float = 0.5) -> float:
    """Wait for a free core, at most `patience` seconds; return the last `core_share`."""
    until = time.monotonic() + patience
    while (share := core_share()) < ENOUGH and time.monotonic() < until:
        time.sleep(pause)
    return share


def seconds_waited(process: int | str = "self") -> float:
    """Return the seconds in which a process was ready to run but had no core.

    Counted for its first thread, since its start; 0 where the system does not say (Linux does).
    """
    times = core_times(process)
    return 0.0 if times is None else times[1]


def core_times(process: int | str = "self") -> tuple[float, float] | None:
    """Return the seconds a process ran and the seconds it waited for a core; None if unknown."""
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:
            ran, waited = file.read().split()[:2]
        return int(ran) / 1e9, int(waited) / 1e9
    except (OSError, ValueError):
        return None


def load() -> float | None:
    """Return the mean number of runnable processes in the last minute; None if unknown."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None
