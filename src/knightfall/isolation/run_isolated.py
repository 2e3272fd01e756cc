"""Call a function in a process of its own, where it may exit, crash, hang or print.

`run_isolated` is the one place that decides how: a fork of this process where that is safe, which
takes some milliseconds, or else a fresh interpreter, which takes as long as its imports.  The call
is the same for both, so the function must be importable and its arguments picklable; its result
must be JSON, for the process that sends it may have been taken over by the code it ran.
"""

from __future__ import annotations

import faulthandler
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.limits import be_expendable, exit_with_parent

LOADING = 120.0
"""Seconds that a user's file may take to be loaded, or to show what it can do."""

POLL = 0.1
"""Seconds between two looks whether a process has ended."""

MOST_BYTES = 1 << 20
"""Bytes of a reply."""


class ChildExited(Exception):
    """A process ended, or had to be ended, before it replied.

    The message is a clause that says how, such as ``was killed by SIGSEGV``.
    """


def run_isolated(
    function: Callable[..., Any], *arguments: Any, seconds: float | None = None
) -> Any:
    """Return what a function returns in a process of its own.

    Raise `ChildExited` if that ended without a result.  It is killed after so many seconds, with
    all that it has started and that stayed in its session.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        return IsolatedCall(*_fork(function, arguments)).reply(seconds)
    return start_isolated(function, *arguments).reply(seconds)


def start_isolated(function: Callable[..., Any], *arguments: Any) -> IsolatedCall:
    """Begin to call a function in a fresh interpreter, and do not wait for it."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is not for it; and what it starts can be killed with it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError), process.stdin as stdin:  # if it is dead, there will be no reply
        stdin.write(pickle.dumps((function, arguments)))
    reading = os.dup(process.stdout.fileno())
    process.stdout.close()
    return IsolatedCall(process, reading)


class IsolatedCall:
    """A function that is being called in another process, which writes one reply and exits."""

    def __init__(self, process: subprocess.Popen[bytes] | _Fork, reading: int) -> None:
        self._process, self._reading = process, reading

    def reply(self, seconds: float | None = None) -> Any:
        """Return the reply.  Raise `ChildExited` if there is none within so many seconds."""
        seconds = LOADING if seconds is None else seconds
        received: list[bytes] = []
        reader = threading.Thread(target=_read, args=(self._reading, received), daemon=True)
        reader.start()
        until = time.monotonic() + seconds
        try:
            # The end of the stream is the quickest sign of the end, but a process that the function
            # has started may keep it open.
            while (status := self._wait(0.0)) is None and time.monotonic() < until:
                reader.join(POLL)
                if not reader.is_alive():
                    status = self._wait(until - time.monotonic())
                    break
        finally:
            self.kill()
        reader.join(POLL * 50)
        with suppress(ValueError, RecursionError, IndexError):
            return json.loads(received[0])
        if status is None:
            raise ChildExited(f"does not come to an end within {seconds:g} s")
        raise ChildExited(describe_exit(status))

    def kill(self) -> None:
        """Kill the process, and whatever it started that has stayed in its session."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._wait(0.0) is None:
            with suppress(OSError):
                self._process.kill()  # before it has a session
        self._wait(60.0)

    def _wait(self, seconds: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(max(0.0, seconds))
        return None


def _read(file: int, received: list[bytes]) -> None:
    with os.fdopen(file, "rb") as stream:
        received.append(stream.read(MOST_BYTES))


class _Fork:
    """A child of this process, with as much of `subprocess.Popen` as is needed here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def wait(self, timeout: float) -> int:
        until = time.monotonic() + timeout
        while self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= until:
                raise subprocess.TimeoutExpired("fork", timeout)
            else:
                time.sleep(0.001)
        return self._status

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _fork(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[_Fork, int]:
    """Call a function in a fork; return it and the file from which its reply can be read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            exit_with_parent()
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            faulthandler.disable()  # it may write to a file
            os.close(reading)
            silence_stdio()
            sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            be_expendable()
            reply_and_exit(writing, function(*arguments))
        finally:
            os._exit(1)
    os.close(writing)
    return _Fork(pid), reading


# -- inside such a process -------------------------------------------------------------------


def silence_stdio() -> None:
    """Connect the standard streams of this process to nothing, for compiled code as well."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        nowhere = os.open(os.devnull, mode)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def claim_stdout() -> int:
    """Return a file that writes to the standard output, to which nothing else can write any more.

    This process then ends with its parent.
    """
    exit_with_parent()
    mine = os.dup(1)
    silence_stdio()
    return mine


def reply_and_exit(file: int, value: Any) -> NoReturn:
    """Write a value as JSON and end this process, whatever else may be going on in it."""
    with suppress(OSError), os.fdopen(file, "wb") as out:
        out.write(json.dumps(value).encode())
    os._exit(0)


def _main() -> NoReturn:
    """Call the function that the standard input names, in a fresh interpreter."""
    call = sys.stdin.buffer.read()
    writing = claim_stdout()
    be_expendable()
    function, arguments = pickle.loads(call)
    reply_and_exit(writing, function(*arguments))


if __name__ == "__main__":
    _main()
