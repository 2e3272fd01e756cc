r"""The program that hosts an agent: it loads the agent once and answers requests about positions.

Its first process, the watcher, runs the agent in a child process and reports how the child ended
(see `knightfall.isolation.supervisor`).

The agent's process loads it once.  Each game is then played by a fork of it, so that every game
begins with the state after loading, independent of earlier games.  The process plays one game and
ends if a fork would not be such a beginning: if the module started threads or, in a sandbox, other
processes while it was loaded; if the game left files behind; and for a submission of the course
without a sandbox, whose processes might outlive the game.  The class to host is given as an import
path, so this module does not depend on agents.
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
from typing import IO, TYPE_CHECKING, Any, NoReturn, Protocol

from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation import limits, namespaces
from knightfall.isolation.run_isolated import Fork, describe_exit
from knightfall.user_folders import fix_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_DETAIL = 500
"""Longest error message in characters: an agent may put a whole table into one."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the agent's process exits even without a supervisor."""

_WORD = re.compile(rb"[0-9a-f]{16}")


# -- the watcher -----------------------------------------------------------------------------


def watch(
    kind: str,
    hosted: str,
    text: str,
    limited: bool,
    scratch: str,
    reading: int,
    writing: int,
    exit_writer: int,
) -> NoReturn:
    """Run the agent in a child process, and report how it ended.

    `kind` is the kind of its sandbox; empty for code that needs none.  `scratch` is the folder that
    it can write to; empty if there is none.
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
            serve(hosted, text, reading, writing, limited=limited, alone=alone, scratch=scratch)
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

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""


def serve(
    hosted: str,
    text: str,
    reading: int,
    writing: int,
    *,
    before: bytes = b"",
    limited: bool = False,
    alone: bool = False,
    scratch: str = "",
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
        can_fork = not before and (alone or not limited)
        writable = [*filter(None, [scratch, SHARED if alone else ""])]
        _Server(
            kind(text), text, (questions, answers, before), can_fork, alone, writable
        ).answer_all()


class _Server:
    """Loads one agent and answers requests about the positions of a game."""

    def __init__(
        self,
        hosted: Hosted,
        text: str,
        connection: tuple[IO[bytes], IO[bytes], bytes],
        can_fork: bool,
        alone: bool,
        writable: Sequence[str],
    ) -> None:
        self._hosted, self._text, self._alone = hosted, text, alone
        self._questions, self._answers, self._before = connection
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._loaded = False
        self._can_fork, self._writable = can_fork, writable
        self._forks = False  # whether each game gets a fork, and this process plays none
        self._files: set[tuple[str, int, int]] = set()  # in the writable folders, after loading

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
        If the game has left files, this process exits, so that no other game finds them.
        """

        def play(end: int) -> None:
            limits.forbid_inspection(False)
            os.set_blocking(end, False)  # the agent may have filled the pipe
            self._forks = False
            self._say(word, self._answer_in_time(question))
            os.write(end, self.answer_all())

        limits.forbid_inspection()  # else the game could change the state that others begin with
        game = Fork(play)
        _, status = os.waitpid(game.pid, 0)
        with suppress(OSError):  # end the processes that the game has started
            os.kill(-1 if self._alone else -game.pid, signal.SIGKILL)
        over = game.read_until(0.0, most=100)
        os.close(game.reading)
        if not _WORD.fullmatch(over):
            limits.exit_like(status)
        if _files_in(self._writable) != self._files:
            os._exit(0)
        return over

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
            helped = self._alone and limits.descendants(1) != {os.getpid()}
            self._forks = self._can_fork and not helped and _is_alone()
            if self._forks:
                self._files = _files_in(self._writable)
            answer["forks"] = self._forks
        return answer


SHARED = "/dev/shm"
"""The folder in memory that an agent in a sandbox can write to, besides a scratch copy."""

CACHES = ("__pycache__", "numba")
"""Folders of bytecode and of Numba's machine code, which may last from game to game."""


def _files_in(folders: Sequence[str]) -> set[tuple[str, int, int]]:
    """Return the paths below folders; for files, also the time of the last change and the size."""
    found: set[tuple[str, int, int]] = set()
    left = list(folders)
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.name in CACHES:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                    found.add((entry.path, 0, 0))
                else:
                    seen = entry.stat(follow_symlinks=False)
                    found.add((entry.path, seen.st_ctime_ns, seen.st_size))
    return found


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
    _kind, _hosted, _text, _limited, _scratch = sys.argv[1:6]
    _reading, _writing, _exit_writer = map(int, sys.argv[6:])
    watch(_kind, _hosted, _text, bool(_limited), _scratch, _reading, _writing, _exit_writer)
