"""The process that hosts an agent, as the process that asks it sees it (see `agent_host`).

The connection carries lines: a word that nobody can guess, then JSON; an answer begins with the
word of its question.  Code that runs in the agent's process can find out the word and answer in the
agent's place, which wins it nothing: every answer is checked by the `Reader` of its question, and
it could have moved like that anyway.
"""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from knightfall import reading
from knightfall.display.printable import storable
from knightfall.errors import AgentFailure, Failing, KnightfallError
from knightfall.isolation.agent_host import AT_ONCE, LineReader, TooLong
from knightfall.isolation.exit_status import describe_end
from knightfall.isolation.limits import agent_environment, submission_environment
from knightfall.isolation.run_isolated import pass_output, start_thread
from knightfall.isolation.scratch import scratch_of
from knightfall.machine import ENOUGH, core_share

GRACE = 0.5
"""Seconds after the limit in which an answer may still arrive: late, but told how late."""

STARTING = 120.0
"""Seconds until the agent must be ready: an interpreter, an import, perhaps a compilation."""

LOADING = 30.0
"""Seconds until a submission must be ready: it compiles nothing, but may import much."""

ENDING = 5.0
"""Seconds in which a supervisor ends what it supervises; it takes some milliseconds."""

MOST_WAITING = 8
"""Unread lines that are kept: a process that sends more is not listened to."""

NO_ANSWER, NOT_READY = "did not answer", "was not ready to play"

# "-" from one without a supervisor: then we take the time
_TIME = re.compile(rb"-|([0-9]{1,15}),([0-9]{1,15})")

CAUSED: tuple[Failing, ...] = ("timeout", "forfeit", "illegal", "crash")
"""What an agent can lose by; that it had no move left is for the rules to say."""

LONGEST_TEXT = 500
_FAILURE = {"reason": object, "detail": reading.Text(LONGEST_TEXT)}

Answer = TypeVar("Answer")
Reader = Callable[[dict[str, Any]], Answer]
"""Returns what an answer says, checked in every field; raises `Broken`."""


class Broken(Exception):
    """An answer that is not what it should be: what was sent instead."""


def check_answer(expected: Any, answer: Any) -> None:
    """Raise `Broken` if an answer does not have the expected shape (see `knightfall.reading`)."""
    try:
        reading.check(expected, answer)
    except KnightfallError as wrong:
        raise Broken(f"an answer in which {storable(str(wrong))}") from None


def read_answer(text: bytes) -> dict[str, Any]:
    """Return an answer as an object.  Raise the `AgentFailure` that it tells of."""
    try:
        answer: Any = reading.parse_json(text.decode("utf-8"), from_python=True)
    except ValueError:
        raise Broken("no JSON") from None
    if not isinstance(answer, dict):
        raise Broken("no object")
    if answer.keys() == _FAILURE.keys():
        reason = answer["reason"]
        if reason not in CAUSED:
            named = storable(reading.shown(reason))
            raise Broken(f"the reason {named}, which is none to lose by")
        check_answer(_FAILURE, answer)
        raise AgentFailure(reason, answer["detail"])
    return answer


def read_nothing(answer: dict[str, Any]) -> None:
    """Check an answer that says no more than that something is done."""
    check_answer({}, answer)


class Taken(NamedTuple):
    """The seconds that an answer took, and those of them spent waiting for a core."""

    seconds: float
    waited: float = 0.0

    def late_by_machine(self, limit: float | None) -> bool:
        """Return whether the answer was late, and would not have been on an idle machine."""
        return limit is not None and self.seconds - self.waited <= limit < self.seconds


