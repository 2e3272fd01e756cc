"""Playing on a Dask cluster, for those who outgrow one machine."""

from __future__ import annotations

import asyncio
import math
import queue
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from knightfall.arena.game.agent_process import PATIENCE
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.runners.backlog import Backlog, Chunk, check_agents, forget_agents
from knightfall.arena.runners.runner import Closing, Helper, Played
from knightfall.arena.version import engine
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.extras import require

ANSWERING, CONNECTING = 4.0, 10.0
"""Seconds within which something must answer at the address, and the cluster have a worker."""

SOCKETS, OTHERS = ("tcp", "tls", "ws", "wss"), ("ucx", "inproc")
"""The schemes of Dask's addresses: with a host and a port, and without."""

CHUNK_SECONDS = 0.5
"""Longer than in a pool: a cluster takes some milliseconds to hand over a chunk."""

AHEAD = 3
"""Chunks for each thread of the cluster: one in hand, one waiting there, one on its way."""

COUNTING = 2.0
"""Seconds between two looks at how many threads there are."""


class Cluster(Closing):
    """Plays on the Dask cluster whose scheduler has the address, such as tcp://host:8786."""

    def __init__(
        self, address: str, agents: Sequence[str] = (), patience: float = PATIENCE
    ) -> None:
        require("a Dask cluster", "distributed")
        self._dask: Any = import_module("distributed")
        check_address(address)
        _check_scheduler(address)
        forget_agents()
        check_agents(agents)
        self._run = uuid4().hex
        self._address = address
        self._patience = patience
        self._known_threads, self._counted = 1, -math.inf
        try:
            self._client = self._dask.Client(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _no_scheduler(address, str(error) or type(error).__name__) from None
        try:
            self._client.wait_for_workers(1, timeout=CONNECTING)
        except (OSError, TimeoutError):
            self.close()
            raise KnightfallError(f"the Dask cluster at {address!r} has no workers") from None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        backlog = Backlog(tasks, self._patience, CHUNK_SECONDS)
        given: dict[Any, Chunk] = {}
        done = self._dask.as_completed(
            loop=self._client.loop, with_results=True, raise_errors=False
        )
        try:
            while self._supply(backlog, given, done):
                records = []
                for future, result in done.next_batch():
                    records += self._received(backlog, given.pop(future), future, result)
                self._supply(backlog, given, done)
                yield from records
        finally:
            self._client.cancel(list(given))

    def close(self) -> None:
        """Say goodbye to the cluster, which goes on without us."""
        self._client.close()

    def _supply(self, backlog: Backlog, given: dict[Any, Chunk], done: Any) -> bool:
        """See that the cluster has enough to do; False if there is nothing left to wait for."""
        wanted = AHEAD * self._threads()
        while len(given) < wanted:
            chunk = backlog.take()
            if chunk is None:
                break
            future = self._client.submit(
                play_remotely,
                chunk.tasks,
                chunk.careful,
                self._patience,
                backlog.deadline(chunk),
                engine(),
                self._run,
                pure=False,
            )
            given[future] = chunk
            done.add(future)
        return bool(given)

    def _threads(self) -> int:
        """How many games the cluster can play at once; workers come and go."""
        if time.monotonic() > self._counted + COUNTING:
            threads: dict[str, int] = self._client.nthreads()
            self._known_threads = max(1, sum(threads.values()))
            self._counted = time.monotonic()
        return self._known_threads

    def _received(
        self, backlog: Backlog, chunk: Chunk, future: Any, result: Any
    ) -> list[PairRecord]:
        if future.status == "finished":
            if result is None:
                backlog.lost(chunk, stalled=True)
                return []
            backlog.played(chunk, result.records, result.seconds)
            return list(result.records)
        if future.status != "error":
            raise RunnerFailure(f"the Dask cluster at {self._address!r} has gone away")
        error = future.exception()
        if not isinstance(error, self._dask.KilledWorker):  # of one dead worker Dask tells nobody
            raise error
        backlog.lost(chunk)
        return []


# -- is it there? --------------------------------------------------------------------------


def check_address(address: str) -> None:
    """Refuse an address at which nobody answers, at once: Dask itself would go on trying."""
    scheme, _, where = address.rpartition("://")
    if (scheme or "tcp") in OTHERS:
        return
    try:
        parts = urlsplit(f"//{where}")
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number
        host = port = None
    if (scheme or "tcp") not in SOCKETS or not host or not port:
        raise KnightfallError(f"{address!r} is no address of a Dask scheduler, as tcp://host:8786")
    found = _within(ANSWERING, lambda: socket.create_connection((host, port), ANSWERING).close())
    if found is not None:
        raise _no_scheduler(address, found)


def _check_scheduler(address: str) -> None:
    """Refuse what answers but is no scheduler: Dask itself would wait for ever."""
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
            raise ValueError(f"it is a {kind}")

    found = _within(2 * ANSWERING, lambda: asyncio.run(asyncio.wait_for(ask(), ANSWERING)))
    if found is not None:
        raise _no_scheduler(address, f"something else is there: {found}")


def _within(seconds: float, attempt: Callable[[], None]) -> str | None:
    """What goes wrong with an attempt, if it does not come to a good end within so many seconds.

    It has a thread to itself: looking up a name cannot be interrupted, and a notebook has an event
    loop in this one.
    """
    ended: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def try_it() -> None:
        try:
            attempt()
            ended.put(None)
        except TimeoutError:
            ended.put("no answer in time")
        except Exception as error:  # whatever Dask makes of what is not Dask
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


# -- in the processes of the cluster -------------------------------------------------------


def play_remotely(
    tasks: Sequence[PairTask],
    careful: bool,
    patience: float,
    seconds: float,
    expected: str,
    run: str,
) -> Played | None:
    """Play a chunk in a thread of the cluster; None if that takes more than so many seconds.

    A `KnightfallError` if this machine is not fit for it: another version, a file that is not here.
    """
    where = import_module("distributed").get_worker().address
    if engine() != expected:
        raise KnightfallError(f"the Dask worker {where} has another version of knightfall")
    with _beginning:
        if _runs[-1:] != [run]:  # this process may have played others
            _runs[:] = [run]
            forget_agents()
    try:
        check_agents(text for task in tasks for text in (task.a, task.b))
    except KnightfallError as error:
        raise KnightfallError(f"on the Dask worker {where}: {error}") from None
    if not hasattr(_here, "helper"):
        _here.helper = Helper()
    _here.helper.give(tasks, careful, patience)
    played: Played | None = _here.helper.answer(seconds)
    if played is None:
        _here.helper.stop()
        del _here.helper
    return played


_here = threading.local()
_runs: list[str] = []
_beginning = threading.Lock()
