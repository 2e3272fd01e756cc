r"""The program that hosts an agent: it loads the agent once and answers requests about positions.

Its first process, the watcher, runs the agent in a child process and reports how the child ended
(see `knightfall.isolation.supervisor`).

The agent's process loads it once.  Each game is then played by a fork of it, so that every game
begins with the state after loading, independent of earlier games.  A module that started threads
or, in a sandbox, other processes while it was loaded cannot be forked safely: its process plays one
game and ends.  The class to host is given as an import path, so this module does not depend on
agents.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, NoReturn, Protocol

from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation import limits, namespaces
from knightfall.isolation.run_isolated import Fork, describe_exit
from knightfall.user_folders import fix_folders

LONGEST_DETAIL = 500
"""Longest error message in characters: an agent may put a whole table into one."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the agent's process exits even without a supervisor."""

_WORD = re.compile(rb"[0-9a-f]{16}")


# -- the watcher -----------------------------------------------------------------------------


def watch(
    kind: str, hosted: str, text: str, limited: bool, reading: int, writing: int, exit_writer: int
) -> NoReturn:
    """Run the agent in a child process, and report how it ended.

    `kind` is the kind of its sandbox; empty for code that needs none.
    """
    if _is_broken(exit_writer):  # the supervisor ended while this process was started
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in (reading, writing, exit_writer):
        os.set_inheritable(descriptor, False)
    limits.forbid_inspection()  # else the agent could report its own end
    alone = os.getpid() == 1  # the first process of a namespace, which the sandbox has made
    agent = os.fork()
    if agent == 0:
        try:
            os.close(exit_writer)
            limits.exit_with_parent()
            limits.forbid_inspection(False)
            os.setsid()
            if limited and kind in ("bubblewrap", "namespaces") and namespaces.is_alone():
                limits.limit_processes()
            if kind:
                namespaces.filter_system_calls(limited)
            serve(hosted, text, reading, writing, alone=alone)
        finally:
            os._exit(0)
    os.write(exit_writer, b"%d" % agent)
    os.close(reading)
    os.close(writing)
    while True:
        pid, status = os.wait()  # also reaps orphans, whose parents have died
        if pid == agent:
            break
    os.write(exit_writer, describe_exit(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _is_broken(pipe: int) -> bool:
    """Return whether the reading end of a pipe is closed."""
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


# -- the agent's process ---------------------------------------------------------------------


class Hosted(Protocol):
    """Interface of a hosted agent: created from its string, loaded, then sent requests."""

    def load(self) -> dict[str, Any]:
        """Load the agent that the string names; return the answer to the first request."""

    @property
    def needs_own_process(self) -> bool:
        """Whether each game needs a new process that loads the agent again, instead of a fork."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""


def serve(
    hosted: str, text: str, reading: int, writing: int, before: bytes = b"", alone: bool = False
) -> None:
    """Answer the requests from one file descriptor until it is closed.

    `hosted` is an import path such as ``package.module:Class``.  `before` is written before each
    answer; it shows the client that there is no supervisor.  `alone` says that this process and its
    parent, which cannot be killed, are in a process namespace without others.

    The agent runs in the main thread, as it would in a program of its own.
    """
    limits.be_expendable()
    fix_folders()
    module, _, name = hosted.partition(":")
    kind = getattr(import_module(module), name)
    with os.fdopen(reading, "rb") as questions, os.fdopen(writing, "wb") as answers:
        _Server(kind(text), text, questions, answers, before, alone).answer_all()


class _Server:
    """Loads one agent and answers requests about the positions of a game."""

    def __init__(
        self,
        hosted: Hosted,
        text: str,
        questions: IO[bytes],
        answers: IO[bytes],
        before: bytes,
        alone: bool,
    ) -> None:
        self._hosted, self._text, self._alone = hosted, text, alone
        self._questions, self._answers, self._before = questions, answers, before
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._loaded = False
        self._forks = False  # whether each game gets a fork, and this process plays none

    def answer_all(self) -> bytes:
        """Answer requests until the game is over or the input ends.

        Return the token of the request that ended the game; empty if the input ended.
        """
        for line in self._questions:
            word, _, content = line.partition(b" ")
            question = json.loads(content)
            asked = question.get("ask")
            if asked == "over":
                return word
            if asked == "game" and self._forks:
                self._say(self._play_in_a_fork(word, question), {})
            else:
                self._say(word, self._answer_in_time(question))
        return b""

    def _say(self, word: bytes, answer: dict[str, Any]) -> None:
        self._answers.write(self._before + word + b" " + json.dumps(answer).encode() + b"\n")
        self._answers.flush()

    def _play_in_a_fork(self, word: bytes, question: dict[str, Any]) -> bytes:
        """Let a fork of this process play a game; return the token of the request that ended it.

        If the fork dies first, this process exits in the same way, and the supervisor reports it.
        """

        def play(end: int) -> None:
            os.set_blocking(end, False)  # the agent may have filled the pipe
            self._forks = False
            self._say(word, self._answer_in_time(question))
            os.write(end, self.answer_all())

        game = Fork(play)
        _, status = os.waitpid(game.pid, 0)
        with suppress(OSError):  # end the processes that the game has started
            os.kill(-1 if self._alone else -game.pid, signal.SIGKILL)
        over = game.read_until(0.0, most=100)
        os.close(game.reading)
        return over if _WORD.fullmatch(over) else limits.exit_like(status)

    def _answer_in_time(self, question: dict[str, Any]) -> dict[str, Any]:
        limit = question["limit"]
        if limit is not None:
            # faulthandler uses a C thread, which does not need the interpreter's lock.
            faulthandler.dump_traceback_later(limit + LAST_RESORT, exit=True, file=self._nowhere)
        loads, self._loaded = not self._loaded, True
        try:
            answer = self._hosted.load() if loads else self._hosted.answer(question)
        except BaseException as error:  # report it and go on with the next request
            return _failure(self._text, error)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if loads:
            own = self._hosted.needs_own_process
            helped = self._alone and limits.descendants(1) != {os.getpid()}
            self._forks = not (self._before or own or helped) and _is_alone()
            answer["forks"] = self._forks
        return answer


def _is_alone() -> bool:
    """Return whether this process has no threads except knightfall's own.

    The threads are counted in /proc, because libraries can start threads unknown to Python.  The
    thread of the stopwatch does not count: a fork starts its own.  The thread of `faulthandler` may
    take a moment to end.
    """
    stopwatch = sys.modules.get("knightfall.kernel.interrupt")  # not imported here: it is slow
    name = None if stopwatch is None else stopwatch.THREAD
    ours = 1 + sum(thread.name == name for thread in threading.enumerate())
    for _ in range(50):
        try:
            threads = len(os.listdir("/proc/self/task"))
        except OSError:  # a system without /proc
            return hasattr(os, "fork") and threading.active_count() == ours
        if threads == ours:
            return True
        time.sleep(0.001)
    return False


def _failure(text: str, error: BaseException) -> dict[str, Any]:
    reason = error.reason if isinstance(error, AgentFailure) else "crash"
    try:
        detail = str(error)
    except BaseException:
        detail = "an error that cannot be printed"
    if not isinstance(error, KnightfallError):
        detail = f"{text}: {type(error).__name__}: {detail}"
    return {"reason": reason, "detail": detail[:LONGEST_DETAIL]}


if __name__ == "__main__":
    _kind, _hosted, _text, _limited = sys.argv[1:5]
    _reading, _writing, _exit_writer = map(int, sys.argv[5:])
    watch(_kind, _hosted, _text, bool(_limited), _reading, _writing, _exit_writer)
