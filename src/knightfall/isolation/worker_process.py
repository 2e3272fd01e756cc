"""The process of one worker of a pool: it receives jobs by a pipe, runs them and sends results.

Three threads: the main one runs jobs, one reads them, one writes results.  So the next job is
always at hand, a slow driver does not hold up the work, and the process ends with its driver
whatever it is doing.
"""

from __future__ import annotations

import faulthandler
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
from knightfall.isolation.run_isolated import silence_stdio, take_streams

READY = "ready"

LAST_RESORT = 10.0
"""Seconds beyond a job's deadline after which the process ends itself, driver or no driver."""


@dataclass(frozen=True, slots=True)
class Done:
    """The message that carries a job's result."""

    result: Any


@dataclass(frozen=True, slots=True)
class Warned:
    """A message by which a worker passes a warning on to the user."""

    text: str
    category: type[Warning]


starting = threading.Event()
"""Set while this process is a worker that is not ready: it must not start others."""


def work(lifeline: int) -> None:
    """Run jobs until the driver is gone; its first two messages say how to begin."""
    starting.set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    be_expendable()
    if lifeline:  # not on Windows
        _end_with(lifeline)
    streams = take_streams()
    reading, answering = os.fdopen(streams[0], "rb"), os.fdopen(streams[1], "wb")
    given: queue.SimpleQueue[Job] = queue.SimpleQueue()
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_write_messages, args=(answering, said), daemon=True).start()
    try:
        prepare(pickle.load(reading))  # paths; and its main module, if that is needed
        core, begin = pickle.load(reading)
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        threading.Thread(target=_read_jobs, args=(reading, given, said), daemon=True).start()
        warnings.simplefilter("ignore")  # of these the driver has warned
        begin.run()
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *where: said.put(
            Warned(str(message), category if _is_known(category) else UserWarning)
        )
        silence_stdio()  # the terminal is for the driver, too
        starting.clear()
        said.put(READY)
        while True:
            job = given.get()
            if job.seconds < math.inf:
                # A thread of C: it needs no lock that a heuristic could hold for ever.
                faulthandler.dump_traceback_later(job.seconds + LAST_RESORT, exit=True, file=2)
            result = job.run()
            faulthandler.cancel_dump_traceback_later()
            said.put(Done(result))
    except BaseException as error:
        said.put(_for_the_driver(error))
    threading.Event().wait()  # for the driver, which ends us


def _end_with(lifeline: int) -> None:
    """Have the system end this process when the driver's end of the pipe closes.

    `_read_jobs` would do that, too, but not while user code holds the interpreter's lock.
    """
    import fcntl

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)  # SIGIO, which ends a process
    if select.select([lifeline], [], [], 0)[0]:  # it has closed already
        os._exit(0)


def _read_jobs(
    reading: IO[bytes], given: queue.SimpleQueue[Job], said: queue.SimpleQueue[Any]
) -> None:
    try:
        while True:
            given.put(pickle.load(reading))
    except (EOFError, OSError):
        os._exit(0)  # the main thread may be in the middle of anything
    except BaseException as error:  # the job names something that is not known here
        said.put(_for_the_driver(error))


def _write_messages(answering: IO[bytes], said: queue.SimpleQueue[Any]) -> None:
    while True:
        message = said.get()
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
    """Return an error as the driver can raise it: of its own type where both know that type."""
    if isinstance(error, KnightfallError):
        return error
    where = f"in a worker process:\n{traceback.format_exc()}"
    if isinstance(error, Exception) and type(error).__module__ == "builtins":
        error.add_note(where)
        return error
    return RuntimeError(where)


def _is_known(category: type[Warning]) -> bool:
    """Return whether the driver can name a category, too: users' own ones live in users' files."""
    return category.__module__.split(".")[0] in ("builtins", "knightfall")


COMMAND = f"import sys; from {__name__} import work; work(int(sys.argv[1]))"
"""The code that a worker's interpreter runs; its end of the lifeline follows as a number, or 0."""
