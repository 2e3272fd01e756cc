"""Jobs for the workers of `test_workers`.  They import this file, so it imports little."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from knightfall.errors import AgentFailure, KnightfallError

begun: list[str] = []


def begin(word: str) -> None:
    begun.append(word)


def mapped(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return function


def state(_: object) -> tuple[int, list[str], bool]:
    print("not shown")
    print("nor this", file=sys.stderr)
    return os.getpid(), begun, signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def after(place_and_sign: tuple[int, str]) -> int:
    """Return the given number; number 0 first waits until another worker has created the file."""
    place, sign = place_and_sign
    if place == 0:
        while not Path(sign).exists():
            time.sleep(0.01)
    else:
        Path(sign).touch()
    return place


def die_once(sign: str) -> str:
    try:
        os.mkdir(sign)
    except FileExistsError:
        return sign
    os.kill(os.getpid(), signal.SIGKILL)
    return "never returned"


def die(how: str) -> None:
    """End this process by a signal, by exiting, or by exiting while a fork keeps files open."""
    if how == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "copy" and os.fork() == 0:
        time.sleep(20)
    os._exit(9)


def die_at_once(how: str) -> None:
    os.write(2, b"\x1b[31m" + b"far above\n" * 500 + b"I  cannot\tgo on\x1b[0m \xff\n")
    die(how)


class Own(Exception):
    pass


def fail(how: str) -> object:
    if how == "zero":
        return 1 // 0
    if how == "ours":
        raise KnightfallError("it is wrong")
    if how == "agent":
        raise AgentFailure("illegal", "no such move")
    if how == "exit":
        sys.exit("good-bye")
    if how == "own":
        raise Own
    return lambda: "cannot be pickled"


class Category(UserWarning):
    pass


def warn(place: int) -> int:
    warnings.warn(f"it took {place} µs", Category, stacklevel=1)
    warnings.warn(f"it took {place} µs more", RuntimeWarning, stacklevel=1)
    return place


def start_workers() -> None:
    """Start workers that run this function, like a script without an ``if __name__`` guard."""
    from knightfall.isolation.parallel_map import Job
    from knightfall.isolation.worker_pool import WorkerPool

    WorkerPool(1, Job(start_workers)).start()


def hold_the_lock(pid_file: str) -> None:
    """Hold the interpreter lock for ever."""
    Path(pid_file).write_text(str(os.getpid()))
    os.rename(pid_file, pid_file + ".whole")
    ctypes.PyDLL(None).pause()
