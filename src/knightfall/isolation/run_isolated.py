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
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic, sleep  # which the code that runs here cannot replace
from typing import IO, Any, NoReturn

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
        fork = Fork(partial(_reply_silently, function, arguments))
        return IsolatedCall(fork, os.fdopen(fork.reading, "rb")).reply(seconds)
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
    return IsolatedCall(process, process.stdout)


class IsolatedCall:
    """A function that is being called in another process, which writes one reply and exits."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, reading: IO[bytes]) -> None:
        self._process, self._reading = process, reading

    def reply(self, seconds: float | None = None) -> Any:
        """Return the reply.  Raise `ChildExited` if there is none within so many seconds."""
        seconds = LOADING if seconds is None else seconds
        received: list[bytes] = []
        reader = start_thread(_read, self._reading, received)
        until = monotonic() + seconds
        try:
            # The end of the stream is the quickest sign of the end, but a process that the function
            # has started may keep it open.
            while (status := self._process.poll()) is None and monotonic() < until:
                reader.join(POLL)
                if not reader.is_alive():
                    with suppress(subprocess.TimeoutExpired):
                        status = self._process.wait(max(0.0, until - monotonic()))
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
        kill_session(self._process)


def _read(stream: IO[bytes], received: list[bytes]) -> None:
    with stream:
        received.append(stream.read(MOST_BYTES))


def start_thread(target: Callable[..., None], *args: Any) -> threading.Thread:
    """Start a thread that does not keep this process from ending."""
    thread = threading.Thread(target=target, args=args, name="knightfall", daemon=True)
    thread.start()
    return thread


def pass_output(stream: IO[bytes], output: Callable[[bytes], None]) -> None:
    """Pass what a process prints to a function, piece by piece, until the stream ends."""
    with stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            output(piece)


class Fork:
    """A fork of this process that calls a function with a file to write to, and exits.

    What it writes can be read from `reading`, which the caller closes.  It has a session of its
    own, and as much of `subprocess.Popen` as is needed here.
    """

    def __init__(self, run: Callable[[int], object]) -> None:
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                exit_with_parent()
                os.setsid()
                os.close(self.reading)
                run(writing)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writing)
        self._status: int | None = None

    def read_until(self, deadline: float, most: int = MOST_BYTES) -> bytes:
        """Return what it writes until a time by the monotonic clock, or until it closes the pipe.

        After that time, return what is in the pipe already.  It stops after `most` bytes.
        """
        received = bytearray()
        while len(received) < most:
            left = max(0.0, deadline - monotonic())
            if not select.select([self.reading], [], [], left)[0]:
                break
            piece = os.read(self.reading, min(1 << 16, most - len(received)))
            if not piece:
                break
            received += piece
        return bytes(received)

    def poll(self) -> int | None:
        """Return its exit status; None as long as it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def wait(self, timeout: float) -> int:
        """Return its exit status.  Raise `TimeoutExpired` if it runs for so many seconds."""
        until = monotonic() + timeout
        while (status := self.poll()) is None:
            if monotonic() >= until:
                raise subprocess.TimeoutExpired("fork", timeout)
            sleep(0.001)
        return status

    def kill(self) -> None:
        """Kill this one process."""
        os.kill(self.pid, signal.SIGKILL)


def kill_session(process: subprocess.Popen[bytes] | Fork) -> None:
    """Kill a process, and whatever it started that has stayed in its session."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        with suppress(OSError):
            process.kill()  # before it has a session
    with suppress(subprocess.TimeoutExpired):
        process.wait(60.0)


# -- inside such a process -------------------------------------------------------------------


def silence_stdio() -> None:
    """Connect the standard streams of this process to nothing, for compiled code as well."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        nowhere = os.open(os.devnull, mode)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def take_streams() -> tuple[int, int]:
    """Return files for the standard input and output, which nothing else can use any more.

    From now on the input is empty, and what is printed goes to standard error.
    """
    streams = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return streams


def reply_and_exit(file: int, value: Any) -> NoReturn:
    """Write a value as JSON and end this process, whatever else may be going on in it."""
    with suppress(OSError), os.fdopen(file, "wb") as out:
        out.write(json.dumps(value).encode())
    os._exit(0)


def _reply_silently(function: Callable[..., Any], arguments: tuple[Any, ...], file: int) -> None:
    """Call a function in a fork and write its result to a file; nothing is printed."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.disable()  # it may write to a file
    silence_stdio()
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    be_expendable()
    reply_and_exit(file, function(*arguments))


def _main() -> NoReturn:
    """Call the function that the standard input names, in a fresh interpreter."""
    exit_with_parent()
    reading, writing = take_streams()
    with os.fdopen(reading, "rb") as stdin:
        call = stdin.read()
    be_expendable()
    function, arguments = pickle.loads(call)
    reply_and_exit(writing, function(*arguments))


if __name__ == "__main__":
    _main()
