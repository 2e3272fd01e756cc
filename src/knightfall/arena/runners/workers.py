"""Processes that work for this one: nobody waits for anybody, and whoever dies is replaced."""

from __future__ import annotations

import os
import pickle
import queue
import re
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from multiprocessing.spawn import get_preparation_data
from typing import IO, Any, Generic, Protocol, TypeVar

from knightfall.arena.game.agent_process import STARTING
from knightfall.arena.runners.obituary import LAST_WORDS, obituary
from knightfall.arena.runners.runner import HEARING, Closing, RunnerFailure
from knightfall.arena.runners.worker import COMMAND, READY, Done, Job, Warned, is_starting
from knightfall.errors import KnightfallError
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
        self._crew: list[_Worker[Any]] = []
        self._inbox: queue.SimpleQueue[_Letter] = queue.SimpleQueue()
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
                results = self._listen(work)
                self._supply(work)  # before anybody sees to the results
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
                self._crew.append(_Worker.start(core, self._begin, self._inbox))

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

    def _listen(self, work: Work[Item, Result]) -> list[Result]:
        """Wait until something happens, and see to it."""
        results: list[Result] = []
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
        return results

    def _letters(self) -> Iterator[_Letter]:
        """What has arrived, after some waiting for the first."""
        left = min(worker.deadline for worker in self._crew) - time.monotonic()
        with suppress(queue.Empty):
            yield self._inbox.get(timeout=max(0.0, min(left, HEARING)))
            while True:
                yield self._inbox.get_nowait()

    def _bury(self, worker: _Worker[Item], work: Work[Item, Result], stalled: bool = False) -> None:
        """A worker is dead, or as good as."""
        told = "did not come to an end" if stalled else worker.obituary()
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


# -- a process, seen from here ---------------------------------------------------------------


@dataclass
class _Given(Generic[Item]):
    """An item in a worker's hands (None: nobody waits for it any more), and what it may take."""

    item: Item | None
    job: Job


@dataclass(eq=False)
class _Worker(Generic[Item]):
    """A process with the pipes that lead to it."""

    process: subprocess.Popen[bytes]
    lifeline: int | None
    core: int | None
    deadline: float
    printing: threading.Thread
    last_words: bytearray
    ready: bool = False
    given: deque[_Given[Item]] = field(default_factory=deque)

    @staticmethod
    def start(core: int | None, begin: Job, inbox: queue.SimpleQueue[_Letter]) -> _Worker[Item]:
        first = _first_words(core, begin)
        theirs, ours = os.pipe() if sys.platform != "win32" else (0, None)
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", COMMAND, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs] if theirs else [],
            )
        except OSError as error:
            if ours is not None:
                os.close(ours)
            raise RunnerFailure(f"a worker process cannot be started: {error}") from None
        finally:
            if theirs:
                os.close(theirs)
        last_words = bytearray()
        printing = _thread(_remember, process.stderr, last_words)
        deadline = time.monotonic() + STARTING
        worker: _Worker[Item] = _Worker(process, ours, core, deadline, printing, last_words)
        _thread(_read, worker, inbox)
        worker._send(first)
        return worker

    @property
    def is_awaited(self) -> bool:
        return any(given.item is not None for given in self.given)

    def wants_more(self, depth: int) -> bool:
        """Whether it has less than that; nothing waits behind what is done alone."""
        if not self.ready or len(self.given) >= depth:
            return False
        return not any(given.item is not None and given.job.alone for given in self.given)

    def is_ready(self) -> None:
        self.ready = True
        self._begin()

    def give(self, item: Item, job: Job) -> None:
        self.given.append(_Given(item, job))
        if len(self.given) == 1:
            self._begin()
        self._send(pickle.dumps(job))

    def finished(self) -> Item | None:
        item = self.given.popleft().item
        self._begin()
        return item

    def nobody_waits(self) -> None:
        for given in self.given:
            given.item = None

    def is_overdue(self) -> bool:
        """Whether its time is up."""
        now = time.monotonic()
        if self.process.poll() is not None:
            # Its last message is on its way, unless a copy that it made of itself keeps the pipe.
            self.deadline = min(self.deadline, now + 1.0)
        return now > self.deadline

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.lifeline is not None:
            os.close(self.lifeline)
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def obituary(self) -> str:
        """What became of one that will say no more."""
        try:
            status = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed the connection"
        self.printing.join(1)
        return obituary(status, bytes(self.last_words))

    def _begin(self) -> None:
        """What it has in hand now, it has begun."""
        self.deadline = time.monotonic() + self.given[0].job.seconds if self.given else inf

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # if it is dead, we shall hear of that in a moment
            self.process.stdin.write(message)
            self.process.stdin.flush()


_Letter = tuple[_Worker[Any], Any]
"""Who says something, and what; None if it will say no more."""


def _first_words(core: int | None, begin: Job) -> bytes:
    """What a worker has to know to begin.

    It imports the script that runs here only if it has to know its classes: a script need not
    expect that.
    """
    orders = pickle.dumps((core, begin))
    where = get_preparation_data("knightfall-worker")
    wanted = ["sys_path", "sys_argv", "dir"]
    if b"__main__" in orders:
        wanted += ["orig_dir", "init_main_from_name", "init_main_from_path"]
    return pickle.dumps({key: where[key] for key in wanted if key in where}) + orders


def _thread(target: Callable[..., None], *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name="knightfall-pool", daemon=True)
    thread.start()
    return thread


def _read(worker: _Worker[Any], inbox: queue.SimpleQueue[_Letter]) -> None:
    """Pass on what a worker says, until it will say no more."""
    assert worker.process.stdout is not None
    with worker.process.stdout as stream:
        try:
            while True:
                inbox.put((worker, pickle.load(stream)))
        except Exception:  # the end, or half a message
            inbox.put((worker, None))


def _remember(stream: IO[bytes], last_words: bytearray) -> None:
    """Keep the end of what a worker prints."""
    with stream:
        while printed := os.read(stream.fileno(), 4096):
            last_words += printed
            del last_words[:-LAST_WORDS]
