"""Run work on a `concurrent.futures.Executor`, or on a Dask cluster."""

from __future__ import annotations

import asyncio
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urlsplit

from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation.parallel_map import POLLING, Closing, Work
from knightfall.optional_dependencies import require
from knightfall.processor_cores import cores

AHEAD = 3
"""Items per thread of an executor: one running, one queued there, one in transfer."""

COUNTING = 2.0
"""Seconds between two counts of the executor's threads."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class ExecutorPool(Closing):
    """Distributes work to an executor, which belongs to the caller and stays open.

    An executor that loses a process cannot be used again: a `RunnerFailure` is raised then.
    """

    name = "the executor"

    lost_by: tuple[type[BaseException], ...] = ()
    """Exceptions of a call that mean that its worker died and others go on."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known_threads, self._counted = 1, float("-inf")

    def do(self, work: Work[Item, Result]) -> Generator[Result, None, None]:
        """Compute the items of a work queue; yield each result as it becomes known.

        An exception of a call is raised here.  Closing the generator cancels what has not begun.
        """
        given: dict[Future[Any], Item] = {}
        ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        try:
            while self._supply(work, given, ended):
                results: list[Result] = []
                try:
                    for future in _batch(ended):
                        results += self._received(work, given.pop(future), future)
                    self._supply(work, given, ended)  # before the caller processes the results
                except Exception:
                    yield from results  # these are valid
                    raise
                yield from results
        finally:
            self._cancel(given)

    def _cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel the calls that have not begun."""
        for future in futures:
            future.cancel()

    def _supply(
        self,
        work: Work[Item, Result],
        given: dict[Future[Any], Item],
        ended: queue.SimpleQueue[Future[Any]],
    ) -> bool:
        """Submit items to keep the executor busy; return False if there is nothing to wait for."""
        wanted = AHEAD * self._threads()
        while len(given) < wanted:
            item = work.take()
            if item is None:
                break
            job = work.job(item)
            try:
                future = self._executor.submit(job.function, *job.args)
            except RuntimeError as error:  # it was shut down, or is broken
                raise RunnerFailure(f"{self.name} accepts no more work: {error}") from None
            given[future] = item
            future.add_done_callback(ended.put)
        return bool(given)

    def _threads(self) -> int:
        """Return how many calls can run at once; count again at times, as a cluster may change."""
        if time.monotonic() > self._counted + COUNTING:
            self._known_threads = max(1, self._count_threads())
            self._counted = time.monotonic()
        return self._known_threads

    def _count_threads(self) -> int:
        return getattr(self._executor, "_max_workers", None) or cores()

    def _received(self, work: Work[Item, Result], item: Item, future: Future[Any]) -> list[Result]:
        try:
            answer = future.result()
        except self.lost_by as error:
            work.lost(item, False, f"was killed: {error}")
            return []
        except (BrokenExecutor, CancelledError) as error:
            why = f" ({error})" if str(error) else ""
            raise RunnerFailure(f"{self.name} has shut down{why}") from None
        return [*work.done(item, answer)]


def _batch(ended: queue.SimpleQueue[Future[Any]]) -> list[Future[Any]]:
    """Wait until at least one call has ended; return all that have ended since the last time."""
    batch: list[Future[Any]] = []
    while not batch:
        with suppress(queue.Empty):
            batch.append(ended.get(timeout=POLLING))
            while True:
                batch.append(ended.get_nowait())
    return batch


# -- Dask ---------------------------------------------------------------------------------------

ANSWERING, CONNECTING = 4.0, 10.0
"""Seconds within which the address must answer, and the cluster must have a worker."""

SOCKETS, OTHERS = ("tcp", "tls", "ws", "wss"), ("ucx", "inproc")
"""The schemes of Dask's addresses: with a host and a port, and without."""


class DaskCluster(ExecutorPool):
    """A connection to the Dask cluster whose scheduler has an address such as tcp://host:8786."""

    def __init__(self, address: str) -> None:
        require("a Dask cluster", "distributed")
        dask: Any = import_module("distributed")
        check_address(address)
        _check_scheduler(address)
        try:
            self.client = dask.Client(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _no_scheduler(address, str(error) or type(error).__name__) from None
        try:
            self.client.wait_for_workers(1, timeout=CONNECTING)
        except (OSError, TimeoutError):
            self.close()
            raise KnightfallError(f"the Dask cluster at {address!r} has no workers") from None
        super().__init__(self.client.get_executor(pure=False))
        self.name = f"the Dask cluster at {address!r}"
        self.lost_by = (dask.KilledWorker,)  # raised only after several workers died in one call

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running."""
        self.client.close()

    def _cancel(self, futures: Iterable[Future[Any]]) -> None:
        # All futures at once: a result that arrives while its own future is cancelled would be
        # logged as an error.
        self._executor.shutdown(wait=False)
        self._executor = self.client.get_executor(pure=False)

    def _count_threads(self) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return sum(threads.values())


def dask_worker() -> str:
    """Return the name of the Dask worker that this thread belongs to; "" if there is none."""
    if "distributed" not in sys.modules:
        return ""
    try:
        return f"the Dask worker {import_module('distributed').get_worker().address}"
    except ValueError:
        return ""


# -- checks of an address ------------------------------------------------------------------


def check_address(address: str) -> None:
    """Raise a `KnightfallError` if nothing answers at an address; Dask itself would keep trying."""
    scheme, _, where = address.rpartition("://")
    if (scheme or "tcp") in OTHERS:
        return
    try:
        parts = urlsplit(f"//{where}")
        host, port = parts.hostname, parts.port
    except ValueError:  # the port is not a number
        host = port = None
    if (scheme or "tcp") not in SOCKETS or not host or not port:
        raise KnightfallError(
            f"{address!r} is not the address of a Dask scheduler, such as tcp://host:8786"
        )
    found = _within(ANSWERING, lambda: socket.create_connection((host, port), ANSWERING).close())
    if found is not None:
        raise _no_scheduler(address, found)


def _check_scheduler(address: str) -> None:
    """Raise a `KnightfallError` if a scheduler does not answer; Dask itself would wait for ever."""
    connect = import_module("distributed.comm").connect
    security = import_module("distributed").Security()

    async def ask() -> None:
        comm = await connect(address, ANSWERING, **security.get_connection_args("client"))
        try:
            await comm.write({"op": "identity", "reply": True})
            kind = (await comm.read())["type"]
        finally:
            comm.abort()
        if kind != "Scheduler":
            raise ValueError(f"the server is a {kind}")

    found = _within(2 * ANSWERING, lambda: asyncio.run(asyncio.wait_for(ask(), ANSWERING)))
    if found is not None:
        raise _no_scheduler(address, f"another server answers: {found}")


def _within(seconds: float, attempt: Callable[[], None]) -> str | None:
    """Run `attempt` with a time limit; return why it failed, None if it succeeded.

    It runs in a thread of its own, because a name lookup cannot be interrupted, and because this
    thread may have an event loop, as in a notebook.
    """
    ended: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def try_it() -> None:
        try:
            attempt()
            ended.put(None)
        except TimeoutError:
            ended.put("no answer in time")
        except Exception as error:  # Dask raises various errors for a server that is not Dask
            ended.put(" ".join(str(error).split()) or type(error).__name__)

    threading.Thread(target=try_it, name="knightfall-dask", daemon=True).start()
    try:
        return ended.get(timeout=seconds)
    except queue.Empty:
        return "no answer in time"


def _no_scheduler(address: str, why: str) -> KnightfallError:
    return KnightfallError(
        f"no Dask scheduler answers at {address!r} ({why}); addresses look like tcp://host:8786"
    )
