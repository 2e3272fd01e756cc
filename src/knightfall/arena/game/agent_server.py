"""The other side of `agent_process`: the process in which an agent thinks.

It loads the agent once.  Each game is then played by a fork of it, so that every game begins with
the state that loading left behind, whatever was remembered in the games before.  A module that has
started threads while it was loaded cannot be forked safely: its process plays one game and ends.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from typing import IO, Any

from knightfall.agents import Agent, parse_agent
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.limits import be_expendable, exit_like, exit_with_parent
from knightfall.isolation.run_isolated import silence_stdio
from knightfall.position import Position

LONGEST_DETAIL = 500
"""Letters an error may have: an agent may put its whole table into one."""

MOST_WARNINGS = 10

_WORD = re.compile(rb"[0-9a-f]{16}")

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the process ends itself, whoever else is left."""


def serve(text: str, reading: int, answering: int, before: bytes = b"") -> None:
    """Answer the questions that come from one file until there are no more.

    What is `before` each answer tells whoever hears it that there is no supervisor.

    The agent has the main thread, which is what it would have if it were run by itself.
    """
    be_expendable()
    with os.fdopen(reading, "rb") as questions, os.fdopen(answering, "wb") as answers:
        _Server(text, questions, answers, before).answer_all()


class _Server:
    """One agent: loaded, then asked about the positions of a game."""

    def __init__(
        self, text: str, questions: IO[bytes], answers: IO[bytes], before: bytes = b""
    ) -> None:
        self._text = text
        self._questions, self._answers, self._before = questions, answers, before
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._agent: Agent | None = None
        self._player: Any = None  # what `Agent.new_game` gave
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
        ended, end = os.pipe()
        for file in (ended, end):  # somebody else may write to it, or hold it open
            os.set_blocking(file, False)
        game = os.fork()
        if game == 0:
            try:
                os.close(ended)
                exit_with_parent()
                os.setsid()  # what it starts is in its process group, and ends with the game
                self._forks = False
                self._say(word, self._answer_in_time(question))
                os.write(end, self.answer_all())
            finally:
                os._exit(0)
        os.close(end)
        _, status = os.waitpid(game, 0)
        with suppress(OSError):
            os.killpg(game, signal.SIGKILL)
        over = b""
        with suppress(BlockingIOError):
            over = os.read(ended, 100)
        os.close(ended)
        return over if _WORD.fullmatch(over) else exit_like(status)

    def _answer_in_time(self, question: dict[str, Any]) -> dict[str, Any]:
        limit = question["limit"]
        if limit is not None:
            # A thread of C: it needs no lock that an agent could hold for ever.
            faulthandler.dump_traceback_later(limit + LAST_RESORT, exit=True, file=self._nowhere)
        loads = self._agent is None
        try:
            answer = self._answer(question)
        except BaseException as error:  # whatever the agent does, it must not end the conversation
            return _failure(self._text, error)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if loads:
            assert self._agent is not None
            self._forks = not self._before and not self._agent.remembers_game and _is_alone()
            answer["forks"] = self._forks
        return answer

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._agent is None:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self._agent = parse_agent(self._text)
                self._agent.load()
            files = self._agent.loaded_files()
            return {"files": files, "warnings": _worth_telling(caught)}
        asked = question["ask"]
        if asked == "game":
            self._player = self._agent.new_game(question["seed"], question["side"])
            return {}
        if asked == "move":
            return asdict(self._move(_position(question)))
        if asked == "board":
            self._agent.warm_up(Board.of(*question["board"]))
            return {}
        if asked == "value":
            return _value(self._agent, question)
        return self._agent.answer(question)

    def _move(self, position: Position) -> Any:
        assert self._agent is not None
        return (self._player or self._agent).analyse(position)


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


def _worth_telling(caught: list[warnings.WarningMessage]) -> list[str]:
    """What we warn of; what others do is theirs."""
    ours = [one for one in caught if one.category.__module__.startswith("knightfall.")]
    return [str(one.message)[:LONGEST_DETAIL] for one in ours[:MOST_WARNINGS]]


def _position(question: dict[str, Any]) -> Position:
    position = Position.from_fen(question["fen"])
    if question["last"] is not None:
        position = replace(position, last=tuple(question["last"]))
    return position


def _value(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    position = Position.from_fen(question["fen"])
    value, exact = agent.evaluator.measure(position, question["side"], question["steps"])
    return {"value": value, "exact": exact}


def _failure(text: str, error: BaseException) -> dict[str, Any]:
    reason = error.reason if isinstance(error, AgentFailure) else "crash"
    try:
        detail = str(error)
    except BaseException:
        detail = "an error that cannot be printed"
    if not isinstance(error, KnightfallError):
        detail = f"{text}: {type(error).__name__}: {detail}"  # such as a Ctrl-C that it made up
    return {"reason": reason, "detail": detail[:LONGEST_DETAIL]}


if __name__ == "__main__":  # where there is no `fork`, and so no supervisor
    streams = os.dup(0), os.dup(1)
    silence_stdio()
    serve(sys.argv[1], *streams, before=b"- ")
