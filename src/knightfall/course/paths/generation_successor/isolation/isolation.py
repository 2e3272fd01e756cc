"""The board of the course's successor."""

from knightfall.course.successor import (
    _HEIGHT,
    _SIZE,
    _WIDTH,
    Action,
    DebugState,
    Isolation,
    _has_liberties,
)

__all__ = [
    "_HEIGHT",
    "_SIZE",
    "_WIDTH",
    "Action",
    "DebugState",
    "Isolation",
    "_has_liberties",
]
