"""Run work on a `concurrent.futures.Executor`: threads, processes, or a cluster behind it."""

from __future__ import annotations

import queue
import time
from collections.abc import Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from knightfall.errors import RunnerFailure
from knightfall.isolation.parallel_map import POLLING, Closing, Work
from knightfall.processor_cores import cores

AHEAD = 3
"""Items per thread of an executor: one running, one queued there, one in transfer."""

COUNTING = 2.0
"""Seconds between two counts of the executor's threads."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class ExecutorPool(Closing):
    """Distributes work to an executor, which belongs to the caller and stays open.

    An executor that loses a process cannot be used again: a `RunnerFailure` is raised then.
    """

    name = "the executor"

    lost_by: tuple[type[BaseException], ...] = ()
    """Exceptions of a call that mean that its worker died and others go on."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known_threads, self._counted = 1, float("-inf")

    def do(self, work: Work[Item, Result]) -> Generator[Result, None, None]:
        """Compute the items of a work queue; yield each result as it becomes known.

        An exception of a call is raised here.  Closing the generator cancels what has not begun.
        """
        given: dict[Future[Any], Item] = {}
        ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        try:
            while self._supply(work, given, ended):
                results: list[Result] = []
                try:
                    for future in _batch(ended):
                        results += self._received(work, given.pop(future), future)
                    self._supply(work, given, ended)  # before the caller processes the results
                except Exception:
                    yield from results  # these are valid
                    raise
                yield from results
        finally:
            self._cancel(given)

    def _cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel the calls that have not begun."""
        for future in futures:
            future.cancel()

    def _supply(
        self,
        work: Work[Item, Result],
        given: dict[Future[Any], Item],
        ended: queue.SimpleQueue[Future[Any]],
    ) -> bool:
        """Submit items to keep the executor busy; return False if there is nothing to wait for."""
        wanted = AHEAD * self._threads()
        while len(given) < wanted:
            item = work.take()
            if item is None:
                break
            job = work.job(item)
            try:
                future = self._executor.submit(job.function, *job.args)
            except RuntimeError as error:  # it was shut down, or is broken
                raise RunnerFailure(f"{self.name} accepts no more work: {error}") from None
            given[future] = item
            future.add_done_callback(ended.put)
        return bool(given)

    def _threads(self) -> int:
        """Return how many calls can run at once; count again at times, as a cluster may change."""
        if time.monotonic() > self._counted + COUNTING:
            self._known_threads = max(1, self._count_threads())
            self._counted = time.monotonic()
        return self._known_threads

    def _count_threads(self) -> int:
        return getattr(self._executor, "_max_workers", None) or cores()

    def _received(self, work: Work[Item, Result], item: Item, future: Future[Any]) -> list[Result]:
        try:
            answer = future.result()
        except self.lost_by as error:
            work.lost(item, False, f"was killed: {error}")
            return []
        except (BrokenExecutor, CancelledError) as error:
            why = f" ({error})" if str(error) else ""
            raise RunnerFailure(f"{self.name} has shut down{why}") from None
        return [*work.done(item, answer)]


def _batch(ended: queue.SimpleQueue[Future[Any]]) -> list[Future[Any]]:
    """Wait until at least one call has ended; return all that have ended since the last time."""
    batch: list[Future[Any]] = []
    while not batch:
        with suppress(queue.Empty):
            batch.append(ended.get(timeout=POLLING))
            while True:
                batch.append(ended.get_nowait())
    return batch


def stays_here(executor: Executor) -> bool:
    """Return whether an executor certainly makes its calls in this process."""
    return isinstance(executor, ThreadPoolExecutor)
