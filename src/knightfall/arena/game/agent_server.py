"""The other side of `agent_process`: the process that an agent has to itself."""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from dataclasses import asdict, replace
from typing import IO, Any

from knightfall.agents import Agent, parse_agent
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position

LONGEST_DETAIL = 500
"""Letters an error may have: an agent may put its whole table into one."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the process ends itself, parent or no parent."""


def serve(text: str) -> None:
    """Answer questions until there is nobody left to ask them.

    The agent has the main thread, which is what it would have if it were run by itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reading, answering = _take_streams()
    questions: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(reading, questions), daemon=True).start()

    def say(number: int, answer: dict[str, Any]) -> None:
        answering.write(json.dumps({"number": number, **answer}).encode() + b"\n")
        answering.flush()

    try:
        agent = parse_agent(text).prepare()
    except BaseException as error:
        say(0, _failure(error))
        return
    say(0, {"files": _files(agent)})
    nowhere = os.open(os.devnull, os.O_WRONLY)
    while True:
        question = questions.get()
        limit = question["limit"]
        if limit is not None:
            # A thread of C: it needs no lock that an agent could hold for ever.
            faulthandler.dump_traceback_later(limit + LAST_RESORT, exit=True, file=nowhere)
        answer = _answer(agent, question)
        faulthandler.cancel_dump_traceback_later()
        say(question["number"], answer)


def _files(agent: Agent) -> list[str]:
    """The user's files that decide what the agent does, now that they have been loaded."""
    return [path for function in agent.users_functions for path in function.sources()]


def _answer(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    try:
        if "board" in question:
            agent.prepare(Board.of(*question["board"]))
            return {}
        position = Position.from_fen(question["fen"])
        if question["last"] is not None:
            position = replace(position, last=tuple(question["last"]))
        report = replace(agent, seed=question["seed"]).analyse(position)
        return {"report": asdict(report)}
    except BaseException as error:  # whatever the agent does, it must not end the conversation
        return _failure(error)


def _failure(error: BaseException) -> dict[str, Any]:
    reason = error.reason if isinstance(error, AgentFailure) else "crash"
    try:
        detail = str(error)
    except BaseException:
        detail = "an error that cannot be printed"
    if not isinstance(error, KnightfallError):
        detail = f"{type(error).__name__}: {detail}"
    return {"reason": reason, "detail": detail[:LONGEST_DETAIL]}


def _listen(reading: IO[bytes], questions: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in reading:
        questions.put(json.loads(line))
    # Nobody is there any more.  The agent may be in the middle of anything: do not ask it.
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # and all it started
    os._exit(0)


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the standard streams for ourselves; the agent gets others that lead nowhere."""
    reading, answering = os.dup(0), os.dup(1)
    hush()
    return os.fdopen(reading, "rb"), os.fdopen(answering, "wb")


def hush() -> None:
    """Have the standard streams of this process lead nowhere, also those of compiled code."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        nowhere = os.open(os.devnull, mode)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


if __name__ == "__main__":
    serve(sys.argv[1])
