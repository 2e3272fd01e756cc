"""The process that an agent has to itself, seen from outside.

The connection carries lines: a word that nobody can guess, then JSON; an answer begins with the
word of its question.  Code that runs in the agent's process can find out the word and answer in the
agent's place, which wins it nothing: what it says is checked as any answer is
(`knightfall.arena.game.answers`), and it could have moved like that anyway.
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
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from knightfall.arena.game import answers
from knightfall.arena.game.lines import AT_ONCE, Lines, TooLong
from knightfall.board import Board
from knightfall.errors import AgentFailure
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.limits import agent_environment, submission_environment
from knightfall.machine import ENOUGH, core_share
from knightfall.position import Position, Side
from knightfall.search.budget import Report

GRACE = 0.5
"""Seconds after the limit in which an answer may still arrive: late, but told how late."""

STARTING = 120.0
"""Seconds until the agent must be ready: an interpreter, an import, perhaps a compilation."""

NO_ANSWER = "did not answer"

ENDING = 5.0
"""Seconds in which a supervisor ends what it supervises; it takes some milliseconds."""

MOST_WAITING = 8
"""Lines nobody has asked for that are kept: whoever says more is not listened to."""

# "-" from one without a supervisor: then we take the time
_TIME = re.compile(rb"-|([0-9]{1,15}),([0-9]{1,15})")
_SERVER = "supervisor" if hasattr(os, "fork") else "agent_server"


NOT_READY = "was not ready to play"

LOADING = 30.0
"""Seconds until a submission must be ready: it compiles nothing, but may import much."""


class Taken(NamedTuple):
    """The seconds that an answer took, and those of them spent waiting for a core."""

    seconds: float
    waited: float = 0.0

    def late_by_machine(self, limit: float | None) -> bool:
        """Return whether the answer was late, and would not have been on an idle machine."""
        return limit is not None and self.seconds - self.waited <= limit < self.seconds


class Child:
    """A process that serves one agent, game after game if it can.

    Each game begins with the state that loading the agent left behind.  A process that forks for
    each game (`forks`) can play any number of them, one at a time; any other can play one.

    One that runs a submission of the course works in a scratch copy of the folder `beside` which
    that lies, and inherits next to nothing.
    """

    def __init__(self, text: str, beside: Path | None = None) -> None:
        self._text = text
        self._starting = STARTING if beside is None else LOADING
        scratch = None if beside is None else scratch_of(beside)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", f"knightfall.arena.game.{_SERVER}", text),
                *([] if scratch is None else [scratch]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is not for it
            cwd=scratch,
            env=agent_environment() if scratch is None else submission_environment(scratch),
        )
        self._answers: _Answers = queue.SimpleQueue()
        # The thread must not know the child, or nobody would ever notice that it is forgotten.
        reading = (self._process.stdout, self._answers)
        threading.Thread(target=_read, args=reading, name="knightfall-host", daemon=True).start()
        self.end = weakref.finalize(self, _end, self._process, scratch)
        self.ready = False
        self.forks = False
        self._ending = b""  # the word of a question that ended a game and was not answered yet
        self.taken = Taken(0.0)
        self._boards: set[Board] = set()
        self._game: tuple[int, Position | None] | None = None  # its seed, what was asked last
        self.files: list[str] = []
        self.warnings: list[str] = []
        # Held itself, it would keep alive this child and whatever those who asked had in hand.
        self._failure: Callable[[], AgentFailure | None] = lambda: None
        self._beginning = self._send({}, self._starting)

    def begin(self) -> None:
        """Wait until the agent is loaded."""
        if not self.ready:
            answer, _ = self._answer(self._beginning, self._starting, NOT_READY)
            with self._believing():
                self.files, self.warnings, self.forks = answers.loaded(answer)
            self.ready = True

    def prepare(self, board: Board) -> None:
        """Wait until the agent is ready for a board; during a game it is left as it is."""
        if board not in self._boards and self._game is None and self.has_ended_game():
            self._boards.add(board)
            size = [board.width, board.height]
            word = self._send({"ask": "board", "board": size}, self._starting)
            answer, _ = self._answer(word, self._starting, NOT_READY)
            with self._believing():
                answers.nothing(answer)

    def new_game(self, seed: int, side: Side) -> None:
        """Begin a game, in which the agent plays one side, after the end of the one before."""
        if not self.end_game():
            raise ValueError("a process that does not fork plays one game")
        if not self.has_ended_game():
            raise AgentFailure("crash", f"{self._text} did not end its last game")
        self._game = seed, None
        begun = {"ask": "game", "seed": seed, "side": side}
        answer, _ = self._answer(self._send(begun, self._starting), self._starting, NOT_READY)
        with self._believing():
            answers.nothing(answer)

    def end_game(self) -> bool:
        """End the game, if there is one, and wait for nothing.

        Return whether the process can play another; ask `has_ended_game` before it does.
        """
        if self._game is None:
            return True
        if not self.forks:
            return False
        self._game = None
        self._ending = self._send({"ask": "over"}, ENDING)
        return True

    def has_ended_game(self) -> bool:
        """Wait until the last game has ended, if it has not; return whether it did as it should."""
        word, self._ending = self._ending, b""
        if word:
            with suppress(AgentFailure, answers.Broken):
                answers.nothing(self._answer(word, ENDING)[0])
                return True
        return not word

    def plays(self, position: Position, seed: int) -> bool:
        """Return whether the position comes two plies after the one asked last, in its game."""
        if self._game is None or self._game[1] is None or self._game[0] != seed:
            return False
        before = self._game[1]
        if (before.board, before.to_move) != (position.board, position.to_move):
            return False
        return position.open < before.open and len(before.open) - len(position.open) == 2

    def can_play(self, position: Position, seed: int) -> bool:
        """Return whether it can be asked about a position: in its game, or in a fresh one."""
        return self._game is None or self.forks or self.plays(position, seed)

    def ask(self, position: Position, seed: int, limit: float | None) -> Report:
        """Return the agent's report on a position; `taken` is then what that took.

        A position that does not go on with the game begins another.
        """
        if not self.plays(position, seed):
            self.new_game(seed, position.to_move)
        self._game = seed, position
        asked = {"ask": "move", "fen": position.fen, "last": position.last}
        answer, self.taken = self._answer(self._send(asked, limit), limit)
        with self._believing():
            return answers.reported(answer, position, self.taken.seconds)

    def measure(
        self, position: Position, side: Side | None, steps: int | None, limit: float | None
    ) -> tuple[float, bool]:
        """The heuristic's value of a position."""
        if self._game is None:
            self.new_game(0, "w")
        asked = {"ask": "value", "fen": position.fen, "side": side, "steps": steps}
        answer, _ = self._answer(self._send(asked, limit), limit)
        with self._believing():
            return answers.valued(answer)

    def act(self, state: tuple[int, int, Any], seed: int, limit: float) -> int:
        """The action in a position of the successor's game."""
        asked = {"ask": "action", "state": state, "seed": seed}
        answer, _ = self._answer(self._send(asked, limit), limit)
        with self._believing():
            return answers.acted(answer)

    def opinions(self, position: Position, limit: float) -> dict[str, float | None]:
        """What a submission's score says of each move."""
        answer, _ = self._answer(self._send({"ask": "opinions", "fen": position.fen}, limit), limit)
        with self._believing():
            return answers.opinions(answer, position)

    def answer_line(self, position: Position, seed: int, limit: float) -> str:
        """Return the line of a submission's code from which its answer comes; "" if unknown."""
        question = {"ask": "line", "fen": position.fen, "seed": seed}
        answer, _ = self._answer(self._send(question, limit), limit)
        with self._believing():
            return answers.line(answer)

    def asks_other_clocks(self, position: Position, limit: float) -> bool:
        """Return whether a submission, by ticks, asks Python's clocks as well."""
        question = {"ask": "clocks", "fen": position.fen}
        answer, _ = self._answer(self._send(question, limit), limit)
        with self._believing():
            return answers.clocks(answer)

    def _send(self, question: dict[str, Any], limit: float | None) -> bytes:
        """Ask something; the word that the answer must begin with."""
        word = secrets.token_hex(8).encode()
        assert self._process.stdin is not None
        with suppress(OSError):  # a dead one does not listen; its answer will be no answer
            line = json.dumps({**question, "limit": limit}).encode()
            self._process.stdin.write(word + b" " + line + b"\n")
        return word

    def _answer(
        self, word: bytes, limit: float | None, complaint: str = NO_ANSWER
    ) -> tuple[dict[str, Any], Taken]:
        """Return what is answered, and what it took; raise the `AgentFailure` if that is one."""
        asked = time.monotonic()
        try:
            came, line = self._answers.get(timeout=None if limit is None else limit + GRACE)
        except queue.Empty:
            late = f"{self._text} {complaint} within {limit:g} s"
            starved = complaint == NO_ANSWER and core_share() < ENOUGH
            raise AgentFailure("timeout", late, starved) from None
        with self._believing():
            if line is None:
                raise answers.Broken(f"nothing more: its process {self._obituary()}")
            if line.startswith(b"! "):
                raise AgentFailure("crash", f"{self._text} {line[2:].decode(errors='replace')}")
            microseconds, named, said = b"", b"", b""
            if line.count(b" ") >= 2:
                microseconds, named, said = line.split(b" ", 2)
            times = _TIME.fullmatch(microseconds)
            if named != word or not times:
                raise answers.Broken("what nobody had asked for")
            taken = Taken(came - asked)
            if microseconds != b"-":
                taken = Taken(int(times[1]) / 1e6, int(times[2]) / 1e6)
            try:
                return answers.read_answer(said), taken
            except AgentFailure as failure:
                failure.starved = failure.reason == "timeout" and taken.late_by_machine(limit)
                self._failure = weakref.ref(failure)
                raise

    def told_of(self, failure: AgentFailure) -> bool:
        """Whether it is an error that the process itself has told of, and can go on after.

        That is so if a heuristic raised it; one that does not return holds up a thread for ever.
        """
        return self.ready and failure is self._failure() and failure.reason == "crash"

    @contextmanager
    def _believing(self) -> Iterator[None]:
        """Have a broken answer cost the game."""
        try:
            yield
        except answers.Broken as broken:
            said = f"{self._text} broke the connection: it sent {broken}"
            raise AgentFailure("crash", said) from None

    def _obituary(self) -> str:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed the connection"
        return describe_exit(status)


_Answers = queue.SimpleQueue[tuple[float, bytes | None]]


def _read(stream: IO[bytes], said: _Answers) -> None:
    """Pass on line by line, with the time; None when there is nothing more to come."""
    lines = Lines()
    with stream, suppress(OSError, TooLong):
        while (piece := stream.read(AT_ONCE)) and said.qsize() < MOST_WAITING:
            for line in lines.fed(piece):
                said.put((time.monotonic(), line))
    said.put((time.monotonic(), None))


def scratch_of(file: Path) -> str:
    """A new folder with a copy of a file and of what lies beside it."""
    from knightfall.isolation.scratch import copy_beside

    folder = tempfile.mkdtemp(prefix="knightfall-")
    try:
        copy_beside(file, Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _end(process: subprocess.Popen[bytes], scratch: str | None = None) -> None:
    """End a process and whatever it started: it does so itself when nobody talks to it any more."""
    with suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()
    try:
        process.wait(timeout=ENDING if _SERVER == "supervisor" else 0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
