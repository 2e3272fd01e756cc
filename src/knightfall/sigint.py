"""Ctrl-C, so that it is never lost.

Python raises `KeyboardInterrupt` wherever the main thread happens to be.  Finalizers and callbacks
from C drop it, and LLVM, which asks Python for cached machine code, may crash of it.  So a command
begins with `end_at_once`: nothing is at stake while it imports and compiles.  Whoever has workers
to end, results to keep or a cursor to bring back calls `raise_from_here` first.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


def end_at_once() -> None:
    """Let Ctrl-C end the process, until somebody asks for `KeyboardInterrupt`."""
    if raises():  # not in the background, where it is ignored
        signal.signal(signal.SIGINT, _end)


def raise_from_here() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` for the rest of a command.

    In a program that never called `end_at_once` it does so anyway.
    """
    if signal.getsignal(signal.SIGINT) is _end:
        with suppress(ValueError):  # not the main thread: then it is not the one to be interrupted
            signal.signal(signal.SIGINT, signal.default_int_handler)


def raises() -> bool:
    """Whether Ctrl-C raises `KeyboardInterrupt`."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def held_off() -> Iterator[None]:
    """Hear of Ctrl-C when the block is over."""
    before = hold_off()
    try:
        yield
    finally:
        let_through(before)


def hold_off() -> Any:
    """Begin of `held_off`: what `let_through` wants to know."""
    if hasattr(signal, "pthread_sigmask"):
        return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return None


def let_through(before: Any) -> None:
    """End of `held_off`."""
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(*_: object) -> NoReturn:
    # Nothing here may wait or fail for what the main thread is in the middle of.
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, b"knightfall: interrupted\n")
    os._exit(INTERRUPTED)
