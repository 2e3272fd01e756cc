"""Module `isolation.isolation` for submissions to the successor course, as in that course."""

from enum import IntEnum
from typing import NamedTuple

from knightfall.course.generation_successor import _ACTIONSET as _ACTIONSET
from knightfall.course.generation_successor import _BLANK_BOARD as _BLANK_BOARD
from knightfall.course.generation_successor import _HEIGHT as _HEIGHT
from knightfall.course.generation_successor import _SIZE as _SIZE
from knightfall.course.generation_successor import _WIDTH as _WIDTH
from knightfall.course.generation_successor import Action, DebugState, Isolation
from knightfall.course.generation_successor import _has_liberties as _has_liberties

S, N, W, E = -_WIDTH - 2, _WIDTH + 2, 1, -1
"""Steps to the neighbouring cells."""

row = (1 << _WIDTH) - 1
"""The bits of a row of open cells."""

__all__ = [
    "Action",
    "DebugState",
    "E",
    "IntEnum",
    "Isolation",
    "N",
    "NamedTuple",
    "S",
    "W",
    "row",
]
