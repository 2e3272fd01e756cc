"""Ctrl-C, so that it is never lost.

Python raises `KeyboardInterrupt` wherever the main thread happens to be.  Finalizers and callbacks
from C drop it, and LLVM, which asks Python for cached machine code, may crash because of it.  So a
command begins with `exit_on_sigint`: nothing is at stake while it imports and compiles.  Code that
has workers to end, results to keep or a cursor to bring back calls `enable_keyboard_interrupt`.
"""

from __future__ import annotations

# What `signal` is made of.  `signal` itself, and what imports `typing`, would take long enough
# for an early Ctrl-C to come in between.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""

_a_command = False


def exit_on_sigint() -> None:
    """Let Ctrl-C end the process, until `enable_keyboard_interrupt` is called."""
    global _a_command
    if raises():  # not in the background, where it is ignored
        signal.signal(signal.SIGINT, _end)
        _a_command = True


def exit_on_sigint_again() -> None:
    """Let Ctrl-C end the process once more: what `enable_keyboard_interrupt` was for is done.

    In a program that never called `exit_on_sigint` nothing changes.
    """
    if _a_command:
        exit_on_sigint()


def enable_keyboard_interrupt() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` for the rest of a command.

    In a program that never called `exit_on_sigint` it does so anyway.
    """
    if signal.getsignal(signal.SIGINT) is _end:
        try:  # noqa: SIM105 - see above
            signal.signal(signal.SIGINT, signal.default_int_handler)
        except ValueError:  # not the main thread: then it is not the one to be interrupted
            pass


def raises() -> bool:
    """Return whether Ctrl-C raises `KeyboardInterrupt`."""
    handler: object = signal.getsignal(signal.SIGINT)
    return handler is signal.default_int_handler


class HeldOff:
    """Defer Ctrl-C until the block is over.

    To block the signal would not do: it then comes through any other thread.
    """

    def __enter__(self) -> None:
        self._came = False
        self._before: Any = None
        import threading

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


def exit_interrupted() -> NoReturn:
    """End an interrupted command at once, after what was registered to be done at its end.

    The interpreter does not wind up: a thread of compiled code that then asks for its lock, such
    as one of Arrow's, would end the process with SIGABRT.
    """
    import atexit

    atexit._run_exitfuncs()
    os._exit(INTERRUPTED)


def _end(*_: object) -> NoReturn:
    # Nothing here may wait or fail for what the main thread is in the middle of.
    try:
        sys.stdout.flush()
    finally:
        try:
            os.write(2, b"knightfall: interrupted\n")
        finally:
            os._exit(INTERRUPTED)
