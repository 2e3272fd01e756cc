"""A move of the successor's game: a fork that puts actions until its time is up; the last counts.

Nothing of the fork survives but the `context` that it sends with each action.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

from knightfall.course.clocks import StateClock, running
from knightfall.course.generation_successor import Isolation, StopSearch, TimedQueue
from knightfall.errors import AgentFailure
from knightfall.machine import core_times

BEGINNING = 2.0
"""Seconds until a fork must have begun, on a busy machine."""

ON_ITS_WAY = 0.02
"""Seconds in which an action that was put in time may arrive."""

COUNTED = 20.0
"""Seconds that a move by a counted clock may take at most."""

SILENT = 10
"""Times its limit of processor time, or of sleep, after which a player by a counted clock is ended:
for those that go on and ask the state nothing."""

LEAST_SILENT = 2.0
"""Seconds that this is in games at least: on a busy machine a player that waits for a core seems to
sleep until it gets one."""

LOOK = 0.05
"""Seconds between two looks whether a player sleeps."""

NO_HURRY = 3_600_000.0
"""Milliseconds that the queue's own clock has where questions are counted instead."""

MOST_BYTES = 64 << 20
"""What actions and contexts of a move may come to."""


class Put(NamedTuple):
    """An action that an agent put, with its context then; `note` is the fork's own."""

    context: Any
    action: Any
    note: Any


def ask(
    agent: Any,
    state: Isolation,
    limit: float,
    name: str,
    describe: Callable[[BaseException], str],
    *,
    begin: Callable[[], None] = lambda: None,
    counted: bool = False,
) -> int:
    """Return the last action that the agent puts within so many milliseconds; it keeps its context.

    See `all_puts` for the rest.
    """
    puts, wrong = all_puts(agent, state, limit, describe, begin=begin, counted=counted)
    if not puts and wrong:
        raise AgentFailure("crash", wrong)
    if not puts:
        raise AgentFailure("timeout", f"{name} put no action within {limit:g} ms")
    agent.context, action, _ = puts[-1]
    if action not in state.actions():
        raise AgentFailure("forfeit", f"{name} put {action!r:.60}, which is no legal action")
    return int(action)


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
    """Return all that an agent puts within so many milliseconds, and the error that it ended with.

    The fork calls `begin` first (Python gives each fork random numbers of its own) and `note` with
    each action.  If `counted`, time passes by the questions that the agent asks of states, and with
    each action put; then it is ended after `silent` times its limit of processor time or of sleep,
    in games `SILENT` times and at least `LEAST_SILENT` seconds.
    """
    most_silent = max(LEAST_SILENT, SILENT * limit / 1000.0)
    if silent is not None:
        most_silent = silent * limit / 1000.0
    hears, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(hears)
        with suppress(BaseException):
            begin()
            if counted:
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, most_silent)
            _put_actions(agent, state, limit, says, describe, note, counted)
        os._exit(0)
    os.close(says)
    try:
        if select.select([hears], [], [], BEGINNING)[0]:
            os.read(hears, 1)
        if counted:
            said = _heard_counted(hears, pid, most_silent)
        else:
            said = _heard(hears, perf_counter() + limit / 1000.0 + ON_ITS_WAY)
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        said += _heard(hears, 0.0)  # what it put in time, on a machine that has no time for us
    finally:
        os.close(hears)
    puts, wrong = list[Put](), ""
    for kind, value in _items(said):
        if kind == "error":
            wrong = value
        else:
            puts.append(Put(*value))
    return puts, wrong


def _put_actions(
    agent: Any,
    state: Isolation,
    limit: float,
    says: int,
    describe: Callable[[BaseException], str],
    note: Callable[[], Any],
    counted: bool,
) -> None:
    """Let the agent think, in the fork."""
    with os.fdopen(says, "wb") as out:

        def send(kind: str, value: Any) -> None:
            out.write(pickle.dumps((kind, value)))
            out.flush()

        out.write(b"!")  # its time begins when it does
        out.flush()
        try:
            timer, tick = None, None
            if counted:
                clock = StateClock(limit, lambda: os._exit(0))  # what was put is on its way
                clock.attach(Isolation)
                timer, tick = clock, clock.tick
            ends = _Ends(lambda item: send("action", (*item, note())), tick)
            agent.queue = TimedQueue(ends, ends, NO_HURRY if counted else limit)
            agent.queue.agent = agent
            agent.queue.start_timer()
            with running(timer):
                agent.get_action(state)
        except StopSearch:
            pass
        except BaseException as error:
            send("error", describe(error))


class _Ends:
    """Both ends of a queue in one: what is put is said at once, and the last of it kept."""

    def __init__(
        self, say: Callable[[tuple[Any, Any]], None], tick: Callable[[], None] | None
    ) -> None:
        self._say, self._tick = say, tick
        self._last: list[tuple[Any, Any]] = []

    def send(self, item: tuple[Any, Any]) -> None:
        if self._tick is not None:
            self._tick()
        self._say(item)
        self._last = [item]

    def poll(self) -> bool:
        return bool(self._last)

    def recv(self) -> tuple[Any, Any]:
        return self._last.pop()


def _heard_counted(file: int, pid: int, idle: float) -> bytes:
    """Return what a fork says until it ends, or has slept for so many seconds."""
    said, began = b"", perf_counter()
    while (now := perf_counter()) < began + COUNTED:
        times = core_times(pid)
        if times is not None and now - began - sum(times) > idle:
            break
        said += _heard(file, now + LOOK)
        if _is_over(pid):
            break
    return said


def _is_over(pid: int) -> bool:
    """Return whether a child has ended; it is left to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _heard(file: int, until: float) -> bytes:
    """What there is to hear until then; if that is over, what is there already."""
    said = bytearray()
    while len(said) < MOST_BYTES:
        if not select.select([file], [], [], max(0.0, until - perf_counter()))[0]:
            break
        piece = os.read(file, 1 << 16)
        if not piece:
            break
        said += piece
    return bytes(said)


def _items(said: bytes) -> list[tuple[str, Any]]:
    """What was sent whole; its end may be missing."""
    found, stream = list[tuple[str, Any]](), io.BytesIO(said)
    with suppress(Exception):
        while True:
            found.append(pickle.load(stream))
    return found
