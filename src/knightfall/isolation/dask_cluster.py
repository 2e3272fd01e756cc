"""Run work on a Dask cluster."""

from __future__ import annotations

import asyncio
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from knightfall.errors import KnightfallError
from knightfall.isolation.executor_pool import ExecutorPool
from knightfall.optional_dependencies import require

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
