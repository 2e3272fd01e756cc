"""Describe in words how a process ended."""

from __future__ import annotations

import signal
import subprocess

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
