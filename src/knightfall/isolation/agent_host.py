r"""Run an agent, which may hang, crash, print or forge answers, in a process under a supervisor.

::

    HostProcess  <=pipes=>  supervisor  <=pipes=>  agent
                                \_ watcher _/

The supervisor runs no user code.  It forwards requests and answers, and adds the time that each
answer took by its own clock, which an agent can neither set nor delay, and how much of that time
the two processes waited for a core.  Each request begins with a random token, and its answer must
begin with the same token; any other line, or one that is too long, ends the agent.

The agent and its parent, the watcher, run in a process namespace of their own where the system
allows it (mostly Linux): there the agent cannot see, signal or outlive other processes.  Elsewhere
they have a session of their own; on Linux, processes that the agent leaves behind become children
of the supervisor, which finds and kills them.

The agent's process loads it once.  Each game is then played by a fork of it, so that every game
begins with the state after loading, independent of earlier games.  A module that started threads
while it was loaded cannot be forked safely: its process plays one game and ends.  What to host is
given as an import path, so this module does not depend on agents; it imports little, so that the
supervisor starts quickly.
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
from knightfall.isolation import limits
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.run_isolated import Fork, take_streams
from knightfall.machine import seconds_waited

LOOK = 1.0
"""Seconds between two checks that the process that asks still exists."""

DYING = 1.0
"""Seconds to wait for the exit status of a process that has closed its connection."""

MOST_BYTES = 1 << 20
"""Largest line in bytes: a report takes a few hundred, the names of an agent's files a few
thousand."""

AT_ONCE = 1 << 16
"""Size of one read in bytes."""

LONGEST_DETAIL = 500
"""Longest error message in characters: an agent may put a whole table into one."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the agent's process exits even without a supervisor."""

_WORD = re.compile(rb"[0-9a-f]{16}")


class TooLong(Exception):
    """A line is longer than allowed."""


class LineReader:
    """Splits a byte stream from an untrusted process into lines of limited length."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._rest = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes, without line ends.  Raise `TooLong`."""
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = bytes(self._rest) + whole[0]
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._most or any(len(line) > self._most for line in whole):
            raise TooLong(f"a line of more than {self._most:,} bytes")
        return whole


# -- the supervisor --------------------------------------------------------------------------


def supervise(hosted: str, text: str, scratch: str = "") -> NoReturn:
    """Run the agent for the process at the other end of standard input and output.

    This ends when that process or the agent ends.  A `scratch` folder is then removed, even if the
    process that asks was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking = os.getppid()
    questions, answers = take_streams()
    in_namespace = limits.enter_namespace()
    agent_reads, to_agent = os.pipe()
    agent_answers, agent_writes = os.pipe()
    exit_reader, exit_writer = os.pipe()
    watcher = os.fork()
    if watcher == 0:
        for ours in (questions, answers, to_agent, agent_answers, exit_reader):
            os.close(ours)
        _watch(hosted, text, agent_reads, agent_writes, exit_writer)
    for theirs in (agent_reads, agent_writes, exit_writer):
        os.close(theirs)
    limits.forbid_inspection()
    os.set_blocking(to_agent, False)
    agent = os.read(exit_reader, 20)  # its process id, which is valid here unless in a namespace
    here = "".join(_children(str(watcher))[:1]) if in_namespace else agent.decode()
    try:
        end = _Relay(questions, answers, to_agent, agent_answers, exit_reader, asking, here).run()
        if end:
            with suppress(OSError):
                os.write(answers, b"! " + end.encode() + b"\n")
    finally:
        limits.kill_tree(watcher, None if in_namespace else int(agent or b"0"))
        if scratch:
            import shutil

            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)


def _children(process: str) -> list[str]:
    """Return the process ids of a process's children; empty if the system does not tell."""
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            return file.read().split()
    except OSError:
        return []