class HostProcess:
    """A process that hosts one agent, game after game if it can.

    Each game begins with the state that loading the agent left behind.  A process that forks for
    each game (`forks`) can play any number of them, one at a time; any other can play one.

    `hosted` is the import path of what the process runs, made of `text`.  If it is a submission of
    the course, it works in a scratch copy of the folder `beside` which that lies, and inherits
    next to nothing.  What it prints is passed to `output`, in another thread, or is lost.
    """

    def __init__(
        self,
        hosted: str,
        text: str,
        beside: Path | None = None,
        output: Callable[[bytes], None] | None = None,
    ) -> None:
        self._text = text
        self._starting = STARTING if beside is None else LOADING
        scratch = None if beside is None else scratch_of(beside)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "knightfall.isolation.agent_host", hosted, text),
                *([] if scratch is None else [scratch]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if output is None else subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is not for it
            cwd=scratch,
            env=agent_environment() if scratch is None else submission_environment(scratch),
        )
        self._answers: _Answers = queue.SimpleQueue()
        # The threads must not know this object, or it would never be noticed that it is forgotten.
        start_thread(_read, self._process.stdout, self._answers)
        printing = start_thread(pass_output, self._process.stderr, output) if output else None
        self.end = weakref.finalize(self, _end, self._process, scratch, printing)
        self.ready = False
        self.forks = False
        self.playing = False
        self._ending = b""  # the word of a question that ended a game and was not answered yet
        self.taken = Taken(0.0)
        # Held itself, it would keep alive this object and whatever those who asked had in hand.
        self._failure: Callable[[], AgentFailure | None] = lambda: None
        self._beginning = self._send({}, self._starting)

    def begin(self) -> None:
        """Wait until the agent is loaded."""
        if not self.ready:
            self._receive(self._beginning, self._starting, self._read_loaded, NOT_READY)
            self.ready = True

    def _read_loaded(self, answer: dict[str, Any]) -> None:
        """Read what was said of loading; a subclass reads the rest."""
        forks = answer.pop("forks", None)
        check_answer({"forks": bool}, {"forks": forks})
        self.forks = forks is True

    def ask(self, question: dict[str, Any], limit: float | None, read: Reader[Answer]) -> Answer:
        """Return what is answered to a question; `taken` is then what that took.

        Raise an `AgentFailure` if the agent tells of one, breaks the rules of the conversation or
        does not answer within so many seconds.
        """
        return self._receive(self._send(question, limit), limit, read)

    def prepare(self, question: dict[str, Any]) -> None:
        """Have the agent get ready for something, between two games."""
        word = self._send(question, self._starting)
        self._receive(word, self._starting, read_nothing, NOT_READY)

    # -- games -----------------------------------------------------------------------------

    def new_game(self, **what: Any) -> None:
        """Begin a game, after the end of the one before."""
        if not self.end_game():
            raise ValueError("a process that does not fork plays one game")
        if not self.has_ended_game():
            raise AgentFailure("crash", f"{self._text} did not end its last game")
        self.playing = True
        self.prepare({"ask": "game", **what})

    def end_game(self) -> bool:
        """End the game, if there is one, and wait for nothing.

        Return whether the process can play another; ask `has_ended_game` before it does.
        """
        if not self.playing:
            return True
        if not self.forks:
            return False
        self.playing = False
        self._ending = self._send({"ask": "over"}, ENDING)
        return True

    def has_ended_game(self) -> bool:
        """Wait until the last game has ended, if it has not; return whether it did as it should."""
        word, self._ending = self._ending, b""
        if word:
            with suppress(AgentFailure):
                self._receive(word, ENDING, read_nothing)
                return True
        return not word

    # -- the conversation ------------------------------------------------------------------

    def _send(self, question: dict[str, Any], limit: float | None) -> bytes:
        """Ask something; return the word that the answer must begin with."""
        word = secrets.token_hex(8).encode()
        assert self._process.stdin is not None
        with suppress(OSError):  # a dead one does not listen; its answer will be no answer
            line = json.dumps({**question, "limit": limit}).encode()
            self._process.stdin.write(word + b" " + line + b"\n")
        return word

    def _receive(
        self, word: bytes, limit: float | None, read: Reader[Answer], complaint: str = NO_ANSWER
    ) -> Answer:
        asked = time.monotonic()
        try:
            came, line = self._answers.get(timeout=None if limit is None else limit + GRACE)
        except queue.Empty:
            late = f"{self._text} {complaint} within {limit:g} s"
            starved = complaint == NO_ANSWER and core_share() < ENOUGH
            raise AgentFailure("timeout", late, starved) from None
        try:
            said, self.taken = self._parse(word, line, came - asked)
            try:
                answer = read_answer(said)
            except AgentFailure as failure:
                failure.starved = failure.reason == "timeout" and self.taken.late_by_machine(limit)
                self._failure = weakref.ref(failure)
                raise
            return read(answer)
        except Broken as broken:  # which costs the game
            sent = f"{self._text} broke the connection: it sent {broken}"
            raise AgentFailure("crash", sent) from None

    def _parse(self, word: bytes, line: bytes | None, seconds: float) -> tuple[bytes, Taken]:
        """Return the JSON of an answer, and what it took; `seconds` are by our own clock."""
        if line is None:
            raise Broken(f"nothing more: its process {describe_end(self._process)}")
        if line.startswith(b"! "):
            raise AgentFailure("crash", f"{self._text} {line[2:].decode(errors='replace')}")
        microseconds, named, said = b"", b"", b""
        if line.count(b" ") >= 2:
            microseconds, named, said = line.split(b" ", 2)
        times = _TIME.fullmatch(microseconds)
        if named != word or not times:
            raise Broken("what nobody had asked for")
        if microseconds == b"-":
            return said, Taken(seconds)
        return said, Taken(int(times[1]) / 1e6, int(times[2]) / 1e6)

    def told_of(self, failure: AgentFailure) -> bool:
        """Return whether the process itself has told of an error, and can go on after it.

        That is so if a heuristic raised it; one that does not return holds up a thread for ever.
        """
        return self.ready and failure is self._failure() and failure.reason == "crash"


_Answers = queue.SimpleQueue[tuple[float, bytes | None]]


def _read(stream: IO[bytes], said: _Answers) -> None:
    """Pass on line by line, with the time; None when there is nothing more to come."""
    lines = LineReader()
    with stream, suppress(OSError, TooLong):
        while (piece := stream.read(AT_ONCE)) and said.qsize() < MOST_WAITING:
            for line in lines.feed(piece):
                said.put((time.monotonic(), line))
    said.put((time.monotonic(), None))


def _end(
    process: subprocess.Popen[bytes], scratch: str | None, printing: threading.Thread | None
) -> None:
    """Wait until a process and whatever it started has ended, and all that it printed has arrived.

    The process ends when its input does.
    """
    with suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()
    try:
        process.wait(timeout=ENDING if hasattr(os, "fork") else 0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if printing is not None:
        printing.join(1.0)  # a process that has got away may hold the stream
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
