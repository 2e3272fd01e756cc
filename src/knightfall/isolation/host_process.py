"""The client side of an agent's process: start it, send requests, and validate the answers.

The connection carries lines: a random token, then JSON; an answer begins with the token of its
request.  User code in the agent's process can find the token and answer in the agent's place, but
gains nothing by it: every answer is validated by the `Reader` of its request, and the agent could
have made the same move anyway.
"""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from knightfall import untrusted_input
from knightfall.display.printable import storable
from knightfall.errors import AgentFailure, Failing, KnightfallError
from knightfall.isolation import sandbox
from knightfall.isolation.limits import agent_environment, submission_environment
from knightfall.isolation.run_isolated import describe_end, pass_output, start_thread
from knightfall.isolation.scratch_folder import remove_folder, scratch_of
from knightfall.isolation.supervisor import AT_ONCE, LineReader, Orders, TooLong
from knightfall.processor_cores import ENOUGH, core_share
from knightfall.user_folders import cache_folder, data_folder

GRACE = 0.5
"""Seconds after the limit in which a late answer is still received, to report how late it was."""

STARTING = 120.0
"""Seconds until the agent must be ready: an interpreter, imports, perhaps a compilation."""

LOADING = 30.0
"""Seconds until a submission must be ready: it compiles nothing, but may import much."""

ENDING = 5.0
"""Seconds that a supervisor may take to end its processes; it usually takes milliseconds."""

MOST_WAITING = 8
"""Unread lines that are kept; a process that sends more is no longer read."""

NO_ANSWER, NOT_READY = "did not answer", "was not ready to play"

# "-" from a process without a supervisor: then the time is measured here
_TIME = re.compile(rb"-|([0-9]{1,15}),([0-9]{1,15})(\??)")

CAUSED: tuple[Failing, ...] = ("timeout", "forfeit", "illegal", "crash")
"""The failures that an agent may report; the loss by "no moves" follows from the rules."""

LONGEST_TEXT = 500
_FAILURE = {"reason": object, "detail": untrusted_input.Text(LONGEST_TEXT)}

Answer = TypeVar("Answer")
Reader = Callable[[dict[str, Any]], Answer]
"""Returns the validated content of an answer; raises `Broken` if it is invalid."""


class Broken(Exception):
    """Raised for an invalid answer; the message describes what was received instead."""


def check_answer(expected: Any, answer: Any) -> None:
    """Raise `Broken` if an answer does not fit a schema; see `knightfall.untrusted_input`."""
    try:
        untrusted_input.check(expected, answer)
    except KnightfallError as wrong:
        raise Broken(storable(str(wrong))) from None


def read_answer(text: bytes) -> dict[str, Any]:
    """Parse an answer.  Raise the `AgentFailure` that it reports, or `Broken`."""
    try:
        answer: Any = untrusted_input.parse_json(text.decode("utf-8"), from_python=True)
    except ValueError:
        raise Broken("not JSON") from None
    if not isinstance(answer, dict):
        raise Broken("not a JSON object")
    if answer.keys() == _FAILURE.keys():
        reason = answer["reason"]
        if reason not in CAUSED:
            named = storable(untrusted_input.shown(reason))
            raise Broken(f"the unknown failure reason {named}; expected {', '.join(CAUSED)}")
        check_answer(_FAILURE, answer)
        raise AgentFailure(reason, answer["detail"])
    return answer


def read_nothing(answer: dict[str, Any]) -> None:
    """Raise `Broken` unless an answer is empty: it should only confirm that the request is done."""
    check_answer({}, answer)


class Taken(NamedTuple):
    """The seconds that an answer took, and how many of them were spent waiting for a core.

    Not `certain` if processes of the agent, which have ended, may have had that core.
    """

    seconds: float
    waited: float = 0.0
    certain: bool = True

    def late_by_machine(self, limit: float | None) -> bool:
        """Return whether the answer missed the limit only because its process waited for a core."""
        return limit is not None and self.seconds - self.waited <= limit < self.seconds


