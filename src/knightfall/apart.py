"""Work done in a process of its own, for it may end, crash or hold up its process."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.limits import exit_with_parent
from knightfall.position import Side

LOADING = 120.0
"""Seconds that a user's file may take to be loaded, or to show what it can do."""

LOOK, MOST_BYTES = 0.1, 1 << 20
"""Seconds between two looks at a process, and what it may say at most."""


class Ended(Exception):
    """A process ended before it had said anything: what it did."""


def apart(work: Callable[[], Any], module: str, *words: str, seconds: float | None = None) -> Any:
    """What some work comes to, which can be written as JSON; `Ended` if its process ended first.

    It is done by a copy of this process where copies are safe, in some milliseconds.  Elsewhere a
    module is run that does the same, which takes as long as it takes to import what is needed.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        return _Copy(work).told(LOADING if seconds is None else seconds)
    return Apart(module, *words).told(LOADING if seconds is None else seconds)


class _Process:
    """A process that says one thing, with `tell`, and is gone."""

    def __init__(self, pid: int, hears: int) -> None:
        self._pid, self._hears = pid, hears

    def told(self, seconds: float = LOADING) -> Any:
        """What it says; an `Ended` that tells what it did instead."""
        said: list[bytes] = []
        # Whatever it prints goes nowhere, so that this is what `tell` wrote, or nothing.
        listener = threading.Thread(target=_hear, args=(self._hears, said), daemon=True)
        listener.start()
        until = time.monotonic() + seconds
        try:
            # To hear the end of what it says is quickest, but somebody else may keep that from us.
            while (code := self.exit_code()) is None and time.monotonic() < until:
                listener.join(LOOK)
                if not listener.is_alive():
                    code = self.exit_code(patience=until - time.monotonic())
                    break
        finally:
            self.end()
        listener.join(LOOK * 50)
        with suppress(ValueError, RecursionError, IndexError):
            return json.loads(said[0])
        if code is None:
            raise Ended(f"does not come to an end within {seconds:g} s")
        raise Ended(describe_exit(code))

    def exit_code(self, patience: float = 0.0) -> int | None:
        """How it ended; None if it has not."""
        raise NotImplementedError

    def end(self) -> None:
        """End it, and whatever it started that has stayed with it."""
        raise NotImplementedError


class Apart(_Process):
    """A process that runs one of our modules."""

    def __init__(self, module: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", module, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is not for it; and what it starts can be ended with it
        )
        assert self._process.stdout is not None
        hears = os.dup(self._process.stdout.fileno())
        self._process.stdout.close()
        super().__init__(self._process.pid, hears)

    def exit_code(self, patience: float = 0.0) -> int | None:
        """See `_Process`."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(max(0.0, patience))
        return None

    def end(self) -> None:
        """See `_Process`."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()


class _Copy(_Process):
    """A copy of this process that does some work and no more."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._code: int | None = None
        hears, says = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                exit_with_parent()
                os.setsid()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                faulthandler.disable()  # somebody may have told it where to write
                os.close(hears)
                hush()
                sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
                tell(says, work())
            finally:
                os._exit(1)
        os.close(says)
        super().__init__(pid, hears)

    def exit_code(self, patience: float = 0.0) -> int | None:
        """See `_Process`."""
        until = time.monotonic() + patience
        while self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= until:
                break
            else:
                time.sleep(0.001)
        return self._code

    def end(self) -> None:
        """See `_Process`."""
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        if self._code is None:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)  # before it has a session
            self.exit_code(patience=60.0)


def _hear(file: int, said: list[bytes]) -> None:
    with os.fdopen(file, "rb") as stream:
        said.append(stream.read(MOST_BYTES))


# -- inside such a process -------------------------------------------------------------------


def hush() -> None:
    """Have the standard streams of this process lead nowhere, also those of compiled code."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        nowhere = os.open(os.devnull, mode)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def quietly() -> int:
    """Keep the standard output for `tell`, and let nobody else write to it; end with the parent."""
    exit_with_parent()
    mine = os.dup(1)
    hush()
    return mine


def tell(file: int, value: Any) -> NoReturn:
    """Say one thing and be gone, whatever else may be going on in this process."""
    with suppress(OSError), os.fdopen(file, "wb") as out:
        out.write(json.dumps(value).encode())
    os._exit(0)


def seed_random(seed: int, side: Side = "w") -> None:
    """Begin the random numbers of a game, Python's and, if it is loaded, NumPy's.

    The two sides do not share them.
    """
    number = 2 * seed + (side == "b")
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number % 2**32)
