"""Functions that `test_parallel_map` maps.  Workers import this file, so it imports little."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from itertools import count

from knightfall.errors import KnightfallError


def squares() -> Callable[[int], int]:
    return lambda number: number**2


def numbered() -> Callable[[int], tuple[str, int]]:
    """Return a function that returns its process and thread and counts its calls."""
    calls = count(1)
    return lambda number: (f"{os.getpid()}/{threading.get_ident()}", next(calls))


def dies_once() -> Callable[[str], str]:
    def call(sign: str) -> str:
        try:
            os.mkdir(sign)
        except FileExistsError:
            return sign
        if sign.endswith("2"):
            os.kill(os.getpid(), signal.SIGKILL)
        return sign

    return call


def dies() -> Callable[[int], None]:
    return lambda number: os.kill(os.getpid(), signal.SIGKILL)


def dies_at_three() -> Callable[[int], int]:
    def call(number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return call


def inverse() -> Callable[[int], float]:
    return lambda number: 1 / number


def refuses() -> Callable[[int], int]:
    def call(number: int) -> int:
        if number == 3:
            raise KnightfallError("not 3")
        return number

    return call
