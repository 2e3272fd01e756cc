"""Processes that nobody waits for any more are ended, not waited for."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

import pytest

from knightfall.oracle.process_pool import process_pool

_greeting: list[str] = []


def _greet(word: str) -> None:
    _greeting.append(word)


def _state() -> tuple[list[str], bool]:
    return _greeting, signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_every_process_begins_and_leaves_ctrl_c_to_us() -> None:
    with process_pool(1, _greet, "hello") as pool:
        assert pool.submit(_state).result() == (["hello"], True)
    with process_pool(1) as pool:
        assert pool.submit(_state).result() == ([], True)


def test_whoever_works_is_ended_when_the_waiting_ends() -> None:
    before = set(multiprocessing.active_children())
    tasks = []

    def wait() -> None:
        with process_pool(1) as pool:
            pool.submit(os.getpid).result()  # it is there
            tasks.append(pool.submit(time.sleep, 30))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert not set(multiprocessing.active_children()) - before
    with pytest.raises((BrokenProcessPool, CancelledError)):
        tasks[0].result()
