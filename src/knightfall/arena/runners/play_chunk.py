"""Playing some pairs where they were sent: agents are made ready once, then games are played.

A user's agent is asked in a process of its own; everything else is played in a thread beside the
main one, so that a search that never returns can be left behind.
"""

from __future__ import annotations

import math
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from knightfall.agents import Agent, known_agent
from knightfall.agents.remote_player import PATIENCE, RemotePlayer
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import MoveSource, play_pair, searcher, stopper
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import POLLING


def play_chunk(
    tasks: Sequence[PairTask], careful: bool = False, patience: float = PATIENCE
) -> list[PairRecord]:
    """Play some pairs in this process, except that users' agents get one of their own.

    With `careful`, every agent does, and no user's code may take longer than `patience` for a
    move.
    """
    if not careful:
        make_ready(text for task in tasks for text in (task.a, task.b))
    return [_play(task, careful, patience) for task in tasks]


def _play(task: PairTask, careful: bool, patience: float) -> PairRecord:
    def asked(agent: Agent) -> MoveSource:
        return RemotePlayer(agent, patience) if careful or is_python(agent) else agent

    if not careful and not any(is_python(known_agent(text)) for text in (task.a, task.b)):
        return play_pair(task)
    return play_pair(task, asked)


# -- getting agents ready --------------------------------------------------------------------


def is_python(agent: Agent) -> bool:
    """Return whether asking an agent runs a user's Python, which may do anything to its process."""
    return agent.in_python or agent.heuristic in _not_compiled


def make_ready(texts: Iterable[str]) -> None:
    """Compile what agents need, once a run and by one thread at a time."""
    for text in texts:
        if text not in _ready:
            with _preparing:
                agent = replace(known_agent(text))  # its evaluator is for this run only
                if not agent.in_python:
                    agent.prepare()
                    searcher(text)  # keeps the evaluator for good
                    if agent.may_hang and not agent.only_here and not agent.evaluator.compiled:
                        _not_compiled.add(agent.heuristic)
                _ready.add(text)


def check_agents(texts: Iterable[str]) -> None:
    """Make agents ready; raise a `KnightfallError` if one of them cannot play at all.

    Users' agents are tried in a process of their own: a file may do anything when it is read.
    Submissions of the course are only read; one that cannot be loaded loses its games.
    """
    for text in dict.fromkeys(texts):
        make_ready([text])
        if text not in _tried:
            known_agent(text).check()
            _tried.add(text)


def forget_agents() -> None:
    """Have users' files read anew: another run begins, and they may have been edited."""
    with _preparing:
        _ready.clear()
        _tried.clear()
        _not_compiled.clear()
        searcher.cache_clear()


_ready: set[str] = set()
_tried: set[str] = set()
_not_compiled: set[str] = set()
"""Heuristics that have to be interpreted."""
_preparing = threading.Lock()


# -- in a thread beside the main one ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """A chunk's records, and how long they took."""

    records: list[PairRecord]
    seconds: float


class PlayingThread:
    """A thread that plays one chunk after the other, and can be left behind.

    Compiled code does not notice Ctrl-C, and a user's heuristic may never return.
    """

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[_Chunk | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Played | BaseException] = queue.SimpleQueue()
        self._stoppers: list[Callable[[], None]] = []
        # The thread must not refer to this object, or it would keep it alive for ever.
        work = (self._given, self._done, self._stoppers)
        threading.Thread(target=_run, args=work, name="knightfall-player", daemon=True).start()
        weakref.finalize(self, self._given.put, None)

    def give(self, tasks: Sequence[PairTask], careful: bool, patience: float) -> None:
        """Begin to play a chunk."""
        self._given.put((tasks, careful, patience))

    def answer(self, seconds: float) -> Played | None:
        """Wait for a chunk that was given; return None if it takes more than so many seconds."""
        until = time.monotonic() + seconds
        while True:
            try:
                done = self._done.get(timeout=max(0.0, min(POLLING, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= until:
                    return None
                continue
            if isinstance(done, BaseException):
                raise done
            return done

    def stop(self) -> None:
        """End the game being played, unless a heuristic never returns; no more will be given."""
        self._given.put(None)
        for stop in self._stoppers:
            stop()


_Chunk = tuple[Sequence[PairTask], bool, float]


def _run(
    given: queue.SimpleQueue[_Chunk | None],
    done: queue.SimpleQueue[Played | BaseException],
    stoppers: list[Callable[[], None]],
) -> None:
    stoppers.append(stopper())
    while (chunk := given.get()) is not None:
        try:
            start = time.perf_counter()
            records = play_chunk(*chunk)
            done.put(Played(records, time.perf_counter() - start))
        except BaseException as error:
            done.put(error)


# -- in a worker or an executor ----------------------------------------------------------------


def play_in_worker(
    tasks: Sequence[PairTask], careful: bool, patience: float, seconds: float = math.inf
) -> Played | None:
    """Play a chunk beside this thread; return None if it takes more than so many seconds."""
    if not hasattr(_here, "player"):
        _here.player = PlayingThread()
    _here.player.give(tasks, careful, patience)
    played: Played | None = _here.player.answer(seconds)
    if played is None:
        _here.player.stop()
        del _here.player
    return played


def play_elsewhere(
    tasks: Sequence[PairTask],
    careful: bool,
    patience: float,
    seconds: float,
    version: str,
    run: str,
) -> Played | None:
    """Play a chunk in a process that may be on another machine, as `play_in_worker` does.

    Raise a `KnightfallError` if this machine cannot: another version, a file that is not here.
    """
    from knightfall.arena.version import engine
    from knightfall.isolation.dask_cluster import dask_worker

    where = dask_worker()
    if engine() != version:
        raise KnightfallError(f"{where or 'the executor'} has another version of knightfall")
    with _beginning:
        if _runs[-1:] != [run]:  # this process may have played others
            _runs[:] = [run]
            forget_agents()
    try:
        check_agents(text for task in tasks for text in (task.a, task.b))
    except KnightfallError as error:
        if not where:
            raise
        raise KnightfallError(f"on {where}: {error}") from None
    return play_in_worker(tasks, careful, patience, seconds)


_here = threading.local()
_runs: list[str] = []
_beginning = threading.Lock()
