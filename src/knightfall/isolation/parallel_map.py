"""Map a function over arguments in this process, a worker pool, a Dask cluster, or an executor.

Every long command uses it, and the results are the same in each case.  If a worker is killed, its
current call is repeated.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar
from uuid import uuid4

from knightfall.errors import KnightfallError
from knightfall.processor_cores import cores

MOST_WORKERS = 256

POLLING = 0.1
"""Seconds between two checks for Ctrl-C, on systems where waiting cannot be interrupted."""

TRIES = 3
"""Number of workers that may die in one call before it is given up."""

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Item = TypeVar("Item")
Result_co = TypeVar("Result_co", covariant=True)

Setup = Callable[[], Callable[[Argument], Result]]
"""Returns the function to map, called once in each thread; it must be picklable."""


@dataclass(frozen=True)
class RunnerOptions:
    """Where to compute: in this process, in `workers`, on a Dask cluster, or in an executor.

    `workers` is a number of processes; 0 or None is this process.  `dask` is the address of a Dask
    scheduler, such as ``tcp://host:8786``.  At most one of the three is given.
    """

    workers: int | None = None
    dask: str | None = None
    executor: Executor | None = None

    def check(self) -> None:
        """Raise a `KnightfallError` for invalid or contradictory options."""
        if self.dask is not None and self.workers is not None:
            raise KnightfallError(
                f"workers={self.workers} and dask={self.dask!r}: choose one, because the cluster "
                "has its own workers"
            )
        if self.executor is not None and (self.dask is not None or self.workers is not None):
            raise KnightfallError("executor= has its own workers: leave out workers= and dask=")
        if self.workers is not None and not 0 <= self.workers <= MOST_WORKERS:
            raise KnightfallError(f"workers={self.workers} must be from 0 to {MOST_WORKERS}")
        if self.dask is not None:
            from knightfall.isolation.executor_pool import check_address

            check_address(self.dask)

    @property
    def leaves(self) -> bool:
        """Whether calls are made in other processes, where functions declared here are missing."""
        if self.executor is not None:
            return not isinstance(self.executor, ThreadPoolExecutor)
        return self.dask is not None or (self.workers or 0) > 1


DEFAULT = RunnerOptions()


def on_all_cores(options: RunnerOptions) -> RunnerOptions:
    """Return one worker per core in place of the default options; leave other options unchanged."""
    return RunnerOptions(workers=cores()) if options == DEFAULT else options


def parallel_map(
    setup: Setup[Argument, Result],
    arguments: Sequence[Argument],
    options: RunnerOptions,
    *,
    describe: Callable[[Argument], str],
) -> Generator[tuple[int, Result], None, None]:
    """Yield the results of one function for many arguments, each with its index, as they arrive.

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
        from knightfall.isolation.executor_pool import DaskCluster

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
    """Yield results in the order of their indices, each as soon as all before it have arrived."""
    early: dict[int, Result] = {}
    turn = 0
    for place, result in results:
        early[place] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


# -- work, divided into items -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """A call to be made in a worker.

    After `seconds` the worker counts as stalled.  A job that runs `alone` has no other job queued
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
    """A queue of items to compute.

    Every item that was taken comes back: as `done`, `lost` with its worker, or unstarted
    (`put_back`).
    """

    @property
    def slow(self) -> bool:
        """Whether items take so long that the time to transfer one does not matter."""

    def take(self) -> Item | None:
        """Return the next item; None if there are no more."""

    def job(self, item: Item) -> Job:
        """Return the call that a worker makes for an item."""

    def done(self, item: Item, answer: Any) -> Iterable[Result_co]:
        """Accept the return value of an item's call; return the results that are now complete."""

    def lost(self, item: Item, stalled: bool, exit_status: str) -> None:
        """Put back an item whose worker died (`stalled`: was killed because it hung)."""

    def put_back(self, item: Item) -> None:
        """Take back an item that no worker has started."""


class Closing:
    """Base class of context managers that call `close` at the end."""

    def close(self) -> None:
        """Release all resources; called at the end of a `with` block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class CallQueue(Generic[Argument, Result]):
    """The calls of one map as `Work`: items are indices, results are pairs of index and value.

    Processes `elsewhere` may have another version of knightfall, so their version is checked.
    """

    slow = True  # faster items would not be worth another process

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
        return self._left.popleft() if self._left else None

    def job(self, place: int) -> Job:
        return Job(_call, (self._version, self.id, self._setup, self._arguments[place]))

    def done(self, place: int, answer: Any) -> Iterable[tuple[int, Result]]:
        return [(place, answer)]

    def lost(self, place: int, stalled: bool, exit_status: str) -> None:
        self._deaths[place] += 1
        if self._deaths[place] >= TRIES:
            raise KnightfallError(
                f"{self._describe(self._arguments[place])}: {TRIES} worker processes died while "
                f"computing it; the last one {exit_status}"
            )
        self._left.appendleft(place)

    def put_back(self, place: int) -> None:
        self._left.appendleft(place)


# -- in the process that makes the calls ------------------------------------------------------


def _call(version: str, id: str, setup: Setup[Argument, Result], argument: Argument) -> Result:
    from knightfall.isolation.executor_pool import dask_worker

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
    """Return this thread's copy of the function to map, creating it by `setup` on first use."""
    if getattr(_here, "id", "") != id:
        _here.function, _here.id = setup(), id
    function: Callable[[Argument], Result] = _here.function
    return function


_here = threading.local()


@cache
def package_version() -> str:
    """Return a hash of knightfall's source files, to detect workers with another version."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
