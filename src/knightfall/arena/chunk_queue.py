"""Pairs on their way to where they are played: in chunks, and once more if they were lost.

Chunks are large enough that handing them over costs nothing and small enough that little is lost.
A chunk whose worker died is played again pair by pair; a pair to which that happens once more, or
whose worker stalled, is played carefully: with each agent in a process of its own, so that the
guilty one loses its game and the others lose nothing.  From then on, all its games are played like
that.
"""

from __future__ import annotations

import math
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from knightfall.agents import Agent, cached_agent
from knightfall.agents.remote_player import PATIENCE, RemotePlayer
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import MoveSource, play_pair, searcher, stopper
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import POLLING, Job
from knightfall.position import Position

CHUNK_SECONDS = 0.2
MOST_PAIRS = 500
FASTEST_GROWTH = 8

GENEROUS = 20
"""A chunk stalls when it takes so many times as long as such ones did, but at least `PATIENCE`."""

CAREFUL_AFTER, HOPELESS_AFTER = 2, 6
"""How often a pair may lose its worker until it is played carefully, and until the run ends."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pairs that are played together; `strikes` counts the workers they were lost with."""

    tasks: tuple[PairTask, ...]
    strikes: int = 0

    @property
    def careful(self) -> bool:
        """Whether each agent gets a process of its own."""
        return self.strikes >= CAREFUL_AFTER


class ChunkQueue:
    """The pairs still to be played, as `Work`: first what was lost, then what the schedule gives.

    Every chunk that was taken must be reported as `done`, `lost` or not begun (`put_back`).  For
    processes that may be on other machines, `elsewhere` is the engine's version and the run's id.
    """

    def __init__(
        self,
        tasks: Iterator[PairTask],
        patience: float = PATIENCE,
        seconds: float = CHUNK_SECONDS,
        most: int = MOST_PAIRS,
        elsewhere: tuple[str, str] | None = None,
    ) -> None:
        self._tasks = tasks
        self._patience = patience
        self._seconds = seconds
        self._most = most
        self._elsewhere = elsewhere
        self._again: deque[Chunk] = deque()
        self._suspects: set[str] = set()  # who may have taken two workers with them,
        self._guilty: set[str] = set()  # and who surely would do so again
        self._size = 1
        self._pace = 0.0  # seconds a pair, lately
        self._slowest: dict[str, float] = {}  # seconds a pair, for those who may hang

    def take(self) -> Chunk | None:
        """Return the next chunk; None if there is nothing more to play."""
        if not self._again:
            fresh = tuple(islice(self._tasks, self._size))
            if not fresh:
                return None
            self._again.append(Chunk(fresh))
        chunk = self._again.popleft()
        if chunk.careful or not (self._suspects or self._guilty):
            return chunk
        suspicious = [task for task in chunk.tasks if self._is_suspicious(task)]
        others = tuple(task for task in chunk.tasks if not self._is_suspicious(task))
        self._again.extendleft(Chunk((task,), CAREFUL_AFTER) for task in reversed(suspicious))
        return Chunk(others, chunk.strikes) if others else self._again.popleft()

    def _is_suspicious(self, task: PairTask) -> bool:
        return not {task.a, task.b}.isdisjoint(self._suspects | self._guilty)

    @property
    def slow(self) -> bool:
        """Whether chunks take so long that the time to hand one over does not matter."""
        return self._pace * self._size > 10 * self._seconds

    def job(self, chunk: Chunk) -> Job:
        """See `Work`.  Where a worker cannot be ended, it watches the deadline itself."""
        args, seconds = (chunk.tasks, chunk.careful, self._patience), self.deadline(chunk)
        if self._elsewhere is not None:
            return Job(play_elsewhere, (*args, seconds, *self._elsewhere))
        return Job(play_in_worker, args, seconds, alone=chunk.careful)

    def done(self, chunk: Chunk, answer: Played | None) -> Iterable[PairRecord]:
        """See `Work`."""
        if answer is None:
            self.lost(chunk, stalled=True)
            return ()
        self.played(chunk, answer.records, answer.seconds)
        return answer.records

    def played(self, chunk: Chunk, records: Sequence[PairRecord], seconds: float) -> None:
        """Learn from a chunk that took so many seconds how large the next ones should be."""
        pace = seconds / len(chunk.tasks)
        watched = _watched(chunk)
        if chunk.careful:  # which finds out who it was
            self._suspects -= watched
            self._guilty.update(_guilty(records))
        for text in watched - self._guilty:
            self._slowest[text] = max(pace, self._slowest.get(text, 0.0))
        if chunk.careful:
            return
        self._pace = 0.7 * self._pace + 0.3 * pace if self._pace else pace
        fitting = int(self._seconds / max(self._pace, 1e-9))
        self._size = max(1, min(fitting, self._size * FASTEST_GROWTH, self._most))

    def lost(self, chunk: Chunk, stalled: bool = False, exit_status: str = "died") -> None:
        """Queue each pair of a chunk whose worker died once more, by itself.

        A worker that stalled waits for a heuristic that does not return: its pairs are played
        carefully at once.
        """
        total = max(chunk.strikes + 1, CAREFUL_AFTER if stalled else 0)
        if total >= HOPELESS_AFTER:
            task = chunk.tasks[0]
            raise KnightfallError(
                f"pair {task.number} ({task.a} against {task.b}) cannot be played: {total} times "
                "whoever played it died, even with each agent in a process of its own; the last "
                f"one {exit_status}"
            )
        if total >= CAREFUL_AFTER:
            self._suspects |= _watched(chunk)
        self._again.extendleft(Chunk((task,), total) for task in reversed(chunk.tasks))

    def put_back(self, chunk: Chunk) -> None:
        """Queue a chunk that was not begun as the next."""
        self._again.appendleft(chunk)

    def deadline(self, chunk: Chunk) -> float:
        """Return the seconds after which the worker that plays a chunk has stalled.

        Our own agents always come to an end; so does careful play, where each move has its limit.
        """
        watched = _watched(chunk)
        if chunk.careful or not watched:
            return math.inf
        slowest = max(self._slowest.get(text, 0.0) for text in watched)
        usual = GENEROUS * slowest * len(chunk.tasks)
        return max(self._patience, usual) + sum(_clock_time(task) for task in chunk.tasks)


