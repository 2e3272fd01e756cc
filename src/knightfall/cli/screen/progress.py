"""A line that tells a person how far a long computation has got."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER = 2.0
"""Seconds before anything is said: quick answers need no progress."""


@contextmanager
def ticker(after: float = AFTER) -> Iterator[Callable[[str], None]]:
    """A function that shows a line in place of its last one, and nothing in a pipe."""
    screen = sys.stderr.isatty()
    start, shown = time.monotonic(), False

    def tick(line: str) -> None:
        nonlocal shown
        if screen and time.monotonic() - start >= after:
            import shutil

            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[2K{line[:width]}", end="", file=sys.stderr, flush=True)
            shown = True

    try:
        yield tick
    finally:
        if shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
