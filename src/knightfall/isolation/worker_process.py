"""The process of one worker of a pool: it receives jobs by a pipe, runs them and sends results.

It has three threads: the main one runs jobs, one reads them, one writes results.  So the next job
is always ready, a slow driver does not delay the work, and the process ends with its driver
whatever it is doing.
"""

from __future__ import annotations

import faulthandler
import gc
import math
import os
import pickle
import queue
import select
import signal
import threading
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.spawn import prepare
from typing import IO, Any

from knightfall.errors import KnightfallError
from knightfall.isolation.limits import be_expendable
from knightfall.isolation.parallel_map import Job
from knightfall.isolation.run_isolated import silence_stdio
from knightfall.isolation.supervisor import take_streams

READY = "ready"

LAST_RESORT = 10.0
"""Seconds beyond a job's deadline after which the process exits even without its driver."""


@dataclass(frozen=True, slots=True)
class Done:
    """The message with a job's result."""

    result: Any


@dataclass(frozen=True, slots=True)
class Warned:
    """The message with a warning for the user."""

    text: str
    category: type[Warning]


starting = threading.Event()
"""Set while this process is a worker that is not ready: it must not start workers itself."""


def work(lifeline: int) -> None:
    """Run jobs until the driver ends; its first two messages set up this process."""
    starting.set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    be_expendable()
    gc.set_threshold(100_000)  # as in a command: so it starts sooner
    if lifeline:  # not on Windows
        _end_with(lifeline)
    streams = take_streams()
    reading, answering = os.fdopen(streams[0], "rb"), os.fdopen(streams[1], "wb")
    given: queue.SimpleQueue[Job] = queue.SimpleQueue()
    outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_write_messages, args=(answering, outbox), daemon=True).start()
    try:
        prepare(pickle.load(reading))  # sets paths, and imports the driver's script if needed
        core, begin = pickle.load(reading)
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        threading.Thread(target=_read_jobs, args=(reading, given, outbox), daemon=True).start()
        warnings.simplefilter("ignore")  # the driver has already issued these
        begin.run()
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *where: outbox.put(
            Warned(str(message), category if _is_known(category) else UserWarning)
        )
        silence_stdio()  # only the driver writes to the terminal
        starting.clear()
        outbox.put(READY)
        while True:
            job = given.get()
            if job.seconds < math.inf:
                # faulthandler uses a C thread, which does not need the interpreter's lock.
                faulthandler.dump_traceback_later(job.seconds + LAST_RESORT, exit=True, file=2)
            result = job.run()
            faulthandler.cancel_dump_traceback_later()
            outbox.put(Done(result))
    except BaseException as error:
        outbox.put(_for_the_driver(error))
    threading.Event().wait()  # until the driver ends this process


def _end_with(lifeline: int) -> None:
    """Let the system end this process when the driver's end of the pipe `lifeline` closes.

    `_read_jobs` would do that, too, but not while user code holds the interpreter's lock.
    """
    import fcntl

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)  # SIGIO, which ends a process
    if select.select([lifeline], [], [], 0)[0]:  # it is already closed
        os._exit(0)


def _read_jobs(
    reading: IO[bytes], given: queue.SimpleQueue[Job], outbox: queue.SimpleQueue[Any]
) -> None:
    try:
        while True:
            given.put(pickle.load(reading))
    except (EOFError, OSError):
        os._exit(0)  # do not wait for the main thread, which may be running a job
    except BaseException as error:  # the job refers to something that cannot be imported here
        outbox.put(_for_the_driver(error))


def _write_messages(answering: IO[bytes], outbox: queue.SimpleQueue[Any]) -> None:
    while True:
        message = outbox.get()
        try:
            line = pickle.dumps(message)
        except Exception as error:
            line = pickle.dumps(
                RuntimeError(f"in a worker process: cannot pickle a result: {error}")
            )
        try:
            answering.write(line)
            answering.flush()
        except OSError:
            os._exit(0)


def _for_the_driver(error: BaseException) -> BaseException:
    """Return the exception if the driver can unpickle it, else a `RuntimeError` with its text."""
    if isinstance(error, KnightfallError):
        return error
    where = f"in a worker process:\n{traceback.format_exc()}"
    if isinstance(error, Exception) and type(error).__module__ == "builtins":
        error.add_note(where)
        return error
    return RuntimeError(where)


def _is_known(category: type[Warning]) -> bool:
    """Return whether the driver can import a warning category; one in a user's file it cannot."""
    return category.__module__.split(".")[0] in ("builtins", "knightfall")


COMMAND = f"import sys; from {__name__} import work; work(int(sys.argv[1]))"
"""The code that a worker's interpreter runs; its argument is a file descriptor of the lifeline, or
0."""
