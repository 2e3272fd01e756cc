"""Processes for work that takes long: they end at once when whoever waits for them has enough."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def process_pool(
    workers: int, begin: Callable[..., object] | None = None, *args: Any
) -> Iterator[ProcessPoolExecutor]:
    """So many processes, in each of which `begin` is called with `args` first.

    Ctrl-C is for the process that waits.  When it, or anything else, ends the waiting, nobody will
    ask for what the others are in the middle of: they are ended, too.
    """
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(begin, args),
    )
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., object] | None, args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # whoever started us has told them
    if begin is not None:
        begin(*args)
