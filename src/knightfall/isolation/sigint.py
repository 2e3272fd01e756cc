"""Handle Ctrl-C so that it is never lost.

Python raises `KeyboardInterrupt` wherever the main thread happens to be.  Finalizers and callbacks
from C swallow it, and LLVM, which asks Python for cached machine code, may crash because of it.  So
a command begins with `exit_on_sigint`: it can end at once while it imports and compiles.  Code that
has to end workers, keep results or restore the cursor calls `enable_keyboard_interrupt`.
"""

from __future__ import annotations

# The C module behind `signal`: importing `signal` itself, or `typing`, takes so long that an early
# Ctrl-C could come before the handler is set.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""

last_steps: dict[str, Callable[[], None]] = {}
"""Functions to call, by name, when Ctrl-C ends the process at once; they must not block."""

_a_command = False


def exit_on_sigint() -> None:
    """Let Ctrl-C end the process, until `enable_keyboard_interrupt` is called."""
    global _a_command
    if raises():  # not for a background job, where SIGINT is ignored
        signal.signal(signal.SIGINT, _end)
        _a_command = True


def exit_on_sigint_again() -> None:
    """Let Ctrl-C end the process again, after `enable_keyboard_interrupt`.

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
        except ValueError:  # not the main thread, which alone receives the exception
            pass


def raises() -> bool:
    """Return whether Ctrl-C raises `KeyboardInterrupt`."""
    handler: object = signal.getsignal(signal.SIGINT)
    return handler is signal.default_int_handler


class DeferredSigint:
    """Context manager that defers Ctrl-C to the end of its block.

    Blocking the signal would not be enough: another thread would receive it.
    """

    def __enter__(self) -> None:
        self._came = False
        self._before: Any = None
        import threading

        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):  # not for a background job, where SIGINT is ignored
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
    """End an interrupted command at once, after running the functions registered with `atexit`.

    The interpreter is not finalised: a thread of compiled code that then asks for its lock, such as
    one of Arrow's, would end the process with SIGABRT.
    """
    import atexit

    atexit._run_exitfuncs()
    for step in list(last_steps.values()):
        step()
    os._exit(INTERRUPTED)


def _end(*_: object) -> NoReturn:
    # Called anywhere in the main thread, so nothing here may block or depend on its state.
    try:
        sys.stdout.flush()
    finally:
        try:
            os.write(2, b"knightfall: interrupted\n")
            for step in last_steps.values():
                step()
        finally:
            os._exit(INTERRUPTED)
