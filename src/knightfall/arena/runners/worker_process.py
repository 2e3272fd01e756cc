"""A worker, seen from the process it works for: what it has in hand, and the pipes to it."""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from multiprocessing.spawn import get_preparation_data
from subprocess import PIPE, Popen, TimeoutExpired
from typing import IO, Any

from knightfall.arena.game.agent_process import STARTING
from knightfall.arena.runners.worker import COMMAND, Job
from knightfall.errors import RunnerFailure
from knightfall.isolation.exit_status import KEPT_OUTPUT, describe_exit


@dataclass
class _Given:
    """An item in a worker's hands (None: nobody waits for it any more), and what it may take."""

    item: Any
    job: Job


@dataclass(eq=False)
class WorkerProcess:
    """A process with the pipes that lead to it."""

    process: Popen[bytes]
    lifeline: int | None
    core: int | None
    deadline: float
    printing: threading.Thread
    last_words: bytearray
    ready: bool = False
    given: deque[_Given] = field(default_factory=deque)

    @staticmethod
    def start(core: int | None, begin: Job, inbox: queue.SimpleQueue[Letter]) -> WorkerProcess:
        """Have one begin; what it says arrives in the inbox."""
        first = _first_words(core, begin)
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
        last_words = bytearray()
        printing = _thread(_remember, process.stderr, last_words)
        deadline = time.monotonic() + STARTING
        worker = WorkerProcess(process, ours, core, deadline, printing, last_words)
        _thread(_read, worker, inbox)
        worker._send(first)
        return worker

    @property
    def is_awaited(self) -> bool:
        """Whether somebody wants what it does."""
        return any(given.item is not None for given in self.given)

    def wants_more(self, depth: int) -> bool:
        """Whether it has less than that; nothing waits behind what is done alone."""
        if not self.ready or len(self.given) >= depth:
            return False
        return not any(given.item is not None and given.job.alone for given in self.given)

    def is_ready(self) -> None:
        """It has begun, and takes jobs."""
        self.ready = True
        self._begin()

    def give(self, item: Any, job: Job) -> None:
        """Let it do a job, after those it has."""
        self.given.append(_Given(item, job))
        if len(self.given) == 1:
            self._begin()
        self._send(pickle.dumps(job))

    def finished(self) -> Any:
        """It has done the job of this item; None if nobody waits for that any more."""
        item = self.given.popleft().item
        self._begin()
        return item

    def nobody_waits(self) -> None:
        """Forget what it has in hand."""
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
        """End it, whatever it does."""
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
        except TimeoutExpired:
            return "closed the connection"
        self.printing.join(1)
        return describe_exit(status, bytes(self.last_words))

    def _begin(self) -> None:
        """What it has in hand now, it has begun."""
        self.deadline = time.monotonic() + self.given[0].job.seconds if self.given else inf

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # if it is dead, we shall hear of that in a moment
            self.process.stdin.write(message)
            self.process.stdin.flush()


Letter = tuple[WorkerProcess, Any]
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


def _read(worker: WorkerProcess, inbox: queue.SimpleQueue[Letter]) -> None:
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
            del last_words[:-KEPT_OUTPUT]
