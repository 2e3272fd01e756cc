"""Processes that work for this one: nobody waits for anybody, and whoever dies is replaced."""

from __future__ import annotations

import queue
import re
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from knightfall.arena.runners.runner import HEARING, Closing
from knightfall.arena.runners.worker import READY, Done, Job, Warned, is_starting
from knightfall.arena.runners.worker_process import Letter, WorkerProcess
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.kernel.interrupt import ctrl_c_later
from knightfall.machine import core_numbers

MOST_WORKERS = 256

BAD_STARTS = 3
"""So many workers in a row may die before they are ready."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Work(Protocol[Item, Result_co]):
    """What there is to do, item by item.

    Every item that was taken comes back: `done`, `lost` with its worker, or not begun (`put_back`).
    """

    @property
    def slow(self) -> bool:
        """Whether items take so long that handing one over is no matter."""

    def take(self) -> Item | None:
        """The next item; None if there is nothing more to do."""

    def job(self, item: Item) -> Job:
        """What a worker has to do for it."""

    def done(self, item: Item, answer: Any) -> Iterable[Result_co]:
        """A worker gave this answer: the results it makes known."""

    def lost(self, item: Item, stalled: bool, obituary: str) -> None:
        """The worker that had it in hand died, as told, or it `stalled` and was ended."""

    def put_back(self, item: Item) -> None:
        """Nobody has begun it."""


class Workers(Closing):
    """So many processes of this machine, in each of which `begin` is run first.

    With `pin`, each has a core to itself.
    """

    def __init__(self, number: int, begin: Job, *, pin: bool = False) -> None:
        cores = core_numbers()
        if not 1 <= number <= MOST_WORKERS:
            raise KnightfallError(f"workers={number} must be from 1 to {MOST_WORKERS}")
        if pin and number > len(cores):
            raise KnightfallError(
                f"workers={number} cannot have a core each: there are {len(cores)} cores"
            )
        self._begin = begin
        self._cores: list[int | None] = [*cores[:number]] if pin else [None] * number
        self._crew: list[WorkerProcess] = []
        self._inbox: queue.SimpleQueue[Letter] = queue.SimpleQueue()
        self._bad_starts = 0
        self._told: set[str] = set()

    def do(self, work: Work[Item, Result]) -> Generator[Result, None, None]:
        """Have it all done; results come as they are made known.

        What goes wrong in a worker is raised here and ends them all.  Closing the generator ends
        the work, but not the workers.
        """
        for worker in self._crew:
            worker.nobody_waits()  # for what an earlier call left unfinished
        try:
            while self._supply(work):
                results: list[Result] = []
                try:
                    self._listen(work, results)
                    self._supply(work)  # before anybody sees to the results
                except Exception:
                    yield from results  # these are good
                    raise
                yield from results
        except GeneratorExit:
            for worker in self._crew:
                worker.nobody_waits()
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes."""
        crew, self._crew = self._crew, []
        for worker in crew:
            worker.end()

    @property
    def ready(self) -> bool:
        """Whether somebody has something to say, be it that it is ready."""
        return not self._inbox.empty()

    def hire(self) -> None:
        """Have the processes started that are missing; `do` does so by itself."""
        if is_starting():
            raise KnightfallError(
                "workers import the script whose classes they use: it needs "
                "if __name__ == '__main__': around what it does"
            )
        free = list(self._cores)
        for worker in self._crew:
            free.remove(worker.core)
        with ctrl_c_later():
            for core in free:
                self._crew.append(WorkerProcess.start(core, self._begin, self._inbox))

    def _supply(self, work: Work[Item, Result]) -> bool:
        """See that everybody has something to do; False if there is nothing left to wait for."""
        item = work.take()
        if item is not None and len(self._crew) < len(self._cores):
            self.hire()
        # One to do and one to go on with, unless that would only keep it from the others.
        for depth in (1,) if work.slow else (1, 2):
            for worker in self._crew:
                if item is not None and worker.wants_more(depth):
                    worker.give(item, work.job(item))
                    item = work.take()
        if item is not None:
            work.put_back(item)
        return item is not None or any(worker.is_awaited for worker in self._crew)

    def _listen(self, work: Work[Item, Result], results: list[Result]) -> None:
        """Wait until something happens, and see to it."""
        for worker, message in self._letters():
            if worker not in self._crew:
                continue  # it was ended before this was read
            if isinstance(message, Done):
                item = worker.finished()
                if item is not None:
                    results += work.done(item, message.result)
            elif isinstance(message, Warned):
                self._tell(message)
            elif isinstance(message, BaseException):
                raise message
            elif message == READY:
                self._bad_starts = 0
                worker.is_ready()
            else:
                self._bury(worker, work)
        for worker in [*self._crew]:
            if worker.is_overdue():
                self._bury(worker, work, stalled=worker.process.poll() is None)

    def _letters(self) -> Iterator[Letter]:
        """What has arrived, after some waiting for the first."""
        left = min(worker.deadline for worker in self._crew) - time.monotonic()
        with suppress(queue.Empty):
            yield self._inbox.get(timeout=max(0.0, min(left, HEARING)))
            while True:
                yield self._inbox.get_nowait()

    def _bury(self, worker: WorkerProcess, work: Work[Item, Result], stalled: bool = False) -> None:
        """A worker is dead, or as good as."""
        told = f"was not {'done' if worker.ready else 'ready'} in time"
        if not stalled:
            told = worker.obituary()
        worker.end()
        self._crew.remove(worker)
        if not worker.ready:
            self._bad_starts += 1
            if self._bad_starts >= BAD_STARTS:
                raise RunnerFailure(
                    f"{BAD_STARTS} worker processes in a row ended before they were ready; the "
                    f"last one {told}"
                )
        for place, given in reversed([*enumerate(worker.given)]):
            if given.item is not None and place == 0:
                work.lost(given.item, stalled, told)
            elif given.item is not None:
                work.put_back(given.item)

    def _tell(self, warned: Warned) -> None:
        """Pass on a warning; all workers have the same, but for what they measured."""
        key = re.sub(r"\d+ µs", "", warned.text)
        if key not in self._told:
            self._told.add(key)
            warnings.warn(warned.text, warned.category, stacklevel=2)
