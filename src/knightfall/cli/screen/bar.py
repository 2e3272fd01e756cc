"""A bar for work whose amount is known beforehand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knightfall.cli.screen.progress import ticker

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
                tick(line_of(what, done, total, done, time.monotonic() - start))

        clock = threading.Thread(target=show, name="knightfall-bar", daemon=True)
        clock.start()
        try:
            yield tell
        finally:
            over.set()
            clock.join()


def line_of(what: str, done: int, total: int, fresh: int, seconds: float) -> str:
    """A bar, how much is done, at what rate and how long the rest will take.

    `fresh` is what was done in these seconds: the rest was there before.
    """
    filled = WIDTH * done // max(total, 1)
    parts = [f"{'█' * filled}{'░' * (WIDTH - filled)} {done:,} of {total:,} {what}"]
    if not fresh or seconds <= 0:
        return f"{parts[0]} · {clock(seconds)}"
    rate = fresh / seconds
    parts.append(f"{rate:,.0f} a second" if rate >= 10 else clock(seconds))
    if done < total:
        parts.append(f"about {clock((total - done) / rate)} to go")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"
