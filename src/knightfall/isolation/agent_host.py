"""The processes in which an agent plays: it may hang, die, lie or print there.

::

    HostProcess  <=pipes=>  supervisor  <=pipes=>  agent
                                \\_ watcher _/

The supervisor runs nobody's code.  It passes questions on and answers back, with the time each
answer took by its own clock, which no agent can set and no busy program can hold up, and how much
of that the two of them waited for a core.  An answer must begin with the word that its question
began with, which nobody can know before; anything else, and too long a line, ends the agent.

The agent and the watcher, its parent, live in a process namespace of their own where the system
lets us have one (Linux, mostly): there the agent can see, signal and outlive nobody else.
Elsewhere they are in a session of their own, and on Linux whatever the agent leaves behind becomes
the supervisor's, which finds and ends it.

The agent's process loads it once.  Each game is then played by a fork of it, so that every game
begins with the state that loading left behind, whatever was remembered in the games before.  A
module that has started threads while it was loaded cannot be forked safely: its process plays one
game and ends.  What is hosted comes as an import path, so that this module knows no agents; it
imports next to nothing, for the supervisor must start at once.
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
"""Seconds between two looks whether the process that asks is still there."""

DYING = 1.0
"""Seconds in which a process that has closed its connection may tell how it ended."""

MOST_BYTES = 1 << 20
"""Bytes of a line: a report takes a few hundred, the names of an agent's files a few thousand."""

AT_ONCE = 1 << 16
"""Bytes that are read at a time."""

LONGEST_DETAIL = 500
"""Letters an error may have: an agent may put its whole table into one."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the agent's process ends itself, whoever else is left."""

_WORD = re.compile(rb"[0-9a-f]{16}")


class TooLong(Exception):
    """A line that has no end, or none in sight."""


class LineReader:
    """Whole lines out of pieces from somebody who may send anything; none is too long."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._rest = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes, without their ends.  Raise `TooLong`."""
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
    """Serve the process at the other end of the standard streams until it or the agent goes.

    A `scratch` folder is removed at the end, also if the process that asks was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking = os.getppid()
    questions, answers = take_streams()
    in_namespace = limits.enter_namespace()
    (heard, ask), (told, tell), (died, dying) = os.pipe(), os.pipe(), os.pipe()
    watcher = os.fork()
    if watcher == 0:
        for ours in (questions, answers, ask, told, died):
            os.close(ours)
        _watch(hosted, text, heard, tell, dying)
    for theirs in (heard, tell, dying):
        os.close(theirs)
    limits.forbid_inspection()
    os.set_blocking(ask, False)
    agent = os.read(died, 20)  # its number, where numbers mean the same to us
    here = "".join(_children(str(watcher))[:1]) if in_namespace else agent.decode()
    try:
        end = _Relay(questions, answers, ask, told, died, asking, here).run()
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
        self._from_host, self._from_agent = LineReader(), LineReader()
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
                    self._pass_back(self._from_agent.feed(piece), now)
                except (TooLong, _Unasked) as broken:
                    return f"broke the connection: it sent {broken}"
            elif self._died in ready:  # the watcher writes at once what it has to say
                return os.read(self._died, 100).decode() or "ended the process that watches it"
            elif now >= self._until:
                return "closed the connection"
            if self._questions in ready:
                piece = os.read(self._questions, AT_ONCE)
                if not piece:
                    return ""
                self._pass_on(self._from_host.feed(piece))

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
            left = b"%d,%d %s\n" % (took, waited, line)
            while left:
                left = left[os.write(self._answers, left) :]


class _Unasked(Exception):
    """An answer without its question."""


def _watch(hosted: str, text: str, heard: int, tell: int, dying: int) -> NoReturn:
    """Have the agent served by a child of this process, and tell how that one ended."""
    limits.exit_with_parent()
    if _is_broken(dying):  # the supervisor ended before we could say so
        os._exit(1)
    limits.offer_to_oom_killer()
    agent = os.fork()
    if agent == 0:
        try:
            os.close(dying)
            limits.exit_with_parent()
            os.setsid()
            serve(hosted, text, heard, tell)
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


def _is_broken(pipe: int) -> bool:
    """Return whether nobody reads from a pipe any more."""
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


# -- the agent's process ---------------------------------------------------------------------


class Hosted(Protocol):
    """What a host runs: made of a text, then loaded, then asked question after question."""

    def load(self) -> dict[str, Any]:
        """Get ready; return what there is to say about that."""

    @property
    def needs_own_process(self) -> bool:
        """Whether each game needs a process that has loaded it, and a fork of one will not do."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a question."""


