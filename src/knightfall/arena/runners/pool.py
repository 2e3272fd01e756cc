"""A pool of processes that play: nobody waits for anybody, and whoever dies is replaced."""

from __future__ import annotations

import multiprocessing
import re
import sys
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from multiprocessing.connection import wait
from typing import Any

from knightfall.arena.game.agent_process import PATIENCE, STARTING
from knightfall.arena.game.records import PairRecord, PairTask
from knightfall.arena.runners.backlog import MOST_PAIRS, Backlog, Chunk, check_agents, forget_agents
from knightfall.arena.runners.runner import HEARING, Closing, Played
from knightfall.arena.runners.worker import READY, Warned, work
from knightfall.errors import KnightfallError
from knightfall.kernel.interrupt import ctrl_c_later
from knightfall.machine import core_numbers

MOST_WORKERS = 30 if sys.platform == "win32" else 256
"""Windows waits for 63 things at most, and a worker is two."""

BAD_STARTS = 3
"""So many workers in a row may die before they are ready."""


class Pool(Closing):
    """Plays in some processes of this machine.

    Agents are compiled here first, so that the processes find the machine code ready.  With
    `pin`, each has a core to itself and gets one pair at a time: for games by the clock.
    """

    def __init__(
        self,
        workers: int,
        agents: Sequence[str] = (),
        pin: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        cores = core_numbers()
        if not 1 <= workers <= MOST_WORKERS:
            raise KnightfallError(f"workers={workers} must be from 1 to {MOST_WORKERS}")
        if pin and workers > len(cores):
            raise KnightfallError(
                f"workers={workers} cannot have a core each: there are {len(cores)} cores"
            )
        self._agents = tuple(dict.fromkeys(agents))
        forget_agents()
        check_agents(self._agents)
        self._cores: list[int | None] = [*cores[:workers]] if pin else [None] * workers
        self._pin = pin
        self._patience = patience
        self._crew: list[_Worker] = []
        self._bad_starts = 0
        self._told: set[str] = set()

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        backlog = Backlog(tasks, self._patience, most=1 if self._pin else MOST_PAIRS)
        for worker in self._crew:
            worker.nobody_waits()  # for what an earlier play left unfinished
        try:
            while self._supply(backlog):
                records = self._listen(backlog)
                self._supply(backlog)  # before anybody sees to the records
                yield from records
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
            worker.connection.close()  # which tells it to go
        for worker in crew:
            worker.process.join(1)
            worker.end()

    @property
    def ready(self) -> bool:
        """Whether somebody has something to say, be it that it is ready."""
        return any(worker.connection.poll() for worker in self._crew)

    def _supply(self, backlog: Backlog) -> bool:
        """See that everybody has something to do; False if there is nothing left to wait for."""
        chunk = backlog.take()
        if chunk is not None and len(self._crew) < len(self._cores):
            self.hire()
        # One to play and one to go on with, unless that would only keep it from the others.
        for depth in (1,) if backlog.slow else (1, 2):
            for worker in self._crew:
                if chunk is not None and worker.wants_more(depth):
                    worker.give(chunk, backlog.deadline(chunk))
                    chunk = backlog.take()
        if chunk is not None:
            backlog.put_back(chunk)
        return chunk is not None or any(worker.is_awaited for worker in self._crew)

    def hire(self) -> None:
        """Have the processes started that are missing; `play` does so by itself."""
        free = list(self._cores)
        for worker in self._crew:
            free.remove(worker.core)
        with ctrl_c_later():
            self._crew += [_Worker.start(core, self._agents, self._patience) for core in free]

    def _listen(self, backlog: Backlog) -> list[PairRecord]:
        """Wait until something happens, and see to it."""
        records: list[PairRecord] = []
        sources: dict[Any, _Worker] = {}
        for worker in self._crew:
            sources[worker.connection] = sources[worker.process.sentinel] = worker
        left = min(worker.deadline for worker in self._crew) - time.monotonic()
        ready = wait(list(sources), max(0.0, min(left, HEARING)))
        for worker in {id(sources[source]): sources[source] for source in ready}.values():
            ended = worker.process.exitcode is not None  # before reading what it left
            for message in worker.messages():
                if isinstance(message, Played):
                    chunk = worker.finished()
                    if chunk is not None:
                        backlog.played(chunk, message.records, message.seconds)
                        records += message.records
                elif isinstance(message, Warned):
                    self._tell(message)
                elif isinstance(message, BaseException):
                    raise message
                elif message == READY:
                    self._bad_starts = 0
                    worker.is_ready()
                else:
                    ended = True
            if ended:
                self._bury(worker, backlog)
        for worker in [*self._crew]:
            if time.monotonic() > worker.deadline:
                self._bury(worker, backlog, stalled=True)
        return records

    def _bury(self, worker: _Worker, backlog: Backlog, stalled: bool = False) -> None:
        """A worker is dead, or as good as."""
        worker.end()
        self._crew.remove(worker)
        if not worker.ready:
            self._bad_starts += 1
            if self._bad_starts >= BAD_STARTS:
                raise KnightfallError(
                    "worker processes end before they are ready (exit status "
                    f"{worker.process.exitcode}); a script that plays needs "
                    "if __name__ == '__main__': around what it does"
                )
        for place, given in reversed([*enumerate(worker.given)]):
            if given.chunk is not None and place == 0:
                backlog.lost(given.chunk, stalled)
            elif given.chunk is not None:
                backlog.put_back(given.chunk)

    def _tell(self, warned: Warned) -> None:
        """Pass on a warning; all workers have the same, but for what they measured."""
        key = re.sub(r"\d+ µs", "", warned.text)
        if key not in self._told:
            self._told.add(key)
            warnings.warn(warned.text, warned.category, stacklevel=2)


@dataclass
class _Given:
    """A chunk in a worker's hands (None: nobody waits for it any more), and what it may take."""

    chunk: Chunk | None
    seconds: float


@dataclass(eq=False)
class _Worker:
    """A process, seen from here."""

    process: Any
    connection: Any
    core: int | None
    deadline: float
    ready: bool = False
    given: deque[_Given] = field(default_factory=deque)

    @staticmethod
    def start(core: int | None, agents: tuple[str, ...], patience: float) -> _Worker:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=work, args=(there, core, agents, patience), name="knightfall-worker", daemon=True
        )
        process.start()
        there.close()  # or we would not hear of its end
        return _Worker(process, here, core, time.monotonic() + STARTING)

    @property
    def is_awaited(self) -> bool:
        return any(given.chunk is not None for given in self.given)

    def wants_more(self, depth: int) -> bool:
        """Whether it has less than that; careful play may take long, so nothing waits behind it."""
        if not self.ready or len(self.given) >= depth:
            return False
        return not any(given.chunk is not None and given.chunk.careful for given in self.given)

    def is_ready(self) -> None:
        self.ready = True
        self._begin()

    def give(self, chunk: Chunk, seconds: float) -> None:
        self.given.append(_Given(chunk, seconds))
        if len(self.given) == 1:
            self._begin()
        with suppress(OSError):  # if it is dead, we shall hear of that in a moment
            self.connection.send((chunk.tasks, chunk.careful, seconds))

    def finished(self) -> Chunk | None:
        chunk = self.given.popleft().chunk
        self._begin()
        return chunk

    def nobody_waits(self) -> None:
        for given in self.given:
            given.chunk = None

    def _begin(self) -> None:
        """What it has in hand now, it has begun."""
        self.deadline = time.monotonic() + self.given[0].seconds if self.given else inf

    def messages(self) -> Iterator[Any]:
        """What it has said; None in the end if it will say no more."""
        try:
            while self.connection.poll():
                yield self.connection.recv()
        except Exception:  # the end, or half a message
            yield None

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()
