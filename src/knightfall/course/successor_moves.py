"""Get a move in the successor's game: a fork of the process runs the agent until time is over.

The last action counts.  Of the fork's state only `context`, sent with each action, survives.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from time import monotonic
from typing import Any, NamedTuple

from knightfall.course.generation_successor import Isolation, StopSearch, TimedQueue
from knightfall.course.import_context import running
from knightfall.isolation.run_isolated import Fork, kill_session
from knightfall.processor_cores import core_times

BEGINNING = 2.0
"""Seconds within which a fork must have started, even on a busy machine."""

ON_ITS_WAY = 0.02
"""Seconds after the limit in which an action that was put in time may still arrive."""

COUNTED = 20.0
"""Maximum real seconds of a move that is timed in ticks."""

SILENT = 10
"""A player timed in ticks is killed after this multiple of its limit in processor time or sleep:
if it stops calling the state, its clock no longer advances."""

LEAST_SILENT = 2.0
"""Seconds after which a player is killed in games if `SILENT` would allow less: on a busy machine a
player that waits for a core looks as if it slept."""

LOOK = 0.05
"""Seconds between two checks whether a player sleeps."""

NO_HURRY = 3_600_000.0
"""Milliseconds on the queue's own clock when the move is timed in ticks instead."""

MOST_BYTES = 64 << 20
"""Maximum bytes of all actions and contexts of a move."""


# -- the clock ---------------------------------------------------------------------------------


STATE_TICK = 15
"""Microseconds that a method call on the successor's state costs: 150 ms are 10,000 calls, or about
2,500 positions of a search that calls result, terminal_test, actions and liberties."""

QUESTIONS = ("actions", "liberties", "result", "terminal_test", "utility", "_has_liberties")
"""The methods of the successor's state that cost a tick."""


class StateClock:
    """A clock for the 11×9 game that advances by a tick with each method call on a state.

    Players of the 11×9 game, from the successor course, get no `time_left` function.  Calls from
    within a state's methods are free.  `on_end` is called at every tick after the limit.
    """

    def __init__(self, limit: float, on_end: Callable[[], None]) -> None:
        self._left = round(1000 * limit / STATE_TICK)
        self._on_end = on_end
        self._inside = False
        self.asked = 0

    def tick(self) -> None:
        """Count one call; call `on_end` if the limit is exceeded."""
        self.asked += 1
        if self.asked > self._left:
            self._on_end()

    def seconds(self) -> float:
        """Return the seconds used so far, for Python's own clocks; the call costs a tick."""
        self.tick()
        return self.asked * STATE_TICK / 1e6

    def attach(self, kind: type[Any]) -> None:
        """Count calls of the methods of a state class from now on, including its subclasses."""
        for name in QUESTIONS:
            setattr(kind, name, self._counted(getattr(kind, name)))

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def asked(*args: Any, **options: Any) -> Any:
            if self._inside:
                return method(*args, **options)
            self._inside = True
            try:
                self.tick()
                return method(*args, **options)
            finally:
                self._inside = False

        return asked


# -- a move ------------------------------------------------------------------------------------


class Put(NamedTuple):
    """An action that an agent put into its queue, its context then, and the result of `note()`."""

    context: Any
    action: Any
    note: Any


def all_puts(
    agent: Any,
    state: Isolation,
    limit: float,
    describe: Callable[[BaseException], str],
    *,
    begin: Callable[[], None] = lambda: None,
    note: Callable[[], Any] = lambda: None,
    counted: bool = False,
    silent: float | None = None,
) -> tuple[list[Put], str]:
    """Return all actions that an agent puts within `limit` milliseconds, and its error or "".

    The fork calls `begin` first (for instance to seed random numbers) and `note` with each action.
    If `counted`, time is measured in method calls on states and actions put.  The fork is then
    killed after `silent` times its limit in processor time or sleep; by default after `SILENT`
    times its limit, but at least `LEAST_SILENT` seconds.
    """
    most_silent = max(LEAST_SILENT, SILENT * limit / 1000.0)
    if silent is not None:
        most_silent = silent * limit / 1000.0

    def run(writing: int) -> None:
        begin()
        if counted:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, most_silent)
        _put_actions(agent, state, limit, writing, describe, note, counted)

    fork = Fork(run)
    try:
        received = fork.read_until(monotonic() + BEGINNING, most=1)
        if counted:
            received += _read_counted(fork, most_silent)
        else:
            received += fork.read_until(monotonic() + limit / 1000.0 + ON_ITS_WAY, MOST_BYTES)
        kill_session(fork)
        # Actions put in time may still be unread, if this process had to wait for a core.
        received += fork.read_until(0.0, MOST_BYTES)
    finally:
        os.close(fork.reading)
    puts, wrong = list[Put](), ""
    for kind, value in _items(received[1:]):
        if kind == "error":
            wrong = value
        else:
            puts.append(Put(*value))
    return puts, wrong


def _put_actions(
    agent: Any,
    state: Isolation,
    limit: float,
    writing: int,
    describe: Callable[[BaseException], str],
    note: Callable[[], Any],
    counted: bool,
) -> None:
    """Run the agent's `get_action` in the fork and send its actions through `writing`."""
    with os.fdopen(writing, "wb") as out:

        def send(kind: str, value: Any) -> None:
            out.write(pickle.dumps((kind, value)))
            out.flush()

        out.write(b"!")  # the agent's time starts now
        out.flush()
        try:
            seconds, tick = None, None
            if counted:
                clock = StateClock(limit, lambda: os._exit(0))  # actions were sent already
                clock.attach(Isolation)
                seconds, tick = clock.seconds, clock.tick
            pipe = _QueuePipe(lambda item: send("action", (*item, note())), tick)
            agent.queue = TimedQueue(pipe, pipe, NO_HURRY if counted else limit)
            agent.queue.agent = agent
            agent.queue.start_timer()
            with running(seconds):
                agent.get_action(state)
        except StopSearch:
            pass
        except BaseException as error:
            send("error", describe(error))


class _QueuePipe:
    """Both ends of a `TimedQueue`'s pipe: passes each item to `write` and keeps the last one."""

    def __init__(
        self, write: Callable[[tuple[Any, Any]], None], tick: Callable[[], None] | None
    ) -> None:
        self._write, self._tick = write, tick
        self._last: list[tuple[Any, Any]] = []

    def send(self, item: tuple[Any, Any]) -> None:
        if self._tick is not None:
            self._tick()
        self._write(item)
        self._last = [item]

    def poll(self) -> bool:
        return bool(self._last)

    def recv(self) -> tuple[Any, Any]:
        return self._last.pop()


def _read_counted(fork: Fork, idle: float) -> bytes:
    """Return what a fork writes until it ends or has been idle for `idle` seconds in all."""
    received, began = b"", monotonic()
    while (now := monotonic()) < began + COUNTED:
        times = core_times(fork.pid)
        if times is not None and now - began - sum(times) > idle:
            break
        received += fork.read_until(now + LOOK, MOST_BYTES)
        if fork.poll() is not None:
            break
    return received


def _items(received: bytes) -> list[tuple[str, Any]]:
    """Unpickle the items received; ignore the last one if it is incomplete."""
    found, stream = list[tuple[str, Any]](), io.BytesIO(received)
    with suppress(Exception):
        while True:
            found.append(pickle.load(stream))
    return found
