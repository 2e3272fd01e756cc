"""An agent in a process of its own: it may hang, die or print, and loses no more than its game.

Parent and child exchange lines of JSON.  The child keeps its standard streams to itself: what the
agent prints goes nowhere, what it reads is empty, and it ends when its parent does.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, Any

from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.errors import AgentFailure
from knightfall.position import Position
from knightfall.search.report import Report

PATIENCE = 60.0
"""Seconds a user's code may take for a move if its budget does not say."""

PATIENT_NODES, LONGEST = 50_000, 24 * 3600.0
"""Whoever may visit more nodes than these has more time, in proportion, up to a day."""

GRACE = 0.5
"""Seconds after the limit in which an answer may still arrive: late, but told how late."""

STARTING = 120.0
"""Seconds until the agent must be ready: an interpreter, an import, perhaps a compilation."""

WELL = ("forfeit", "illegal")
"""Failures after which a process is as good as before: it answered, if with no move."""

MOST_HOSTS = 8
"""Processes one thread keeps; the one not asked for longest has to go."""


class Hosted:
    """A player whose moves are made by a process of its own.

    `analyse` raises an `AgentFailure` whatever goes wrong there, and after an error, a death or a
    timeout the next question goes to a fresh process.  Processes are kept by agent and thread, so
    that games share them.
    """

    def __init__(self, agent: Agent, patience: float = PATIENCE) -> None:
        self._seed = agent.seed
        self._key = str(replace(agent, seed=0))  # the seed comes with the question
        self._limit = move_limit(agent, patience)

    def prepare(self, board: Board | None = None) -> Hosted:
        """Have the agent loaded and ready for a board, so that the first move is not slow."""
        with self._process() as child:
            if board is not None:
                child.prepare(board)
            return self

    def files(self) -> list[str]:
        """The user's files that decide what the agent does; nothing of them is run here."""
        with self._process() as child:
            return child.files

    def analyse(self, position: Position) -> Report:
        """The agent's move; `Report.seconds` is what the agent took, without the way there."""
        with self._process() as child:
            report = child.ask(position, self._seed, self._limit)
            if report.move not in position.legal_moves:  # an agent may confuse even its own process
                raise AgentFailure("illegal", f"{report.move:.60} is no legal move")
            return report

    def close(self) -> None:
        """End this thread's process for the agent, if there is one."""
        child = _hosts.kept.pop(self._key, None)
        if child is not None:
            child.end()

    @contextmanager
    def _process(self) -> Iterator[_Child]:
        """This thread's process for the agent, ready to be asked; kept while it is well."""
        child = _hosts.kept.pop(self._key, None) or _Child(self._key)
        try:
            child.begin()
            yield child
        except AgentFailure as failure:
            if failure.reason in WELL:
                self._keep(child)
            else:
                child.end()
            raise
        except BaseException:
            child.end()
            raise
        self._keep(child)

    def _keep(self, child: _Child) -> None:
        _hosts.kept[self._key] = child
        while len(_hosts.kept) > MOST_HOSTS:
            _hosts.kept.popitem(last=False)[1].end()


def move_limit(agent: Agent, patience: float = PATIENCE) -> float | None:
    """How many seconds the agent may take for a move; None if it surely comes to an end."""
    if agent.budget.seconds is not None:
        return agent.budget.seconds
    if not agent.has_users_code:
        return None
    return min(patience * max(1.0, (agent.budget.nodes or 0) / PATIENT_NODES), LONGEST)


# -- the parent's side ---------------------------------------------------------------------


class _Kept(threading.local):
    """The processes of a thread.  They end when the thread does, for nobody else knows them."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, _Child] = OrderedDict()


_hosts = _Kept()


class _Child:
    """A process that serves one agent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "knightfall.arena.game.agent_server", text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is not for it; and what it starts can be ended with it
        )
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # The thread must not know the child, or nobody would ever notice that it is forgotten.
        reading = (self._process.stdout, self._answers)
        threading.Thread(target=_read, args=reading, name="knightfall-host", daemon=True).start()
        self.end = weakref.finalize(self, _end, self._process)
        self._questions = 0
        self._ready = False
        self._boards: set[Board] = set()
        self.files: list[str] = []

    def begin(self) -> None:
        """Wait until the agent is loaded."""
        if not self._ready:
            self.files = self._answer(STARTING, "was not ready to play")["files"]
            self._ready = True

    def prepare(self, board: Board) -> None:
        """Wait until the agent is ready for a board."""
        if board not in self._boards:
            self._boards.add(board)
            self._send({"board": [board.width, board.height], "limit": STARTING})
            self._answer(STARTING, "was not ready to play")

    def ask(self, position: Position, seed: int, limit: float | None) -> Report:
        """The answer to one question."""
        fen, last = position.fen, position.last
        self._send({"fen": fen, "last": last, "seed": seed, "limit": limit})
        report = self._answer(limit, "did not answer")["report"]
        return Report(**{**report, "pv": tuple(report["pv"])})

    def _send(self, question: dict[str, Any]) -> None:
        self._questions += 1
        assert self._process.stdin is not None
        with suppress(OSError):  # a dead one does not listen; its answer will be no answer
            line = json.dumps({"number": self._questions, **question})
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def _answer(self, limit: float | None, complaint: str) -> dict[str, Any]:
        until = None if limit is None else time.monotonic() + limit + GRACE
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            try:
                line = self._answers.get(timeout=left)
            except queue.Empty:
                late = f"{self._text} {complaint} within {limit:g} s"
                raise AgentFailure("timeout", late) from None
            if line is None:
                raise AgentFailure("crash", f"{self._text} {self._obituary()}")
            try:
                answer: dict[str, Any] = json.loads(line)
            except ValueError:
                continue  # half a line: it died while it spoke
            if answer["number"] != self._questions:
                continue  # from a copy that the agent made of itself
            if "reason" in answer:
                raise AgentFailure(answer["reason"], answer["detail"])
            return answer

    def _obituary(self) -> str:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed the connection"
        if status < 0:
            return f"died with signal {-status}"
        return f"ended its process with exit status {status}"


def _read(stream: IO[bytes], answers: queue.SimpleQueue[bytes | None]) -> None:
    """Pass on line by line; None when there is nothing more to come."""
    with stream, suppress(OSError):
        for line in stream:
            answers.put(line)
    answers.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)
