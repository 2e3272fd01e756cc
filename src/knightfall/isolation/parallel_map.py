"""One map over processors: this process, a pool of workers, a Dask cluster, or any executor.

Every long command uses it, with the same result whoever computes it.  A worker that is killed
costs what it had in hand, which is computed again.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar
from uuid import uuid4

from knightfall.errors import KnightfallError
from knightfall.machine import cores

MOST_WORKERS = 256

POLLING = 0.1
"""Seconds between two looks for Ctrl-C, on systems where waiting cannot be interrupted."""

TRIES = 3
"""Number of workers that may die of one call."""

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Item = TypeVar("Item")
Result_co = TypeVar("Result_co", covariant=True)

Setup = Callable[[], Callable[[Argument], Result]]
"""Makes the function that is mapped, once in each thread that calls it; it can be pickled."""


@dataclass(frozen=True)
class RunnerOptions:
    """Who computes: some `workers` (0 or None: this process), a cluster or an executor.

    `dask` is the address of a Dask scheduler, such as ``tcp://host:8786``.  At most one of the
    three is given.
    """

    workers: int | None = None
    dask: str | None = None
    executor: Executor | None = None

    def check(self) -> None:
        """Raise a `KnightfallError` for what cannot be, before anything is begun."""
        if self.dask is not None and self.workers is not None:
            raise KnightfallError(
                f"workers={self.workers} and dask={self.dask!r}: choose one, the cluster has its "
                "own workers"
            )
        if self.executor is not None and (self.dask is not None or self.workers is not None):
            raise KnightfallError("executor= has its own workers: leave out workers= and dask=")
        if self.workers is not None and not 0 <= self.workers <= MOST_WORKERS:
            raise KnightfallError(f"workers={self.workers} must be from 0 to {MOST_WORKERS}")
        if self.dask is not None:
            from knightfall.isolation.dask_cluster import check_address

            check_address(self.dask)

    @property
    def leaves(self) -> bool:
        """Whether calls are made in other processes, which do not know what was declared here."""
        if self.executor is not None:
            from knightfall.isolation.executor_pool import stays_here

            return not stays_here(self.executor)
        return self.dask is not None or (self.workers or 0) > 1


DEFAULT = RunnerOptions()


def on_all_cores(options: RunnerOptions) -> RunnerOptions:
    """Return options with one worker per core, unless they say something else."""
    return RunnerOptions(workers=cores()) if options == DEFAULT else options


def parallel_map(
    setup: Setup[Argument, Result],
    arguments: Sequence[Argument],
    options: RunnerOptions,
    *,
    describe: Callable[[Argument], str],
) -> Generator[tuple[int, Result], None, None]:
    """Yield the results of one function for many arguments, each with its index, as they come.

    `describe` names the call with an argument in an error: "the game from …".  Closing the
    generator ends the work.
    """
    options.check()
    workers = min(options.workers or 0, len(arguments))
    if not arguments:
        return
    elsewhere = options.dask is not None or options.executor is not None
    calls = CallQueue(setup, arguments, describe, elsewhere)
    if options.dask is not None:
        from knightfall.isolation.dask_cluster import DaskCluster

        with DaskCluster(options.dask) as cluster:
            yield from cluster.do(calls)
    elif options.executor is not None:
        from knightfall.isolation.executor_pool import ExecutorPool

        yield from ExecutorPool(options.executor).do(calls)
    elif workers > 1:
        from knightfall.isolation.worker_pool import WorkerPool

        with WorkerPool(workers, Job(_function, (calls.id, setup))) as pool:
            yield from pool.do(calls)
    else:
        yield from enumerate(map(setup(), arguments))


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield results by their index, each as soon as all before it are there."""
    early: dict[int, Result] = {}
    turn = 0
    for place, result in results:
        early[place] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


# -- work, in items that are handed out ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """A call to be made in a worker.

    After so many `seconds` the worker has stalled.  A job that runs `alone` has no other job queued
    behind it in the same worker.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    seconds: float = math.inf
    alone: bool = False

    def run(self) -> Any:
        """Make the call and return its result."""
        return self.function(*self.args)


class Work(Protocol[Item, Result_co]):
    """A queue of items to be worked on.

    Every item that was taken comes back: `done`, `lost` with its worker, or not begun (`put_back`).
    """

    @property
    def slow(self) -> bool:
        """Whether items take so long that the time to hand one over does not matter."""

    def take(self) -> Item | None:
        """Return the next item; None if there is nothing more to do."""

    def job(self, item: Item) -> Job:
        """Return the call that a worker has to make for an item."""

    def done(self, item: Item, answer: Any) -> Iterable[Result_co]:
        """Receive what the call returned; return the results that are known by that."""

    def lost(self, item: Item, stalled: bool, exit_status: str) -> None:
        """Receive an item whose worker died as described, or `stalled` and was ended."""

    def put_back(self, item: Item) -> None:
        """Receive an item that no worker has begun."""


class Closing:
    """Base class of context managers that close themselves at the end."""

    def close(self) -> None:
        """Release everything; called by the end of a `with` block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class CallQueue(Generic[Argument, Result]):
    """The calls of one map as `Work`: items are indices, results come with theirs.

    Processes `elsewhere` may have another version of knightfall, and are asked for theirs.
    """

    slow = True  # or other processes would not be worth it

    def __init__(
        self,
        setup: Setup[Argument, Result],
        arguments: Sequence[Argument],
        describe: Callable[[Argument], str],
        elsewhere: bool = False,
    ) -> None:
        self._setup, self._arguments, self._describe = setup, arguments, describe
        self._version = package_version() if elsewhere else ""
        self._left = deque(range(len(arguments)))
        self._deaths: Counter[int] = Counter()
        self.id = uuid4().hex

    def take(self) -> int | None:
        """See `Work`."""
        return self._left.popleft() if self._left else None

    def job(self, place: int) -> Job:
        """See `Work`."""
        return Job(_call, (self._version, self.id, self._setup, self._arguments[place]))

    def done(self, place: int, answer: Any) -> Iterable[tuple[int, Result]]:
        """See `Work`."""
        return [(place, answer)]

    def lost(self, place: int, stalled: bool, exit_status: str) -> None:
        """See `Work`."""
        self._deaths[place] += 1
        if self._deaths[place] >= TRIES:
            raise KnightfallError(
                f"{self._describe(self._arguments[place])}: {TRIES} times the process that was at "
                f"it died; the last one {exit_status}"
            )
        self._left.appendleft(place)

    def put_back(self, place: int) -> None:
        """See `Work`."""
        self._left.appendleft(place)


# -- where the calls are made -----------------------------------------------------------------


def _call(version: str, id: str, setup: Setup[Argument, Result], argument: Argument) -> Result:
    from knightfall.isolation.dask_cluster import dask_worker

    if version and package_version() != version:
        where = dask_worker() or "a process of the executor"
        raise KnightfallError(f"{where} has another version of knightfall")
    try:
        function = _function(id, setup)
    except KnightfallError as error:
        if not dask_worker():
            raise
        raise KnightfallError(f"on {dask_worker()}: {error}") from None
    result: Result = function(argument)
    return result


def _function(id: str, setup: Setup[Argument, Result]) -> Callable[[Argument], Result]:
    """Return this thread's function of a map."""
    if getattr(_here, "id", "") != id:
        _here.function, _here.id = setup(), id
    function: Callable[[Argument], Result] = _here.function
    return function


_here = threading.local()


@cache
def package_version() -> str:
    """Return a hash of all source files of knightfall: who computes has the same ones."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
