"""A bar for work whose amount is known beforehand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knightfall.cli.progress import ticker

WIDTH = 30
EVERY = 0.25


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """While the block runs, show how much of it is done: call what is given with the number.

    The clock runs on where nothing gets done: one game on a large board may take minutes.
    """
    done, start, over = 0, time.monotonic(), threading.Event()

    def tell(number: int) -> None:
        nonlocal done
        done = number

    with ticker() as tick:

        def show() -> None:
            while not over.wait(EVERY):
                tick(_line(what, done, total, time.monotonic() - start))

        clock = threading.Thread(target=show, name="knightfall-bar", daemon=True)
        clock.start()
        try:
            yield tell
        finally:
            over.set()
            clock.join()


def _line(what: str, done: int, total: int, seconds: float) -> str:
    filled = WIDTH * done // max(total, 1)
    parts = [f"{'█' * filled}{'░' * (WIDTH - filled)} {done:,} of {total:,} {what}"]
    parts.append(f"{seconds:.0f} s")
    if 0 < done < total:
        parts.append(f"about {seconds * (total - done) / done:.0f} s to go")
    return " · ".join(parts)
