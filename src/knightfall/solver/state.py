"""What one thread of the solver carries along."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype

PLIES = 66
"""Longer than any game."""

DTYPE = np.dtype(
    [
        ("nodes", "i8"),
        ("table", "u8"),  # the address of `proof_table`, and its number of buckets − 1
        ("buckets", "u8"),
        ("stored", "i8"),  # entries this thread was the first to fill
        ("marks", "u8"),  # the address of `thread_marks`; 0 = this thread is alone
        ("upper", "i8"),  # positions with at least so many open cells are worth every care
        # Scratch: row p belongs to ply p.
        ("order", "i8", (PLIES, 8)),  # moves, packed as value · 64 + cell, best first
        ("killer", "i8", (PLIES,)),
    ],
    align=True,
)
STATE = from_dtype(DTYPE)
State = Any
