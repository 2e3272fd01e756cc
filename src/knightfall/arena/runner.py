"""The runners that play the pairs of a run, and how one is chosen for a plan.

This process plays, workers of this machine, a Dask cluster or an executor.  Runners are
interchangeable: the same tasks give the same records, whichever plays them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Protocol, Self
from uuid import uuid4

from knightfall.agents import Agent, cached_agent
from knightfall.agents.remote_player import PATIENCE
from knightfall.arena.chunk_queue import (
    MOST_PAIRS,
    Chunk,
    ChunkQueue,
    PlayingThread,
    check_agents,
    forget_agents,
    make_ready,
)
from knightfall.arena.plan import PairRecord, PairTask, Plan
from knightfall.arena.run_options import Notice
from knightfall.arena.version import engine
from knightfall.isolation.parallel_map import MOST_WORKERS, Closing, Job, RunnerOptions
from knightfall.machine import cores, load
from knightfall.position import Position

ELSEWHERE_SECONDS = 0.5
"""Length of a chunk for an executor; a cluster takes some milliseconds to hand one over."""

TRIAL = 1.0
"""Seconds of play after which it can be told how long the rest will take."""

WORTH_STARTING = 4.0
"""Seconds that must be left, or the workers would be ready when all is over."""

BUSY = 0.3
"""A machine whose load is above this share of its cores has other things to do."""

SHORT = 20.0
"""Seconds: games by the clock that take no longer are played here, one after the other."""


class Runner(Protocol):
    """Plays pairs; also a context manager.  One `play` must end before the next."""

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """Yield the record of every task, in any order.

        Tasks are taken when they are needed, and a little ahead.  Closing the generator ends all
        that is under way.
        """

    def close(self) -> None:
        """Shut down all workers."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...


class InProcess(Closing):
    """Plays in this process, in a thread of its own: compiled code does not notice Ctrl-C."""

    def __init__(self, agents: Sequence[str] = (), patience: float = PATIENCE) -> None:
        forget_agents()
        check_agents(agents)
        self._patience = patience
        self._idle: PlayingThread | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
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
                chunk = self._give(player, chunks)  # before the caller sees to the records
                yield from records
        except BaseException:
            player.stop()
            raise
        self._idle = player

    def _give(self, player: PlayingThread, chunks: ChunkQueue) -> Chunk | None:
        chunk = chunks.take()
        if chunk is not None:
            player.give(chunk.tasks, chunk.careful, self._patience)
        return chunk

    def close(self) -> None:
        """See `Runner`."""
        self._idle = None


class Pool(Closing):
    """Plays in some worker processes of this machine.

    Agents are compiled here first, so that the workers find the machine code ready.  With `pin`,
    each worker has a core to itself and gets one pair at a time: for games by the clock.
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
        """See `Runner`."""
        return self.pool.do(ChunkQueue(tasks, self._patience, most=self._most))

    def close(self) -> None:
        """See `Runner`."""
        self.pool.close()


class Elsewhere(Closing):
    """Plays on the Dask cluster with an address, or in an executor, which stays open."""

    def __init__(
        self, where: str | Executor, agents: Sequence[str] = (), patience: float = PATIENCE
    ) -> None:
        from knightfall.isolation.dask_cluster import DaskCluster
        from knightfall.isolation.executor_pool import ExecutorPool

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
        """See `Runner`."""
        here = (engine(), self._run)
        return self.pool.do(ChunkQueue(tasks, self._patience, ELSEWHERE_SECONDS, elsewhere=here))

    def close(self) -> None:
        """See `Runner`."""
        self.pool.close()


class Adaptive(Closing):
    """Plays in this process at first, then in a pool if what is left of the pairs takes long.

    A worker takes two seconds until it is ready: more than most runs take altogether.
    """

    def __init__(
        self, workers: int, pairs: int, agents: Sequence[str] = (), patience: float = PATIENCE
    ) -> None:
        self._workers, self._agents, self._patience = workers, agents, patience
        self._left = pairs
        self._here = InProcess(agents, patience)
        self._pool: Pool | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        if self._pool is None:
            yield from self._begin_here(tasks)
        if self._pool is not None:
            yield from self._pool.play(tasks)

    def _begin_here(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """Play in this process until the pool is ready, if there is to be one."""
        handing_over = False

        def here() -> Iterator[PairTask]:
            # What was taken here is played here: the rest is the pool's.
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
                        self._pool = Pool(self._workers, self._agents, patience=self._patience)
                        self._pool.pool.start()
                elif not handing_over and self._pool.pool.ready:
                    handing_over = True
                yield record

    def close(self) -> None:
        """See `Runner`."""
        self._here.close()
        if self._pool is not None:
            self._pool.close()


# -- which one plays ---------------------------------------------------------------------------


def choose_runner(options: RunnerOptions, plan: Plan, notice: Notice) -> Runner:
    """Return a runner for a plan, ready to begin."""
    texts = [entrant.agent for entrant in plan.entrants]
    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return Elsewhere(where, texts)
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
    """Return a runner for agents of any plan: without options, this process."""
    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return Elsewhere(where, agents)
    workers = options.workers or 0
    return Pool(workers, agents) if workers > 1 else InProcess(agents)


def _seconds(plan: Plan) -> float:
    """Estimate what games by the clock take: each side visits about a third of a board's cells."""
    cells = Position.from_fen(plan.starts[0]).board.cells
    limits = [cached_agent(entrant.agent).budget.seconds or 0.0 for entrant in plan.entrants]
    return sum(
        2 * plan.rounds * (limits[match.a] + limits[match.b]) * cells / 3 for match in plan.matches
    )


def _warn_of_load(timed: Agent, notice: Notice) -> None:
    """Warn if the machine has other things to do than to play games by the clock."""
    busy = load()
    if busy is not None and busy > BUSY * cores():
        number = f"{cores()} {'core' if cores() == 1 else 'cores'}"
        notice(
            f"warning: {timed.name} plays by the clock, and this machine is busy (load {busy:.1f} "
            f"on {number}): results will depend on what else it does"
        )
