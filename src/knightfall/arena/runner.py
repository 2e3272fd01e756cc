"""The runners that play the pairs of a run, and the choice of one for a plan.

The pairs are played in this process, by worker processes of this machine, on a Dask cluster or in
an executor.  Runners are interchangeable: the same tasks give the same records.

Pairs are handed out in chunks, which are large enough that handing them over costs little and small
enough that little is lost with a worker.  A chunk whose worker died is played again pair by pair.
A pair that loses a second worker, or whose worker stalled, is played carefully: each agent gets a
process of its own, so that only the agent at fault loses its game.  From then on all games of that
agent are played carefully.
"""

from __future__ import annotations

import math
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from uuid import uuid4

from knightfall.agents import Agent, cached_agent
from knightfall.agents.remote_player import PATIENCE
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import PairRecord, PairTask, Plan
from knightfall.arena.play import (
    check_agents,
    forget_agents,
    is_python,
    make_ready,
    play_chunk,
    stopper,
)
from knightfall.arena.run_options import Notice
from knightfall.arena.snapshot import Snapshot
from knightfall.display.numbers import count
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import MOST_WORKERS, POLLING, Closing, Job, RunnerOptions
from knightfall.position import Position
from knightfall.processor_cores import cores, load
from knightfall.user_files import original_paths

CHUNK_SECONDS, REMOTE_CHUNK_SECONDS = 0.2, 0.5
"""Intended seconds of a chunk; longer on a cluster, where handing one over takes milliseconds."""

MOST_PAIRS = 500
"""Most pairs in a chunk."""

FASTEST_GROWTH = 8
"""Largest ratio of the sizes of a chunk and of the chunk before it."""

STALL_FACTOR = 20
"""A worker has stalled after this multiple of the slowest time seen, but not before `PATIENCE`."""

CAREFUL_AFTER, HOPELESS_AFTER = 2, 6
"""Workers that a pair may lose before it is played carefully, and before the run ends."""

TRIAL = 1.0
"""Seconds of play in this process before the time for the remaining pairs is estimated."""

WORTH_STARTING = 4.0
"""Seconds of play that must remain to start a pool; its workers take two seconds to be ready."""

BUSY = 0.3
"""Load per core above which a warning says that games by the clock will be disturbed."""

SHORT = 20.0
"""Seconds: games by the clock that take less in all are played in this process, one by one."""


class Runner(Closing):
    """Base class of objects that play pairs, in this process or in others.

    A call of `play` must end before the next one begins.
    """

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """Yield the record of every task, in any order.

        Tasks are taken from the iterator when they are needed, and a little ahead.  Closing the
        generator ends the games being played.
        """
        raise NotImplementedError


class InProcess(Runner):
    """A runner that plays in this process.

    It plays in a second thread, because compiled code does not notice Ctrl-C.
    """

    def __init__(self, agents: Sequence[str] = (), patience: float = PATIENCE) -> None:
        forget_agents()
        check_agents(agents)
        self._patience = patience
        self._idle: PlayingThread | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        chunks = ChunkQueue(tasks, self._patience)
        player, self._idle = self._idle or PlayingThread(), None
        try:
            chunk = self._give(player, chunks)
            while chunk is not None:
                played = player.answer(chunks.deadline(chunk))
                if played is None:
                    player.stop()
                    player = PlayingThread()
                records = chunks.done(chunk, played)
                chunk = self._give(player, chunks)  # it plays while the caller stores the records
                yield from records
        except BaseException:
            player.stop()
            raise
        self._idle = player

    def _give(self, player: PlayingThread, chunks: ChunkQueue) -> Chunk | None:
        """Give a thread the next chunk to play, and return the chunk; None if no pairs are left."""
        chunk = chunks.take()
        if chunk is not None:
            player.give(chunk.tasks, chunk.careful, self._patience)
        return chunk

    def close(self) -> None:
        self._idle = None