def _watched(chunk: Chunk) -> set[str]:
    """Return the agents of a chunk whose code could keep a worker from ever going on."""
    agents = {text: cached_agent(text) for task in chunk.tasks for text in (task.a, task.b)}
    return {text for text, one in agents.items() if one.may_hang and not is_python(one)}


def _clock_time(task: PairTask) -> float:
    """Return what players of a pair may spend by their clocks: in two games, a move a cell each."""
    seconds = _by_the_clock(task.a) + _by_the_clock(task.b)
    return seconds * Position.from_fen(task.opening).board.cells if seconds else 0.0


def _by_the_clock(text: str) -> float:
    return cached_agent(text).budget.seconds or 0.0


def _guilty(records: Sequence[PairRecord]) -> Iterator[str]:
    """Yield the agents that hung or died in careful play, and would take a worker with them."""
    for record in records:
        for number, game in enumerate(record.games):
            if game.reason in ("timeout", "crash"):
                loser = record.task.seats(number)["b" if game.winner == "w" else "w"]
                if cached_agent(loser).may_hang:
                    yield loser


# -- playing a chunk -------------------------------------------------------------------------------


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

    if not careful and not any(is_python(cached_agent(text)) for text in (task.a, task.b)):
        return play_pair(task)
    return play_pair(task, asked)


# -- getting agents ready --------------------------------------------------------------------


def is_python(agent: Agent) -> bool:
    """Return whether asking an agent runs a user's Python, which may do anything to its process."""
    return agent.in_python or agent.heuristic in _not_compiled


def make_ready(texts: Iterable[str]) -> None:
    """Compile what agents need, by one thread at a time; with users' code, once a run."""
    for text in texts:
        if text not in _ready:
            with _preparing:
                agent = replace(cached_agent(text))  # its evaluator is for this run only
                if agent.has_users_code:
                    _with_users_code.add(text)
                if not agent.in_python:
                    agent.prepare()
                    searcher(text)  # keeps the evaluator for good
                    if (
                        agent.may_hang
                        and not agent.is_process_local
                        and not agent.evaluator.compiled
                    ):
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
            cached_agent(text).check()
            _tried.add(text)


def forget_agents() -> None:
    """Have users' files read anew: another run begins, and they may have been edited."""
    with _preparing:
        _ready.difference_update(_with_users_code)
        _tried.difference_update(_with_users_code)
        _with_users_code.clear()
        _not_compiled.clear()
        searcher.cache_clear()


_ready: set[str] = set()
_tried: set[str] = set()
_with_users_code: set[str] = set()
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
