"""A process of the pool: it plays what it is given, and troubles nobody else.

Three threads: one listens, one plays, one reports.  So the next chunk is always at hand, nobody
waits for a driver that is busy, and the process ends with its driver whatever it is doing.
"""

from __future__ import annotations

import faulthandler
import math
import os
import queue
import signal
import threading
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from knightfall.arena.game.agent_server import hush
from knightfall.arena.runners.backlog import make_ready
from knightfall.arena.runners.runner import timed_play
from knightfall.errors import KnightfallError
from knightfall.heuristics.user_heuristic import HeuristicWarning

READY = "ready"

LAST_RESORT = 10.0
"""Seconds beyond a chunk's deadline after which the process ends itself, driver or no driver."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that somebody should see."""

    text: str
    category: type[Warning]


def work(connection: Connection, core: int | None, agents: Sequence[str], patience: float) -> None:
    """Play chunks until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    hush()  # and the terminal, too
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    given: queue.SimpleQueue[Any] = queue.SimpleQueue()
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_report, args=(connection, said), daemon=True).start()
    threading.Thread(target=_play, args=(given, said, agents, patience), daemon=True).start()
    try:
        while True:
            given.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)  # the player may be in the middle of anything: do not ask it


def _play(
    given: queue.SimpleQueue[Any],
    said: queue.SimpleQueue[Any],
    agents: Sequence[str],
    patience: float,
) -> None:
    try:
        warnings.simplefilter("ignore")  # of these the driver has warned
        make_ready(agents)
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *where: said.put(
            Warned(str(message), category if _is_known(category) else UserWarning)
        )
        said.put(READY)
        while True:
            tasks, careful, seconds = given.get()
            if seconds < math.inf:
                # A thread of C: it needs no lock that a heuristic could hold for ever.
                faulthandler.dump_traceback_later(seconds + LAST_RESORT, exit=True, file=2)
            played = timed_play(tasks, careful, patience)
            faulthandler.cancel_dump_traceback_later()
            said.put(played)
    except KnightfallError as error:
        said.put(error)
    except BaseException:
        said.put(RuntimeError(f"in a worker process:\n{traceback.format_exc()}"))


def _report(connection: Connection, said: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            connection.send(said.get())
        except OSError:
            os._exit(0)


def _is_known(category: type[Warning]) -> bool:
    """Whether the driver can name it, too: users' own categories live in users' files."""
    return category.__module__ == "builtins" or category is HeuristicWarning
