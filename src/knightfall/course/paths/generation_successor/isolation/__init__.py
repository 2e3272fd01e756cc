"""The board of the course's successor."""

from isolation.isolation import (  # type: ignore[import-not-found]
    Action,
    DebugState,
    Isolation,
)
from knightfall.course.successor import StopSearch, TimedQueue

__all__ = [
    "Action",
    "DebugState",
    "Isolation",
    "StopSearch",
    "TimedQueue",
]
