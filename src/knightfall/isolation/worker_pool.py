"""A pool of worker processes on this machine; a worker that dies is replaced.

`WorkerPool.do` distributes the items of some `Work`.  `worker_process.py` is the other end of the
pipes.
"""

from __future__ import annotations

import os
import pickle
import queue
import re
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from multiprocessing.spawn import get_preparation_data
from subprocess import PIPE, Popen
from typing import Any, TypeVar

from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation.parallel_map import MOST_WORKERS, POLLING, Closing, Job, Work
from knightfall.isolation.run_isolated import KEPT_OUTPUT, describe_end, pass_output, start_thread
from knightfall.isolation.worker_process import COMMAND, READY, Done, Warned, starting
from knightfall.kernel.interrupt import deferred_keyboard_interrupt
from knightfall.processor_cores import core_numbers

STARTING = 120.0
"""Seconds until a worker must be ready: an interpreter, imports, perhaps a compilation."""

BAD_STARTS = 3
"""Number of workers in a row that may die before they are ready."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerPool(Closing):
    """A pool of worker processes on this machine; each runs the job `begin` before any other.

    With `pin`, each has a core to itself.
    """

    def __init__(self, number: int, begin: Job, *, pin: bool = False) -> None:
        cores = core_numbers()
        if not 1 <= number <= MOST_WORKERS:
            raise KnightfallError(f"workers={number} must be from 1 to {MOST_WORKERS}")
        if pin and number > len(cores):
            raise KnightfallError(
                f"workers={number} cannot have a core each; this machine has {len(cores)} cores"
            )
        self._begin = begin
        self._cores: list[int | None] = [*cores[:number]] if pin else [None] * number
        self._workers: list[_Worker] = []
        self._inbox: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._bad_starts = 0
        self._warned: set[str] = set()

    def do(self, work: Work[Item, Result]) -> Generator[Result, None, None]:
        """Compute the items of a work queue; yield each result as it becomes known.

        An exception in a worker is raised here and ends all workers.  Closing the generator ends
        the work, but not the workers.
        """
        for worker in self._workers:
            worker.forget_items()  # of an earlier, unfinished call of `do`
        try:
            while self._supply(work):
                results: list[Result] = []
                try:
                    self._receive(work, results)
                    self._supply(work)  # before the caller processes the results
                except Exception:
                    yield from results  # these are valid
                    raise
                yield from results
        except GeneratorExit:
            for worker in self._workers:
                worker.forget_items()
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all workers."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()

    @property
    def ready(self) -> bool:
        """Whether an unread message from a worker has arrived, such as that it is ready."""
        return not self._inbox.empty()

    def start(self) -> None:
        """Start the workers that are missing; `do` calls this itself."""
        if starting.is_set():
            raise KnightfallError(
                "workers import the script whose classes they use; put its top-level calls under "
                "if __name__ == '__main__':"
            )
        free = list(self._cores)
        for worker in self._workers:
            free.remove(worker.core)
        with deferred_keyboard_interrupt():
            for core in free:
                self._workers.append(_Worker.start(core, self._begin, self._inbox))

    def _supply(self, work: Work[Item, Result]) -> bool:
        """Give every worker something to do; return False if there is nothing left to wait for."""
        item = work.take()
        if item is not None and len(self._workers) < len(self._cores):
            self.start()
        # A second job keeps a worker busy, but slow ones are left for workers that become free.
        for depth in (1,) if work.slow else (1, 2):
            for worker in self._workers:
                if item is not None and worker.wants_more(depth):
                    worker.give(item, work.job(item))
                    item = work.take()
        if item is not None:
            work.put_back(item)
        return item is not None or any(worker.is_awaited for worker in self._workers)

    def _receive(self, work: Work[Item, Result], results: list[Result]) -> None:
        """Wait for messages or deadlines, and act on them."""
        for worker, message in self._messages():
            if worker not in self._workers:
                continue  # the worker was removed before its message was read
            if isinstance(message, Done):
                item = worker.finish()
                if item is not None:
                    results += work.done(item, message.result)
            elif isinstance(message, Warned):
                self._pass_on(message)
            elif isinstance(message, BaseException):
                raise message
            elif message == READY:
                self._bad_starts = 0
                worker.begin()
            else:
                self._remove(worker, work)
        for worker in [*self._workers]:
            if worker.is_overdue():
                self._remove(worker, work, stalled=worker.process.poll() is None)

    def _messages(self) -> Iterator[_Message]:
        """Yield the messages that have arrived, after waiting a little for the first."""
        left = min(worker.deadline for worker in self._workers) - time.monotonic()
        with suppress(queue.Empty):
            yield self._inbox.get(timeout=max(0.0, min(left, POLLING)))
            while True:
                yield self._inbox.get_nowait()

    def _remove(self, worker: _Worker, work: Work[Item, Result], stalled: bool = False) -> None:
        """Remove a worker that died or stalled, and return its items to the queue."""
        status = f"was not {'done' if worker.ready else 'ready'} in time"
        if not stalled:
            status = worker.exit_status()
        worker.end()
        self._workers.remove(worker)
        if not worker.ready:
            self._bad_starts += 1
            if self._bad_starts >= BAD_STARTS:
                raise RunnerFailure(
                    f"{BAD_STARTS} worker processes in a row ended before they were ready; the "
                    f"last one {status}"
                )
        for place, given in reversed([*enumerate(worker.given)]):
            if given.item is not None and place == 0:
                work.lost(given.item, stalled, status)
            elif given.item is not None:
                work.put_back(given.item)

    def _pass_on(self, warned: Warned) -> None:
        """Issue a warning unless another worker has sent the same, apart from measured times."""
        key = re.sub(r"\d+ µs", "", warned.text)
        if key not in self._warned:
            self._warned.add(key)
            warnings.warn(warned.text, warned.category, stacklevel=2)


# -- one worker, seen from its driver ----------------------------------------------------------


@dataclass
class _Given:
    """A job sent to a worker; `item` is None if the result will be discarded."""

    item: Any
    job: Job


@dataclass(eq=False)
class _Worker:
    """A worker process with its pipes and the jobs that it was given."""

    process: Popen[bytes]
    lifeline: int | None
    core: int | None
    deadline: float
    printing: threading.Thread
    printed: bytearray
    ready: bool = False
    given: deque[_Given] = field(default_factory=deque)

    @staticmethod
    def start(core: int | None, begin: Job, inbox: queue.SimpleQueue[_Message]) -> _Worker:
        """Start a process; its messages arrive in the inbox."""
        first = _first_message(core, begin)
        theirs, ours = os.pipe() if sys.platform != "win32" else (0, None)
        try:
            process = Popen(
                [sys.executable, "-P", "-c", COMMAND, str(theirs)],
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=[theirs] if theirs else [],
            )
        except OSError as error:
            if ours is not None:
                os.close(ours)
            raise RunnerFailure(f"a worker process cannot be started: {error}") from None
        finally:
            if theirs:
                os.close(theirs)
        printed = bytearray()

        def keep_end(piece: bytes) -> None:
            printed.extend(piece)
            del printed[:-KEPT_OUTPUT]

        printing = start_thread(pass_output, process.stderr, keep_end)
        deadline = time.monotonic() + STARTING
        worker = _Worker(process, ours, core, deadline, printing, printed)
        start_thread(_read_messages, worker, inbox)
        worker._send(first)
        return worker

    @property
    def is_awaited(self) -> bool:
        """Whether the worker has a job whose result will not be discarded."""
        return any(given.item is not None for given in self.given)

    def wants_more(self, depth: int) -> bool:
        """Return whether the worker is ready for another job.

        It is if it has fewer than `depth` jobs, none of which must run alone.
        """
        if not self.ready or len(self.given) >= depth:
            return False
        return not any(given.item is not None and given.job.alone for given in self.given)

    def begin(self) -> None:
        """Record that the worker is ready for jobs."""
        self.ready = True
        self._set_deadline()

    def give(self, item: Any, job: Job) -> None:
        """Send the worker a job, to be run after those that it already has."""
        self.given.append(_Given(item, job))
        if len(self.given) == 1:
            self._set_deadline()
        self._send(pickle.dumps(job))

    def finish(self) -> Any:
        """Record that the worker's first job is done; return the job's item.

        The item is None if the result is to be discarded.
        """
        item = self.given.popleft().item
        self._set_deadline()
        return item

    def forget_items(self) -> None:
        """Mark the worker's current jobs, so that their results are discarded when they arrive."""
        for given in self.given:
            given.item = None

    def is_overdue(self) -> bool:
        """Return whether the worker's deadline has passed."""
        now = time.monotonic()
        if self.process.poll() is not None:
            # Wait briefly for its last message; a fork of it may keep the pipe open.
            self.deadline = min(self.deadline, now + 1.0)
        return now > self.deadline

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        if self.lifeline is not None:
            os.close(self.lifeline)
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def exit_status(self) -> str:
        """Return in a clause how the worker ended, once it sends no more messages."""
        self.printing.join(1)
        return describe_end(self.process, bytes(self.printed))

    def _set_deadline(self) -> None:
        self.deadline = time.monotonic() + self.given[0].job.seconds if self.given else inf

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # if it is dead, its reader thread reports it
            self.process.stdin.write(message)
            self.process.stdin.flush()


_Message = tuple[_Worker, Any]
"""A worker and its message; None after its last one."""


def _first_message(core: int | None, begin: Job) -> bytes:
    """Return the message with which a worker starts: paths, its core, and its first job.

    The worker imports the script that runs here only if it needs its classes, because a script may
    not be written to be imported.
    """
    orders = pickle.dumps((core, begin))
    where = get_preparation_data("knightfall-worker")
    wanted = ["sys_path", "sys_argv", "dir"]
    if b"__main__" in orders:
        wanted += ["orig_dir", "init_main_from_name", "init_main_from_path"]
    return pickle.dumps({key: where[key] for key in wanted if key in where}) + orders


def _read_messages(worker: _Worker, inbox: queue.SimpleQueue[_Message]) -> None:
    assert worker.process.stdout is not None
    with worker.process.stdout as stream:
        try:
            while True:
                inbox.put((worker, pickle.load(stream)))
        except Exception:  # end of the stream, or an incomplete message
            inbox.put((worker, None))