class _Relay:
    """Forwards one request at a time to the agent, and its answer back.

    `agent` is the process id of the agent, or "" if it is not known.
    """

    def __init__(
        self,
        questions: int,
        answers: int,
        to_agent: int,
        agent_answers: int,
        exit_reader: int,
        asking: int,
        agent: str,
    ) -> None:
        self._agent = agent
        self._questions, self._answers = questions, answers
        self._to_agent, self._agent_answers, self._exit_reader = (
            to_agent,
            agent_answers,
            exit_reader,
        )
        self._asking = asking
        self._from_host, self._from_agent = LineReader(), LineReader()
        self._word: bytes | None = None  # the token that the answer must begin with
        self._since = self._waited = 0.0
        self._until = float("inf")  # deadline for the exit status after the agent closed its pipe

    def run(self) -> str:
        """Forward until either side ends; return how the agent ended, "" if the asker ended."""
        poll = select.poll()
        for source in (self._questions, self._agent_answers, self._exit_reader):
            poll.register(source, select.POLLIN)
        while True:
            left = min(LOOK, self._until - time.monotonic())
            ready = {source for source, _ in poll.poll(max(0.0, left) * 1000)}
            now = time.monotonic()
            if os.getppid() != self._asking:
                return ""
            if (
                self._agent_answers in ready
            ):  # checked first: the agent may have answered and then died
                piece = os.read(self._agent_answers, AT_ONCE)
                if not piece:
                    poll.unregister(self._agent_answers)
                    self._until = now + DYING
                try:
                    self._pass_back(self._from_agent.feed(piece), now)
                except (TooLong, _Unasked) as broken:
                    return f"sent an invalid answer: {broken}"
            elif self._exit_reader in ready:  # the watcher writes its whole message at once
                return os.read(self._exit_reader, 100).decode() or "killed its watcher process"
            elif now >= self._until:
                return "closed the connection"
            if self._questions in ready:
                piece = os.read(self._questions, AT_ONCE)
                if not piece:
                    return ""
                self._pass_on(self._from_host.feed(piece))

    def _waiting(self) -> float:
        """Return the seconds that this process and the agent's have waited for a core so far.

        The agent's processes are the one that loaded it and the fork that plays the game.
        """
        agents = [self._agent, *_children(self._agent)] if self._agent else []
        return seconds_waited() + sum(seconds_waited(process) for process in agents)

    def _pass_on(self, lines: list[bytes]) -> None:
        for line in lines:
            self._waited = self._waiting()
            self._word, self._since = line.partition(b" ")[0], time.monotonic()
            with suppress(OSError):  # if it does not read, it will not answer, either
                os.write(self._to_agent, line + b"\n")

    def _pass_back(self, lines: list[bytes], now: float) -> None:
        for line in lines:
            word, self._word = self._word, None
            if word is None or not line.startswith(word + b" "):
                raise _Unasked("a line without a request")
            took = round((now - self._since) * 1e6)
            waited = max(0, round((self._waiting() - self._waited) * 1e6))
            left = b"%d,%d %s\n" % (took, waited, line)
            while left:
                left = left[os.write(self._answers, left) :]


class _Unasked(Exception):
    """Raised for a line from the agent that does not answer a request."""


def _watch(
    hosted: str, text: str, agent_reads: int, agent_writes: int, exit_writer: int
) -> NoReturn:
    """Run the agent in a child process, and report how it ended."""
    limits.exit_with_parent()
    if _is_broken(exit_writer):  # the supervisor ended before the line above took effect
        os._exit(1)
    limits.offer_to_oom_killer()
    agent = os.fork()
    if agent == 0:
        try:
            os.close(exit_writer)
            limits.exit_with_parent()
            os.setsid()
            serve(hosted, text, agent_reads, agent_writes)
        finally:
            os._exit(0)
    os.write(exit_writer, b"%d" % agent)
    os.close(agent_reads)
    os.close(agent_writes)
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
    """Interface of what a host process runs: made from a text, loaded, then sent requests."""

    def load(self) -> dict[str, Any]:
        """Load what the text names; return the answer to the first request."""

    @property
    def needs_own_process(self) -> bool:
        """Whether each game needs a new process that loads it again, instead of a fork."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""


def serve(hosted: str, text: str, reading: int, writing: int, before: bytes = b"") -> None:
    """Answer the requests from one file descriptor until it is closed.

    `hosted` is an import path such as ``package.module:Class``.  `before` is written before each
    answer; it tells the reader that there is no supervisor.

    The agent runs in the main thread, as it would in a program of its own.
    """
    limits.be_expendable()
    module, _, name = hosted.partition(":")
    kind = getattr(import_module(module), name)
    with os.fdopen(reading, "rb") as questions, os.fdopen(writing, "wb") as answers:
        _Server(kind(text), text, questions, answers, before).answer_all()


class _Server:
    """Loads one agent and answers requests about the positions of a game."""

    def __init__(
        self, hosted: Hosted, text: str, questions: IO[bytes], answers: IO[bytes], before: bytes
    ) -> None:
        self._hosted, self._text = hosted, text
        self._questions, self._answers, self._before = questions, answers, before
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._loaded = False
        self._forks = False  # whether each game gets a fork, and this process plays none

    def answer_all(self) -> bytes:
        """Answer requests until the game is over or there are no more of them.

        Return the token of the request that ended the game, or nothing.
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
        with suppress(OSError):
            os.killpg(game.pid, signal.SIGKILL)  # end the processes that the game has started
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
            self._forks = not self._before and not own and _is_alone()
            answer["forks"] = self._forks
        return answer


def _is_alone() -> bool:
    """Return whether this process has no threads except knightfall's own.

    The system is asked, because libraries can start threads without telling Python.  The thread of
    the stopwatch does not count: a fork starts its own.  The thread of `faulthandler` may take a
    moment to end.
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


def _main(hosted: str, text: str, scratch: str = "") -> None:
    if hasattr(os, "fork"):
        supervise(hosted, text, scratch)
    serve(hosted, text, *take_streams(), before=b"- ")


if __name__ == "__main__":
    _main(*sys.argv[1:])
