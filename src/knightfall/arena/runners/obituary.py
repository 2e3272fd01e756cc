"""What became of a process, as far as can be known from outside."""

from __future__ import annotations

import signal

LAST_WORDS, LINES, LETTERS = 4000, 3, 400
"""How much is kept of what a process prints, in bytes, and shown of it, in lines and letters."""


def obituary(status: int, printed: bytes = b"") -> str:
    """How a process ended, by its exit status, and the last that it printed, on one line."""
    words = last_words(printed)
    return how_it_ended(status) + (f", saying: {words}" if words else "")


def how_it_ended(status: int) -> str:
    """A verb for an exit status as `subprocess` tells it: below 0, a signal ended the process."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    if name == "SIGKILL":
        return f"was killed by {name}: perhaps the machine is short of memory"
    return f"was killed by {name}"


def last_words(printed: bytes) -> str:
    """The last lines of what somebody printed, as letters that a terminal can be shown."""
    lines = [" ".join(line.split()) for line in printed.decode("utf-8", "replace").splitlines()]
    said = " / ".join([line for line in lines if line][-LINES:])[-LETTERS:]
    return "".join(letter if letter.isprintable() else "�" for letter in said)