class Pool(Runner):
    """A runner with worker processes on this machine.

    Agents are compiled in this process first, so that the workers find the machine code cached.
    With `pin` (for games by the clock) each worker has a core to itself and gets a pair at a time.
    """

    def __init__(
        self,
        workers: int,
        agents: Sequence[str] = (),
        pin: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        from knightfall.isolation.worker_pool import WorkerPool

        agents = tuple(dict.fromkeys(agents))
        self.pool = WorkerPool(workers, Job(make_ready, (agents,)), pin=pin)
        forget_agents()
        check_agents(agents)
        self._patience = patience
        self._most = 1 if pin else MOST_PAIRS

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        return self.pool.do(ChunkQueue(tasks, self._patience, most=self._most))

    def close(self) -> None:
        self.pool.close()


class RemoteRunner(Runner):
    """A runner on a Dask cluster (given its address) or in an executor.

    Closing the runner does not shut down the executor.
    """

    def __init__(
        self, where: str | Executor, agents: Sequence[str] = (), patience: float = PATIENCE
    ) -> None:
        from knightfall.isolation.executor_pool import DaskCluster, ExecutorPool

        self.pool = DaskCluster(where) if isinstance(where, str) else ExecutorPool(where)
        self._patience = patience
        self._run = uuid4().hex
        try:
            forget_agents()
            check_agents(agents)
        except BaseException:
            self.close()
            raise

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        chunks = ChunkQueue(
            tasks, self._patience, REMOTE_CHUNK_SECONDS, engine_and_run=(engine(), self._run)
        )
        return self.pool.do(chunks)

    def close(self) -> None:
        self.pool.close()


class Adaptive(Runner):
    """A runner that starts in this process, and moves to a pool if the remaining pairs take long.

    A worker needs two seconds to be ready, which is more than most runs take altogether.
    """

    def __init__(self, workers: int, pairs: int, agents: Sequence[str] = ()) -> None:
        self._workers, self._agents = workers, agents
        self._left = pairs
        self._here = InProcess(agents)
        self._pool: Pool | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        if self._pool is None:
            yield from self._begin_here(tasks)
        if self._pool is not None:
            yield from self._pool.play(tasks)

    def _begin_here(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """Play in this process until all pairs are played, or until a pool is started and ready.

        Start the pool once it is clear that the remaining pairs take long.
        """
        handing_over = False

        def here() -> Iterator[PairTask]:
            # Tasks taken by this process are played here; the pool gets the others.
            for task in tasks:
                yield task
                if handing_over:
                    return

        start, played = time.monotonic(), 0
        with closing(self._here.play(here())) as records:
            for record in records:
                played += 1
                self._left -= 1
                if self._pool is None:
                    seconds = time.monotonic() - start
                    long = self._left * seconds / played > WORTH_STARTING
                    if seconds > TRIAL and long:
                        self._pool = Pool(self._workers, self._agents)
                        self._pool.pool.start()
                elif not handing_over and self._pool.pool.ready:
                    handing_over = True
                yield record

    def close(self) -> None:
        self._here.close()
        if self._pool is not None:
            self._pool.close()


# -- the choice of a runner --------------------------------------------------------------------


def choose_runner(options: RunnerOptions, plan: Plan, notice: Notice) -> Runner:
    """Return the runner that the options name, or one that suits the plan's length and agents.

    Raise a `KnightfallError` if an agent cannot play or the cluster does not answer.
    """
    texts = [entrant.agent for entrant in plan.entrants]
    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return RemoteRunner(where, texts)
    agents = [cached_agent(text) for text in texts]
    timed = [agent for agent in agents if agent.timed]
    if timed:
        _warn_of_load(timed[0], notice)
    automatic = options.workers is None
    wanted = min(cores(), MOST_WORKERS, plan.total) if options.workers is None else options.workers
    alone = wanted == 0 or any(agent.is_process_local for agent in agents)
    if alone or (automatic and (wanted == 1 or (timed and _seconds(plan) < SHORT))):
        return InProcess(texts)
    if automatic and not timed:
        return Adaptive(wanted, plan.total, texts)
    return Pool(min(wanted, max(plan.total, 1)), texts, pin=bool(timed))


def runner_for(options: RunnerOptions, agents: Sequence[str]) -> Runner:
    """Return a runner for some agents; without options it plays in this process."""
    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return RemoteRunner(where, agents)
    workers = options.workers or 0
    return Pool(workers, agents) if workers > 1 else InProcess(agents)


def _seconds(plan: Plan) -> float:
    """Estimate the seconds that the games of a plan take, from the agents' time limits.

    Each side is assumed to make one move for every three cells of the board.
    """
    cells = Position.from_fen(plan.starts[0]).board.cells
    limits = [cached_agent(entrant.agent).budget.seconds or 0.0 for entrant in plan.entrants]
    return sum(
        2 * plan.rounds * (limits[match.a] + limits[match.b]) * cells / 3 for match in plan.matches
    )


def _warn_of_load(timed: Agent, notice: Notice) -> None:
    """Print a warning if agents with a time limit would be disturbed by other processes."""
    busy = load()
    if busy is not None and busy > BUSY * cores():
        notice(
            f"warning: {timed.name} plays by the clock, and this machine is busy (load {busy:.1f} "
            f"on {count(cores(), 'core')}): results will depend on what else it does"
        )


class SnapshotRunner(Runner):
    """A runner that plays from a snapshot; its records name the original agents and files."""

    def __init__(self, runner: Runner, taken: Snapshot) -> None:
        self._runner, self._taken = runner, taken

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        waiting: dict[int, PairTask] = {}

        def moved() -> Iterator[PairTask]:
            for task in tasks:
                waiting[task.number] = task
                yield self._taken.task(task)

        with closing(self._runner.play(moved())) as records:
            for record in records:
                one, two = (
                    replace(game, detail=original_paths(game.detail)) if game.detail else game
                    for game in record.games
                )
                yield PairRecord(waiting.pop(record.task.number), (one, two))


# -- chunks of pairs ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pairs that one worker plays; `strikes` counts the workers that died or stalled with them."""

    tasks: tuple[PairTask, ...]
    strikes: int = 0

    @property
    def careful(self) -> bool:
        """Whether each agent must play in its own process, because workers died or stalled."""
        return self.strikes >= CAREFUL_AFTER


class ChunkQueue:
    """The pairs still to be played, as `Work` for a pool; pairs whose worker died come first.

    Every chunk that was taken must be reported as `done`, `lost` or not begun (`put_back`).  Chunks
    are meant to take `seconds` and have at most `most` pairs.  `engine_and_run`, the engine's
    version and an id of the run, is given for processes that may be on other machines.
    """

    def __init__(
        self,
        tasks: Iterator[PairTask],
        patience: float = PATIENCE,
        seconds: float = CHUNK_SECONDS,
        most: int = MOST_PAIRS,
        engine_and_run: tuple[str, str] | None = None,
    ) -> None:
        self._tasks = tasks
        self._patience = patience
        self._seconds = seconds
        self._most = most
        self._engine_and_run = engine_and_run
        self._again: deque[Chunk] = deque()
        self._suspects: set[str] = set()  # agents that may have killed two workers
        self._unsafe: set[str] = set()  # agents that hung or crashed in careful play
        self._size = 1
        self._pace = 0.0  # seconds per pair, averaged over the last chunks
        self._slowest: dict[str, float] = {}  # most seconds per pair, by agent that may hang

    def take(self) -> Chunk | None:
        """Return the next chunk; None if there is nothing more to play."""
        if not self._again:
            fresh = tuple(islice(self._tasks, self._size))
            if not fresh:
                return None
            self._again.append(Chunk(fresh))
        chunk = self._again.popleft()
        if chunk.careful or not (self._suspects or self._unsafe):
            return chunk
        suspicious = [task for task in chunk.tasks if self._is_suspicious(task)]
        others = tuple(task for task in chunk.tasks if not self._is_suspicious(task))
        self._again.extendleft(Chunk((task,), CAREFUL_AFTER) for task in reversed(suspicious))
        return Chunk(others, chunk.strikes) if others else self._again.popleft()

    def _is_suspicious(self, task: PairTask) -> bool:
        """Return whether a pair must be played carefully because of one of its agents."""
        return not {task.a, task.b}.isdisjoint(self._suspects | self._unsafe)

    @property
    def slow(self) -> bool:
        """Whether a chunk takes so long that the time to hand it over does not matter."""
        return self._pace * self._size > 10 * self._seconds

    def job(self, chunk: Chunk) -> Job:
        """Return the call that plays a chunk in a worker.

        A remote worker gets the deadline as an argument, because it cannot be killed from here.
        """
        args, seconds = (chunk.tasks, chunk.careful, self._patience), self.deadline(chunk)
        if self._engine_and_run is not None:
            return Job(play_remotely, (*args, seconds, *self._engine_and_run))
        return Job(play_in_worker, args, seconds, alone=chunk.careful)

    def done(self, chunk: Chunk, answer: Played | None) -> Iterable[PairRecord]:
        if answer is None:
            for text in _watched(chunk):
                if cached_agent(text).is_process_local:
                    raise KnightfallError(
                        f"{cached_agent(text).name} did not answer for {self.deadline(chunk):.0f} s"
                    )
            self.lost(chunk, stalled=True)
            return ()
        self.played(chunk, answer.records, answer.seconds)
        return answer.records

    def played(self, chunk: Chunk, records: Sequence[PairRecord], seconds: float) -> None:
        """Adjust the size of later chunks, and the set of suspected agents, to a chunk's result.

        `seconds` is the time that the chunk took.
        """
        pace = seconds / len(chunk.tasks)
        watched = _watched(chunk)
        if chunk.careful:
            self._suspects -= watched
            self._unsafe.update(_failed_agents(records))
        for text in watched - self._unsafe:
            self._slowest[text] = max(pace, self._slowest.get(text, 0.0))
        if chunk.careful:
            return
        self._pace = 0.7 * self._pace + 0.3 * pace if self._pace else pace
        fitting = int(self._seconds / max(self._pace, 1e-9))
        self._size = max(1, min(fitting, self._size * FASTEST_GROWTH, self._most))

    def lost(self, chunk: Chunk, stalled: bool = False, exit_status: str = "died") -> None:
        """Queue the pairs of a chunk again, one by one, because its worker died or stalled.

        A worker stalls in a heuristic that does not return: its pairs are played carefully at once.
        Raise a `KnightfallError` when a pair has lost `HOPELESS_AFTER` workers.
        """
        total = max(chunk.strikes + 1, CAREFUL_AFTER if stalled else 0)
        if total >= HOPELESS_AFTER:
            task = chunk.tasks[0]
            raise KnightfallError(
                f"pair {task.number} ({task.a} against {task.b}) cannot be played: {total} worker "
                "processes died while playing it, even with each agent in its own process; the "
                f"last one {exit_status}"
            )
        if total >= CAREFUL_AFTER:
            self._suspects |= _watched(chunk)
        self._again.extendleft(Chunk((task,), total) for task in reversed(chunk.tasks))

    def put_back(self, chunk: Chunk) -> None:
        """Put a chunk that was not begun back at the front of the queue."""
        self._again.appendleft(chunk)

    def deadline(self, chunk: Chunk) -> float:
        """Return the seconds after which a worker that plays a chunk counts as stalled.

        There is no limit (inf) for built-in agents, which always return, nor for careful play,
        where each move has a limit.
        """
        watched = _watched(chunk)
        if chunk.careful or not watched:
            return math.inf
        slowest = max(self._slowest.get(text, 0.0) for text in watched)
        usual = STALL_FACTOR * slowest * len(chunk.tasks)
        return max(self._patience, usual) + sum(_clock_time(task) for task in chunk.tasks)


def _watched(chunk: Chunk) -> set[str]:
    """Return the agents of a chunk whose user code runs in the worker and may never return."""
    agents = {text: cached_agent(text) for task in chunk.tasks for text in (task.a, task.b)}
    return {text for text, one in agents.items() if one.may_hang and not is_python(one)}


def _clock_time(task: PairTask) -> float:
    """Return the longest time of a pair in seconds, from the agents' time limits; 0 without any."""
    seconds = sum(cached_agent(text).budget.seconds or 0.0 for text in (task.a, task.b))
    return seconds * Position.from_fen(task.opening).board.cells if seconds else 0.0


def _failed_agents(records: Sequence[PairRecord]) -> Iterator[str]:
    """Yield the agents with users' code that hung or crashed in these games."""
    for record in records:
        for number, game in enumerate(record.games):
            if game.reason in ("timeout", "crash"):
                loser = record.task.seats(number)["b" if game.winner == "w" else "w"]
                if cached_agent(loser).may_hang:
                    yield loser


# -- in a second thread ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """The records of a chunk, and the seconds it took."""

    records: list[PairRecord]
    seconds: float


class PlayingThread:
    """A thread that plays one chunk after the other, and can be left behind if it hangs.

    The main thread waits for it, because compiled code does not notice Ctrl-C and a user's
    heuristic may never return.
    """

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[_Chunk | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Played | BaseException] = queue.SimpleQueue()
        self._stoppers: list[Callable[[], None]] = []
        # The thread gets no reference to this object, because it would keep the object alive.
        work = (self._given, self._done, self._stoppers)
        threading.Thread(target=_run, args=work, name="knightfall-player", daemon=True).start()
        weakref.finalize(self, self._given.put, None)

    def give(self, tasks: Sequence[PairTask], careful: bool, patience: float) -> None:
        """Start to play a chunk."""
        self._given.put((tasks, careful, patience))

    def answer(self, seconds: float) -> Played | None:
        """Wait for the given chunk and return its records; None after more than `seconds`."""
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
        """End the thread and its game; a heuristic that never returns goes on in the background."""
        self._given.put(None)
        for stop in self._stoppers:
            stop()


_Chunk = tuple[Sequence[PairTask], bool, float]


def _run(
    given: queue.SimpleQueue[_Chunk | None],
    done: queue.SimpleQueue[Played | BaseException],
    stoppers: list[Callable[[], None]],
) -> None:
    """Play the chunks of `given` until it yields None; put results and errors into `done`."""
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
    """Play a chunk in a second thread; return None if it takes more than `seconds`."""
    if not hasattr(_local, "player"):
        _local.player = PlayingThread()
    _local.player.give(tasks, careful, patience)
    played: Played | None = _local.player.answer(seconds)
    if played is None:
        _local.player.stop()
        del _local.player
    return played


def play_remotely(
    tasks: Sequence[PairTask],
    careful: bool,
    patience: float,
    seconds: float,
    expected_engine: str,
    run: str,
) -> Played | None:
    """Play a chunk in a process that may be on another machine, as `play_in_worker` does.

    `run` is the run's id.  Raise a `KnightfallError` if this machine has another version of
    knightfall, or lacks an agent's file.
    """
    from knightfall.isolation.executor_pool import dask_worker

    where = dask_worker()
    if engine() != expected_engine:
        raise KnightfallError(
            f"{where or 'the executor'} has another version of knightfall: {engine()}, expected "
            f"{expected_engine}"
        )
    with _beginning:
        if _runs[-1:] != [run]:  # this process played another run before, or none
            _runs[:] = [run]
            forget_agents()
    try:
        check_agents(text for task in tasks for text in (task.a, task.b))
    except KnightfallError as error:
        if not where:
            raise
        raise KnightfallError(f"on {where}: {error}") from None
    return play_in_worker(tasks, careful, patience, seconds)


_local = threading.local()
_runs: list[str] = []
_beginning = threading.Lock()
