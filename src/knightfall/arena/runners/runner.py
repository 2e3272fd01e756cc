"""Who plays the pairs of a run: this process, a pool of processes, or a cluster.

Runners are interchangeable: the same tasks give the same records, whoever plays them.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from knightfall.arena.game.agent_process import PATIENCE
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import stopper
from knightfall.arena.runners.backlog import Backlog, Chunk, check_agents, forget_agents, play_chunk

HEARING = 0.1
"""Seconds between two looks for Ctrl-C, on systems where waiting does not hear it."""


class Runner(Protocol):
    """Whoever can play pairs; also a context manager.  One `play` must end before the next."""

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """The record of every task, in any order.

        Tasks are taken when they are needed, and a little ahead.  Closing the generator ends all
        that is under way.
        """

    def close(self) -> None:
        """Let everybody go home."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...


class Closing:
    """What makes a runner a context manager."""

    def close(self) -> None:
        """Let everybody go home."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Played:
    """A chunk's records, and how long they took."""

    records: list[PairRecord]
    seconds: float


def timed_play(tasks: Sequence[PairTask], careful: bool, patience: float) -> Played:
    """Play a chunk and look at the clock."""
    start = time.perf_counter()
    records = play_chunk(tasks, careful, patience)
    return Played(records, time.perf_counter() - start)


class InProcess(Closing):
    """Plays in this process, in a thread of its own: compiled code does not hear Ctrl-C."""

    def __init__(self, agents: Sequence[str] = (), patience: float = PATIENCE) -> None:
        forget_agents()
        check_agents(agents)
        self._patience = patience
        self._idle: Helper | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        backlog = Backlog(tasks, self._patience)
        helper, self._idle = self._idle or Helper(), None
        try:
            chunk = self._give(helper, backlog)
            while chunk is not None:
                played = helper.answer(backlog.deadline(chunk))
                if played is None:
                    helper.stop()
                    helper = Helper()
                    backlog.lost(chunk, stalled=True)
                else:
                    backlog.played(chunk, played.records, played.seconds)
                chunk = self._give(helper, backlog)  # before anybody sees to the records
                if played is not None:
                    yield from played.records
        except BaseException:
            helper.stop()
            raise
        self._idle = helper

    def _give(self, helper: Helper, backlog: Backlog) -> Chunk | None:
        chunk = backlog.take()
        if chunk is not None:
            helper.give(chunk.tasks, chunk.careful, self._patience)
        return chunk

    def close(self) -> None:
        """Let the thread go."""
        self._idle = None


class Helper:
    """A thread that plays one chunk after the other while somebody waits, and may be given up."""

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Played | BaseException] = queue.SimpleQueue()
        self._stoppers: list[Callable[[], None]] = []
        # The thread must not know its helper, or it would outlive everybody's interest in it.
        work = (self._given, self._done, self._stoppers)
        threading.Thread(target=_work, args=work, name="knightfall-player", daemon=True).start()
        weakref.finalize(self, self._given.put, None)

    def give(self, tasks: Sequence[PairTask], careful: bool, patience: float) -> None:
        """Have a chunk played."""
        self._given.put((tasks, careful, patience))

    def answer(self, seconds: float) -> Played | None:
        """Wait for a chunk that was given; None if it is not done after so many seconds."""
        until = time.monotonic() + seconds
        while True:
            try:
                done = self._done.get(timeout=max(0.0, min(HEARING, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= until:
                    return None
                continue
            if isinstance(done, BaseException):
                raise done
            return done

    def stop(self) -> None:
        """End the game being played, unless a heuristic never returns; nobody wants it any more."""
        self._given.put(None)
        for stop in self._stoppers:
            stop()


_Job = tuple[Sequence[PairTask], bool, float]


def _work(
    given: queue.SimpleQueue[_Job | None],
    done: queue.SimpleQueue[Played | BaseException],
    stoppers: list[Callable[[], None]],
) -> None:
    stoppers.append(stopper())
    while (job := given.get()) is not None:
        try:
            done.put(timed_play(*job))
        except BaseException as error:
            done.put(error)
