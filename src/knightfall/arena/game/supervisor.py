"""What stands between an agent's process and whoever asks it: a process that runs no agent's code.

::

    whoever asks  <=pipes=>  supervisor  <=pipes=>  agent
                                 \\_ watcher _/

It passes questions on and answers back, with the time each answer took by its own clock, which no
agent can set and no busy program can hold up, and how much of that the two of them waited for a
core.  An answer must begin with the word that its question
began with, which nobody can know before; anything else, and too long a line, ends the agent.

The agent and the watcher, its parent, live in a process namespace of their own where the system
lets us have one (Linux, mostly): there the agent can see, signal and outlive nobody else.
Elsewhere they are in a session of their own, and on Linux whatever the agent leaves behind becomes
the supervisor's, which finds and ends it.  It imports next to nothing, for it must start at once.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import NoReturn

from knightfall.arena.game.lines import AT_ONCE, Lines, TooLong
from knightfall.isolation import limits
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.run_isolated import silence_stdio
from knightfall.machine import seconds_waited

LOOK = 1.0
"""Seconds between two looks whether whoever asks is still there."""

DYING = 1.0
"""Seconds in which a process that has closed its connection may tell how it ended."""


def supervise(text: str, scratch: str = "") -> NoReturn:
    """Serve whoever is at the other end of the standard streams until it or the agent goes.

    A `scratch` folder goes with the agent, also if whoever asks was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking = os.getppid()
    questions, answers = os.dup(0), os.dup(1)
    silence_stdio()
    apart = limits.enter_namespace()
    (heard, ask), (told, tell), (died, dying) = os.pipe(), os.pipe(), os.pipe()
    watcher = os.fork()
    if watcher == 0:
        for ours in (questions, answers, ask, told, died):
            os.close(ours)
        _watch(text, heard, tell, dying)
    for theirs in (heard, tell, dying):
        os.close(theirs)
    limits.forbid_inspection()
    os.set_blocking(ask, False)
    agent = os.read(died, 20)  # its number, where numbers mean the same to us
    here = "".join(_children(str(watcher))[:1]) if apart else agent.decode()
    try:
        end = _Relay(questions, answers, ask, told, died, asking, here).run()
        if end:
            with suppress(OSError):
                os.write(answers, b"! " + end.encode() + b"\n")
    finally:
        limits.kill_tree(watcher, None if apart else int(agent or b"0"))
        if scratch:
            import shutil

            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)


def _children(process: str) -> list[str]:
    """Return the numbers of a process's children as this process sees them, if it can."""
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            return file.read().split()
    except OSError:
        return []


class _Relay:
    """The conversation: one question at a time, one answer to each.

    `agent` is the number of the agent's process, or "" if it is not known.
    """

    def __init__(
        self, questions: int, answers: int, ask: int, told: int, died: int, asking: int, agent: str
    ) -> None:
        self._agent = agent
        self._questions, self._answers = questions, answers
        self._ask, self._told, self._died = ask, told, died
        self._asking = asking
        self._from_host, self._from_agent = Lines(), Lines()
        self._word: bytes | None = None  # that the answer must begin with
        self._since = self._waited = 0.0
        self._until = float("inf")  # when we stop waiting for the death of one that went silent

    def run(self) -> str:
        """Talk until there is nothing more to say: why, or "" if nobody is there to hear it."""
        poll = select.poll()
        for source in (self._questions, self._told, self._died):
            poll.register(source, select.POLLIN)
        while True:
            left = min(LOOK, self._until - time.monotonic())
            ready = {source for source, _ in poll.poll(max(0.0, left) * 1000)}
            now = time.monotonic()
            if os.getppid() != self._asking:
                return ""
            if self._told in ready:  # first: it may have answered and died
                piece = os.read(self._told, AT_ONCE)
                if not piece:
                    poll.unregister(self._told)
                    self._until = now + DYING
                try:
                    self._pass_back(self._from_agent.fed(piece), now)
                except (TooLong, _Unasked) as broken:
                    return f"broke the connection: it sent {broken}"
            elif self._died in ready:
                return self._obituary()
            elif now >= self._until:
                return "closed the connection"
            if self._questions in ready:
                piece = os.read(self._questions, AT_ONCE)
                if not piece:
                    return ""
                self._pass_on(self._from_host.fed(piece))

    def _obituary(self) -> str:
        """What the watcher has to say, which is written at once."""
        return os.read(self._died, 100).decode() or "ended the process that watches it"

    def _waiting(self) -> float:
        """Return the seconds that this process and the agent's have waited for a core so far.

        The agent's are the one that loaded it and the fork that plays the game.
        """
        agents = [self._agent, *_children(self._agent)] if self._agent else []
        return seconds_waited() + sum(seconds_waited(process) for process in agents)

    def _pass_on(self, lines: list[bytes]) -> None:
        for line in lines:
            self._waited = self._waiting()
            self._word, self._since = line.partition(b" ")[0], time.monotonic()
            with suppress(OSError):  # it does not listen: its answer will be no answer
                os.write(self._ask, line + b"\n")

    def _pass_back(self, lines: list[bytes], now: float) -> None:
        for line in lines:
            word, self._word = self._word, None
            if word is None or not line.startswith(word + b" "):
                raise _Unasked("what nobody had asked for")
            took = round((now - self._since) * 1e6)
            waited = max(0, round((self._waiting() - self._waited) * 1e6))
            _write(self._answers, b"%d,%d %s\n" % (took, waited, line))


class _Unasked(Exception):
    """An answer without its question."""


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]


def _watch(text: str, heard: int, tell: int, dying: int) -> NoReturn:
    """Have the agent served by a child of this process, and tell how that one ended."""
    limits.exit_with_parent()
    if _nobody_reads(dying):  # the supervisor ended before we could say so
        os._exit(1)
    limits.offer_to_oom_killer()
    agent = os.fork()
    if agent == 0:
        try:
            os.close(dying)
            limits.exit_with_parent()
            os.setsid()
            from knightfall.arena.game.agent_server import serve

            serve(text, heard, tell)
        finally:
            os._exit(0)
    os.write(dying, b"%d" % agent)
    os.close(heard)
    os.close(tell)
    while True:
        pid, status = os.wait()  # for others, too, whose parents have died
        if pid == agent:
            break
    os.write(dying, describe_exit(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _nobody_reads(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


if __name__ == "__main__":
    supervise(*sys.argv[1:3])