class PrivateCopy(NamedTuple):
    """A scratch folder with copies of an agent's files, made for one process.

    `text` names the agent in this folder; `originals` maps prefixes of paths in it to those that
    are shown instead.
    """

    folder: str
    text: str
    originals: dict[str, str]
    working_folder: str | None = None
    """The process's working folder, if it is not that of this process."""

    def restore(self, answer: bytes) -> bytes:
        """Return a JSON text with the paths of copies replaced by those of the originals."""
        for prefix, original in self.originals.items():
            answer = answer.replace(_in_json(prefix), _in_json(original))
        return answer


def _in_json(path: str) -> bytes:
    """Return a path as a part of a JSON string."""
    return json.dumps(path)[1:-1].encode()


class HostProcess:
    """A process that hosts one agent; if it can fork, it plays one game after another.

    Each game begins with the state after loading the agent.  A process that forks for each game
    (`forks`) can play any number of them, one at a time; any other can play one.

    `hosted` is the import path of the class that the process runs, constructed with `text`.  A
    submission of the course has the file `beside`: it runs in a scratch copy of that file's folder,
    inherits few environment variables, and may use little memory.  With a `copy` the process
    gets the paths of the copied files only, and the copy is removed at the end.  What the process
    prints is passed to `output`, in another thread, or discarded.

    The process runs in a sandbox, in which it can read the `readable` folders, unless it is
    `trusted` because it runs no user's code.
    """

    def __init__(
        self,
        hosted: str,
        text: str,
        beside: Path | None = None,
        output: Callable[[bytes], None] | None = None,
        copy: PrivateCopy | None = None,
        readable: Sequence[str] = (),
        trusted: bool = False,
    ) -> None:
        self._text, self._copy = text, copy
        self._starting = STARTING if beside is None else LOADING
        scratch: str | None = None
        if copy is not None:
            text, scratch = copy.text, copy.folder
        elif beside is not None:
            scratch = scratch_of(beside)
        working_folder = copy.working_folder if copy is not None else scratch
        kept = str(cache_folder().resolve())
        orders = Orders(
            "" if trusted else sandbox.kind(),
            hosted,
            text,
            limited=beside is not None,
            scratch=scratch or "",
            place="" if beside is None or copy is not None else str(beside.parent),
            readable=[*readable, os.path.join(kept, "machine-code")],
            hidden=[kept, str(data_folder().resolve())],
        )
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "knightfall.isolation.supervisor", *orders.words()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if output is None else subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # so that Ctrl-C does not reach it
            cwd=working_folder,
            env=agent_environment()
            if beside is None or scratch is None
            else submission_environment(scratch),
        )
        self._answers: _Answers = queue.SimpleQueue()
        # The threads must not refer to this object, or it would never be garbage-collected.
        start_thread(_read, self._process.stdout, self._answers)
        printing = start_thread(pass_output, self._process.stderr, output) if output else None
        self.end = weakref.finalize(self, _end, self._process, scratch, printing)
        self.ready = False
        self.forks = False
        self.playing = False
        self._ending = b""  # the token of an unanswered request that ends a game
        self.taken = Taken(0.0)
        # A weak reference: the traceback would keep this object and its callers' locals alive.
        self._failure: Callable[[], AgentFailure | None] = lambda: None
        self._beginning = self._send({}, self._starting)

    def begin(self) -> None:
        """Wait until the agent is loaded."""
        if not self.ready:
            self._receive(self._beginning, self._starting, self._read_loaded, NOT_READY)
            self.ready = True

    def _read_loaded(self, answer: dict[str, Any]) -> None:
        """Validate the answer that confirms loading; a subclass also validates its own fields."""
        forks = answer.pop("forks", None)
        check_answer({"forks": bool}, {"forks": forks})
        self.forks = forks is True

    def ask(self, question: dict[str, Any], limit: float | None, read: Reader[Answer]) -> Answer:
        """Return the answer to a request, and store in `taken` how long it took.

        Raise an `AgentFailure` if the agent reports one, sends an invalid answer, or does not
        answer within `limit` seconds.
        """
        return self._receive(self._send(question, limit), limit, read)

    def prepare(self, question: dict[str, Any]) -> None:
        """Send a preparatory request between two games, and wait until it is done."""
        word = self._send(question, self._starting)
        self._receive(word, self._starting, read_nothing, NOT_READY)

    # -- games -----------------------------------------------------------------------------

    def new_game(self, **what: Any) -> None:
        """Begin a game, after the end of the previous one."""
        if not self.end_game():
            raise ValueError("this process does not fork, so it can play only one game")
        if not self.has_ended_game():
            raise AgentFailure("crash", f"{self._text} did not end its last game in time")
        self.playing = True
        self.prepare({"ask": "game", **what})

    def end_game(self) -> bool:
        """End the game, if there is one, without waiting.

        Return whether the process can play another one; call `has_ended_game` before that.
        """
        if not self.playing:
            return True
        if not self.forks:
            return False
        self.playing = False
        self._ending = self._send({"ask": "over"}, ENDING)
        return True

    def has_ended_game(self) -> bool:
        """Wait until the last game has ended; return whether it ended properly."""
        word, self._ending = self._ending, b""
        if word:
            with suppress(AgentFailure):
                self._receive(word, ENDING, read_nothing)
                return True
        return not word

    # -- requests and answers --------------------------------------------------------------

    def _send(self, question: dict[str, Any], limit: float | None) -> bytes:
        """Send a request; return the token that the answer must begin with."""
        word = secrets.token_hex(8).encode()
        assert self._process.stdin is not None
        with suppress(OSError):  # if the process is dead, `_receive` reports it
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
            starved = self._end_and_measure() and complaint == NO_ANSWER
            raise AgentFailure("timeout", late, starved) from None
        try:
            content, self.taken = self._parse(word, line, came - asked)
            if self._copy is not None:
                content = self._copy.restore(content)
            try:
                answer = read_answer(content)
            except AgentFailure as failure:
                failure.starved = failure.reason == "timeout" and self.was_starved(limit)
                self._failure = weakref.ref(failure)
                raise
            return read(answer)
        except Broken as broken:
            raise AgentFailure("crash", f"{self._text} sent an invalid answer: {broken}") from None

    def _parse(self, word: bytes, line: bytes | None, seconds: float) -> tuple[bytes, Taken]:
        """Return an answer's JSON text, and its timing; `seconds` is the time measured here."""
        if line is None:
            ended = describe_end(self._process)
            raise AgentFailure("crash", f"{self._text} sent no answer: its process {ended}")
        if line.startswith(b"! "):
            raise AgentFailure("crash", f"{self._text} {line[2:].decode(errors='replace')}")
        microseconds, named, content = b"", b"", b""
        if line.count(b" ") >= 2:
            microseconds, named, content = line.split(b" ", 2)
        times = _TIME.fullmatch(microseconds)
        if named != word or not times:
            raise Broken("an answer to no request")
        if microseconds == b"-":
            return content, Taken(seconds)
        return content, Taken(int(times[1]) / 1e6, int(times[2]) / 1e6, not times[3])

    def was_starved(self, limit: float | None) -> bool:
        """Return whether the last answer was late only because the process waited for a core.

        If that is not certain, end the process and measure whether others use the cores.
        """
        late = self.taken.late_by_machine(limit)
        return self._end_and_measure() if late and not self.taken.certain else late

    def _end_and_measure(self) -> bool:
        """End the process, and return whether others use the cores: it might use them itself."""
        self.end()
        return core_share() < ENOUGH

    def reported(self, failure: AgentFailure) -> bool:
        """Return whether the process itself reported the failure, and can go on after it.

        This is so if a heuristic raised an exception, but not if it does not return, because it
        then blocks a thread for ever.
        """
        return self.ready and failure is self._failure() and failure.reason == "crash"


_Answers = queue.SimpleQueue[tuple[float, bytes | None]]


def _read(stream: IO[bytes], lines: _Answers) -> None:
    """Queue each line with its time of arrival, and None at the end of the stream."""
    splitter = LineReader()
    with stream, suppress(OSError, TooLong):
        while (piece := stream.read(AT_ONCE)) and lines.qsize() < MOST_WAITING:
            for line in splitter.feed(piece):
                lines.put((time.monotonic(), line))
    lines.put((time.monotonic(), None))


def _end(
    process: subprocess.Popen[bytes], scratch: str | None, printing: threading.Thread | None
) -> None:
    """Wait until a process and its descendants have ended, and its output has arrived.

    The process ends when its input is closed.
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
        printing.join(1.0)  # an escaped process may hold the stream open
    if scratch is not None:
        remove_folder(scratch)