def serve(hosted: str, text: str, reading: int, writing: int, before: bytes = b"") -> None:
    """Answer the questions that come from one file until there are no more.

    `hosted` is an import path such as ``package.module:Class``.  What is `before` each answer tells
    the process that reads it that there is no supervisor.

    The agent has the main thread, which is what it would have if it were run by itself.
    """
    limits.be_expendable()
    module, _, name = hosted.partition(":")
    kind = getattr(import_module(module), name)
    with os.fdopen(reading, "rb") as questions, os.fdopen(writing, "wb") as answers:
        _Server(kind(text), text, questions, answers, before).answer_all()


class _Server:
    """One agent: loaded, then asked about the positions of a game."""

    def __init__(
        self, hosted: Hosted, text: str, questions: IO[bytes], answers: IO[bytes], before: bytes
    ) -> None:
        self._hosted, self._text = hosted, text
        self._questions, self._answers, self._before = questions, answers, before
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._loaded = False
        self._forks = False  # whether each game gets a fork, and this process plays none

    def answer_all(self) -> bytes:
        """Answer until the game is over or nothing more is asked.

        Return the word of the question that ended the game, or nothing.
        """
        for line in self._questions:
            word, _, said = line.partition(b" ")
            question = json.loads(said)
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
        """Have a fork of this process serve a game; return the word of the question that ended it.

        If the fork dies first, so does this process, in the same way: then the supervisor tells.
        """

        def play(end: int) -> None:
            os.set_blocking(end, False)  # the agent may have filled it
            self._forks = False
            self._say(word, self._answer_in_time(question))
            os.write(end, self.answer_all())

        game = Fork(play)
        _, status = os.waitpid(game.pid, 0)
        with suppress(OSError):
            os.killpg(game.pid, signal.SIGKILL)  # what it has started ends with the game
        over = game.read_until(0.0, most=100)
        os.close(game.reading)
        return over if _WORD.fullmatch(over) else limits.exit_like(status)

    def _answer_in_time(self, question: dict[str, Any]) -> dict[str, Any]:
        limit = question["limit"]
        if limit is not None:
            # A thread of C: it needs no lock that an agent could hold for ever.
            faulthandler.dump_traceback_later(limit + LAST_RESORT, exit=True, file=self._nowhere)
        loads, self._loaded = not self._loaded, True
        try:
            answer = self._hosted.load() if loads else self._hosted.answer(question)
        except BaseException as error:  # whatever the agent does, it must not end the conversation
            return _failure(self._text, error)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if loads:
            own = self._hosted.needs_own_process
            self._forks = not self._before and not own and _is_alone()
            answer["forks"] = self._forks
        return answer


def _is_alone() -> bool:
    """Return whether nobody but us has started a thread in this process.

    The system is asked, for a library need not tell Python of its threads.  That of the stopwatch
    is begun anew in a fork, and the one that `faulthandler` had may take a moment to end.
    """
    stopwatch = sys.modules.get("knightfall.kernel.interrupt")  # not imported for this: it is slow
    name = None if stopwatch is None else stopwatch.THREAD
    ours = 1 + sum(thread.name == name for thread in threading.enumerate())
    for _ in range(50):
        try:
            threads = len(os.listdir("/proc/self/task"))
        except OSError:  # no such thing here
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
        detail = f"{text}: {type(error).__name__}: {detail}"  # such as a Ctrl-C that it made up
    return {"reason": reason, "detail": detail[:LONGEST_DETAIL]}


def _main(hosted: str, text: str, scratch: str = "") -> None:
    if hasattr(os, "fork"):
        supervise(hosted, text, scratch)
    serve(hosted, text, *take_streams(), before=b"- ")


if __name__ == "__main__":
    _main(*sys.argv[1:])
