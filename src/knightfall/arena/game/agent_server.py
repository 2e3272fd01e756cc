"""The other side of `agent_process`: the process in which an agent thinks."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from knightfall.agents import Agent, parse_agent
from knightfall.apart import hush
from knightfall.board import Board
from knightfall.containment import limit_memory
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position
from knightfall.user_files import expendable

LONGEST_DETAIL = 500
"""Letters an error may have: an agent may put its whole table into one."""

MOST_WARNINGS = 10

MEMORY = 1 << 30
"""Bytes that a submission of the course may have."""

LAST_RESORT = 10.0
"""Seconds beyond the limit after which the process ends itself, whoever else is left."""


def serve(text: str, reading: int, answering: int, before: bytes = b"") -> None:
    """Answer the questions that come from one file until there are no more.

    What is `before` each answer tells whoever hears it that there is no supervisor.

    The agent has the main thread, which is what it would have if it were run by itself.
    """
    expendable()
    with os.fdopen(reading, "rb") as questions, os.fdopen(answering, "wb") as answers:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        agent: list[Agent] = []
        for line in questions:
            word, _, said = line.partition(b" ")
            question = json.loads(said)
            limit = question["limit"]
            if limit is not None:
                # A thread of C: it needs no lock that an agent could hold for ever.
                faulthandler.dump_traceback_later(limit + LAST_RESORT, exit=True, file=nowhere)
            answer = _answer(text, agent, question)
            faulthandler.cancel_dump_traceback_later()
            answers.write(before + word + b" " + json.dumps(answer).encode() + b"\n")
            answers.flush()


def _answer(text: str, loaded: list[Agent], question: dict[str, Any]) -> dict[str, Any]:
    try:
        if not loaded:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                agent = parse_agent(text)
                if agent.kind == "course":
                    _settle()
                loaded.append(agent.prepare())
            return {"files": _files(loaded[0]), "warnings": _worth_telling(caught)}
        return _ASKED[question["ask"]](loaded[0], question)
    except BaseException as error:  # whatever the agent does, it must not end the conversation
        return _failure(text, error)


def _settle() -> None:
    from knightfall.course.player import settle

    limit_memory(MEMORY)
    settle()


def _files(agent: Agent) -> list[str]:
    """The user's files that decide what the agent does, now that they have been loaded."""
    if agent.kind == "course":
        return []  # they are known without
    return [path for function in agent.users_functions for path in function.sources()]


def _worth_telling(caught: list[warnings.WarningMessage]) -> list[str]:
    """What we warn of; what others do is theirs."""
    ours = [one for one in caught if one.category.__module__.startswith("knightfall.")]
    return [str(one.message)[:LONGEST_DETAIL] for one in ours[:MOST_WARNINGS]]


def _get_ready(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    agent.prepare(Board.of(*question["board"]))
    return {}


def _move(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    position = Position.from_fen(question["fen"])
    if question["last"] is not None:
        position = replace(position, last=tuple(question["last"]))
    return asdict(replace(agent, seed=question["seed"]).analyse(position))


def _value(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    position = Position.from_fen(question["fen"])
    value, exact = agent.evaluator.measure(position, question["side"], question["steps"])
    return {"value": value, "exact": exact}


def _action(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    from knightfall.course.player import act

    board, ply, (first, second) = question["state"]
    time, counted = agent.ticks or agent.budget.time or 0, agent.ticks is not None
    state = board, ply, (first, second)
    return {"action": act(agent.heuristic, time, state, question["seed"], counted=counted)}


def _opinions(agent: Agent, question: dict[str, Any]) -> dict[str, Any]:
    from knightfall.course.player import opinions

    position = Position.from_fen(question["fen"])
    time = agent.ticks or agent.budget.time or 0
    return {"opinions": opinions(agent.heuristic, time, position, agent.ticks is not None)}


_ASKED: dict[str, Callable[[Agent, dict[str, Any]], dict[str, Any]]] = {
    "board": _get_ready,
    "move": _move,
    "value": _value,
    "action": _action,
    "opinions": _opinions,
}


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
    hush()
    serve(sys.argv[1], *streams, before=b"- ")
