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
import threading
from contextlib import suppress
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


class HeldOff:
    """Hear of Ctrl-C when the block is over.

    To block the signal would not do: it then comes through any other thread.
    """

    def __enter__(self) -> None:
        self._came = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):  # not in the background, where it is ignored
                self._before = handler
                signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *raised: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._came:
                signal.raise_signal(signal.SIGINT)

    def _note(self, *_: object) -> None:
        self._came = True


def _end(*_: object) -> NoReturn:
    # Nothing here may wait or fail for what the main thread is in the middle of.
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, b"knightfall: interrupted\n")
    os._exit(INTERRUPTED)
