"""Call a function in a process of its own, where it may exit, crash, hang or print.

`run_isolated` chooses the process: a fork of this one where that is safe, which takes milliseconds,
or else a fresh interpreter, which takes as long as its imports.  The function must be importable
and its arguments picklable.  Its result is sent as JSON, not pickled, because user code may have
taken over the process that sends it.
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
from time import monotonic, sleep  # bound now, so that user code cannot replace them
from typing import IO, Any, NoReturn

from knightfall.isolation.limits import be_expendable, exit_with_parent
from knightfall.isolation.supervisor import take_streams as take_streams

LOADING = 120.0
"""Default time limit in seconds, for a user's file to be loaded and tried."""

POLL = 0.1
"""Seconds between two checks whether a process has ended."""

MOST_BYTES = 1 << 20
"""Largest reply in bytes."""


class ChildExited(Exception):
    """A process ended, or was killed, before it replied.

    The message is a clause that says how, such as ``was killed by SIGSEGV``.
    """


def run_isolated(
    function: Callable[..., Any], *arguments: Any, seconds: float | None = None
) -> Any:
    """Return the result of a function that is called in a process of its own.

    Raise `ChildExited` if the process ends without a result, or takes longer than `seconds`
    (default `LOADING`).  Its descendants that stay in its session are killed with it.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        fork = Fork(partial(_reply_silently, function, arguments))
        return IsolatedCall(fork, os.fdopen(fork.reading, "rb")).reply(seconds)
    return start_isolated(function, *arguments).reply(seconds)


def start_isolated(function: Callable[..., Any], *arguments: Any) -> IsolatedCall:
    """Start to call a function in a fresh interpreter, without waiting for it."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # no Ctrl-C; its descendants can be killed with it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError), process.stdin as stdin:  # if it is dead, there will be no reply
        stdin.write(pickle.dumps((function, arguments)))
    return IsolatedCall(process, process.stdout)


class IsolatedCall:
    """A call in another process, which writes one reply and exits."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, reading: IO[bytes]) -> None:
        self._process, self._reading = process, reading

    def reply(self, seconds: float | None = None) -> Any:
        """Return the reply.  Raise `ChildExited` if there is none within `seconds`."""
        seconds = LOADING if seconds is None else seconds
        received: list[bytes] = []
        reader = start_thread(_read, self._reading, received)
        until = monotonic() + seconds
        try:
            # Usually the end of the stream shows first that the process has ended, but a process
            # that the function has started may keep the stream open.
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
        """Kill the process, and its descendants that stayed in its session."""
        kill_session(self._process)


def _read(stream: IO[bytes], received: list[bytes]) -> None:
    with stream:
        received.append(stream.read(MOST_BYTES))


def start_thread(target: Callable[..., None], *args: Any) -> threading.Thread:
    """Start a daemon thread."""
    thread = threading.Thread(target=target, args=args, name="knightfall", daemon=True)
    thread.start()
    return thread


def pass_output(stream: IO[bytes], output: Callable[[bytes], None]) -> None:
    """Pass what a process prints to a function, piece by piece, until the stream ends."""
    with stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            output(piece)


class Fork:
    """A fork of this process that calls `run` with a pipe to write to, and exits.

    What it writes can be read from `reading`, which the caller closes.  It has a session of its
    own, and those methods of `subprocess.Popen` that are needed here.
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
        """Return what the fork writes until a deadline (monotonic clock) or the end of the pipe.

        After the deadline, return what is already in the pipe.  It stops after `most` bytes.
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
        """Return the fork's exit status; None while it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def wait(self, timeout: float) -> int:
        """Wait for the fork to end; return its exit status.

        Raise `TimeoutExpired` after `timeout` seconds.
        """
        until = monotonic() + timeout
        while (status := self.poll()) is None:
            if monotonic() >= until:
                raise subprocess.TimeoutExpired("fork", timeout)
            sleep(0.001)
        return status

    def kill(self) -> None:
        """Kill the fork, but not its descendants."""
        os.kill(self.pid, signal.SIGKILL)


def kill_session(process: subprocess.Popen[bytes] | Fork) -> None:
    """Kill a process, and its descendants that stayed in its session."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        with suppress(OSError):
            process.kill()  # needed if it has no session yet
    with suppress(subprocess.TimeoutExpired):
        process.wait(60.0)


# -- how a process ended -------------------------------------------------------------------------

KEPT_OUTPUT, SHOWN_LINES, SHOWN_LETTERS = 4000, 3, 400
"""How much of a process's output is kept, in bytes, and shown, in lines and characters."""


def describe_exit(status: int, output: bytes = b"") -> str:
    """Return a clause such as ``ended with exit status 3``; a status below 0 is a signal.

    `status` is what `subprocess` calls the return code.  The last lines of the process's `output`
    are appended, if there are any.
    """
    shown = last_lines(output)
    return _clause(status) + (f", saying: {shown}" if shown else "")


def describe_end(process: subprocess.Popen[bytes], output: bytes = b"") -> str:
    """Return `describe_exit`'s clause for a process that has closed its end of the connection."""
    try:
        return describe_exit(process.wait(timeout=1), output)
    except subprocess.TimeoutExpired:
        return "closed the connection"


def _clause(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    if name == "SIGKILL":
        return f"was killed by {name}: perhaps the machine is short of memory"
    return f"was killed by {name}"


def last_lines(output: bytes) -> str:
    """Return the last lines of an output as one line that is safe to print."""
    lines = [" ".join(line.split()) for line in output.decode("utf-8", "replace").splitlines()]
    shown = " / ".join([line for line in lines if line][-SHOWN_LINES:])[-SHOWN_LETTERS:]
    return "".join(letter if letter.isprintable() else "�" for letter in shown)


# -- inside such a process -------------------------------------------------------------------


def silence_stdio() -> None:
    """Connect the standard streams of this process to the null device, also for compiled code."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        null_device = os.open(os.devnull, mode)
        os.dup2(null_device, descriptor)
        os.close(null_device)


def reply_and_exit(file: int, value: Any) -> NoReturn:
    """Write a value as JSON and end this process at once, even if it has other threads."""
    with suppress(OSError), os.fdopen(file, "wb") as out:
        out.write(json.dumps(value).encode())
    os._exit(0)


def _reply_silently(function: Callable[..., Any], arguments: tuple[Any, ...], file: int) -> None:
    """Call a function in a fork and write its result to a file; all other output is discarded."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.disable()  # it may write to a file
    silence_stdio()
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    be_expendable()
    reply_and_exit(file, function(*arguments))


def _main() -> NoReturn:
    """Call the pickled function that standard input contains, in a fresh interpreter."""
    exit_with_parent()
    reading, writing = take_streams()
    with os.fdopen(reading, "rb") as stdin:
        call = stdin.read()
    be_expendable()
    function, arguments = pickle.loads(call)
    reply_and_exit(writing, function(*arguments))


if __name__ == "__main__":
    _main()
