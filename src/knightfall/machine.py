"""What this machine has to offer: processor cores, and how busy they are."""

from __future__ import annotations

import os


def core_numbers() -> list[int]:
    """The cores that this process may use, as the system numbers them."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores() -> int:
    """How many cores this process may use."""
    return len(core_numbers())


def load() -> float | None:
    """How many processes wanted a core in the last minute; None where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None
