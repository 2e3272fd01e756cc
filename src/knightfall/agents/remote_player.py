"""Players in processes of their own, so that a hang, crash or forged answer loses only their game.

A supervisor between the two processes measures how long an answer took (see
`knightfall.isolation.supervisor`).
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from knightfall.agents.agent_protocol import HOSTED, read_loaded, read_report, read_value
from knightfall.agents.base import Agent
from knightfall.agents.parse import parse_agent
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.host_process import HostProcess, Reader
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.position import Position, Side
from knightfall.search.budget import Report
from knightfall.user_files import original_paths

# -- how long an agent may think -------------------------------------------------------------

PATIENCE = 60.0
"""Seconds that user code may take for a move if its budget sets no time."""

PATIENT_NODES, LONGEST = 50_000, 24 * 3600.0
"""Node budget above which that limit grows in proportion, and the longest limit in seconds."""

COUNTED = 20.0
"""Seconds that a move may take if its clock counts calls; it needs far less on a busy machine."""

TOLERANCE = 0.01
"""Seconds allowed beyond the limit, for the transfer between processes."""


def move_limit(agent: Agent, patience: float = PATIENCE) -> float | None:
    """Return how many seconds the agent may take for a move, in a process of its own.

    None for agents without user code: their searches stop by themselves, and a late answer means
    that the machine was busy.
    """
    if not agent.has_users_code:
        return None
    if agent.budget.seconds is not None:
        return agent.budget.seconds
    if agent.time_is_counted:
        return min(patience, COUNTED)
    return min(patience * max(1.0, (agent.budget.nodes or 0) / PATIENT_NODES), LONGEST)


def check_time(
    report: Report, limit: float | None, who: str = "", computed: float = math.inf
) -> Report:
    """Raise an `AgentFailure` if a report took longer than `limit` + `TOLERANCE`; else return it.

    `computed` is the processor time used, if known; it counts instead of the elapsed time if it is
    smaller, because the rest was spent waiting for a core.
    """
    seconds = min(report.seconds, computed)
    if limit is not None and seconds > limit + TOLERANCE:
        late = f"{who} answered after {shown_duration(seconds, limit)}; the limit is {limit:g} s"
        raise AgentFailure("timeout", late.strip())
    return report


def shown_duration(seconds: float, limit: float) -> str:
    """Return a duration as text, with enough digits to show that it exceeds the limit."""
    for digits in range(3, 7):
        if round(seconds, digits) > limit:
            break
    return f"{seconds:.{digits}f} s"


# -- the process of an agent -----------------------------------------------------------------


class AgentProcess(HostProcess):
    """A process that hosts an agent and answers requests about positions."""

    def __init__(self, text: str, beside: Path | None = None) -> None:
        agent = parse_agent(text)
        readable = [original_paths(folder) for folder in agent.folders()]
        trusted = not agent.has_users_code
        if not (trusted or agent.in_python):
            _compile_search(replace(agent, heuristic="null", seed=0))
        copy = agent.private_copy()
        super().__init__(HOSTED, text, beside, copy=copy, readable=readable, trusted=trusted)
        self.files: list[str] = []
        self.warnings: list[str] = []
        self.key: tuple[str, int]  # identifies the agent among idle processes
        self._boards: set[Board] = set()
        self._last: tuple[int, Position] | None = None  # seed and position of the last request

    def _read_loaded(self, answer: dict[str, Any]) -> None:
        super()._read_loaded(answer)
        self.files, self.warnings = read_loaded(answer)

    def new_game(self, **what: Any) -> None:
        self._last = None
        super().new_game(**what)

    def prepare_board(self, board: Board) -> None:
        """Let the agent prepare for a board, and wait for it; do nothing during a game."""
        if board not in self._boards and not self.playing and self.has_ended_game():
            self._boards.add(board)
            self.prepare({"ask": "board", "board": [board.width, board.height]})

    def plays(self, position: Position, seed: int) -> bool:
        """Return whether a position follows the last one of the current game by two plies."""
        if not self.playing or self._last is None or self._last[0] != seed:
            return False
        before = self._last[1]
        if (before.board, before.to_move) != (position.board, position.to_move):
            return False
        return position.open < before.open and len(before.open) - len(position.open) == 2

    def can_play(self, position: Position, seed: int) -> bool:
        """Return whether this process can play a position, in its current game or in a new one."""
        return not self.playing or self.forks or self.plays(position, seed)

    def analyse(self, position: Position, seed: int, limit: float | None) -> Report:
        """Return the agent's report on a position, and store in `taken` how long it took.

        A position that does not continue the current game begins another.
        """
        if not self.plays(position, seed):
            self.new_game(seed=seed, side=position.to_move)
        self._last = seed, position
        question = {"ask": "move", "fen": position.fen, "last": position.last}
        return self.ask(
            question, limit, lambda answer: read_report(answer, position, self.taken.seconds)
        )

    def measure(
        self, position: Position, side: Side | None, steps: int | None, limit: float | None
    ) -> tuple[float, bool]:
        """Return the heuristic's value of a position, and whether it is exact."""
        if not self.playing:
            self.new_game(seed=0, side="w")
        question = {"ask": "value", "fen": position.fen, "side": side, "steps": steps}
        return self.ask(question, limit, read_value)


@cache
def _compile_search(agent: Agent) -> None:
    """Compile an agent's search, because a process in a sandbox cannot keep machine code."""
    if "numba" in sys.modules:
        agent.prepare()
    else:  # the compiler is large, and this process may never need it
        with suppress(ChildExited):
            run_isolated(_compile, str(agent))


def _compile(text: str) -> None:
    parse_agent(text).prepare()


# -- the player ------------------------------------------------------------------------------

RECOVERABLE = ("forfeit", "illegal")
"""Failures after which the process can go on: it answered, but not with a legal move."""

MOST_IDLE = 8
"""Idle processes that one thread keeps; beyond that, the least recently used one is ended."""

UNCLAIMED = ""
"""Key of the process that is not yet assigned to a side."""


class RemotePlayer:
    """A player whose moves are made in a process of its own.

    Each game, and each side of it, begins with a fresh state: a position that does not come two
    plies after the last request for the same side begins another game.  `analyse` raises an
    `AgentFailure` for anything that goes wrong in that process; after an error, a crash or a
    timeout the next request also begins another game.  Processes that can play another game are
    kept for the next player of this thread with the same agent.  A ``with`` block ends the game.
    """

    def __init__(self, agent: Agent, patience: float = PATIENCE) -> None:
        self._seed = agent.seed
        agent = agent.absolute() if agent.remembers_game else agent
        self._text = str(replace(agent, seed=0))  # the seed is sent with each game
        self._limit = move_limit(agent, patience)
        self._timed = agent.timed
        self._is_search = not agent.in_python
        self._agent = replace(agent) if agent.remembers_game else None
        self._children: dict[str, AgentProcess] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_children": {}}  # the other process starts its own children

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.end_game()

    def start(self) -> RemotePlayer:
        """Start the process if there is none, without waiting for it."""
        if not self._children:
            self._children[UNCLAIMED] = self._take()
        return self

    def prepare(self, board: Board | None = None) -> RemotePlayer:
        """Load the agent and prepare it for a board, so that the first move is not slow."""
        with self._process(UNCLAIMED) as child:
            if board is not None:
                child.prepare_board(board)
            return self

    def check_loads(self) -> None:
        """Load the agent, and begin and end a game.  Raise an `AgentFailure` if that fails."""
        with self._process(UNCLAIMED) as child:
            child.new_game(seed=self._seed, side="w")
        self.end_game()

    def warn(self) -> None:
        """Issue in this process the warnings that the agent's process issued while loading."""
        from knightfall.heuristics.user_heuristic import warn_once

        with self._process(UNCLAIMED) as child:
            for text in child.warnings:
                warn_once(text)

    def files(self) -> list[str]:
        """Return the user's files that determine the agent's moves; only its process loads them."""
        with self._process(UNCLAIMED) as child:
            return child.files

    def analyse(self, position: Position) -> Report:
        """Return the agent's move; `Report.seconds` is measured by the supervisor."""
        seat = position.to_move
        sitting = self._children.get(seat)
        if sitting is not None and not sitting.can_play(position, self._seed):
            self._children.pop(seat).end()
        with self._process(seat) as child:
            if self._timed or not self._is_search:
                child.prepare_board(position.board)
            report = child.analyse(position, self._seed, self._limit)
        try:
            check_time(report, self._limit, self._text)
        except AgentFailure as failure:
            failure.starved = child.was_starved(self._limit)
            if not child.end.alive:
                self._children.pop(seat, None)
            raise
        if not self._is_search:  # a user's function reports a move only; discard forged fields
            move, seconds = report.move, report.seconds
            return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))
        return report

    def ask(self, question: dict[str, Any], limit: float, read: Reader[Any]) -> Any:
        """Send a request that only this kind of agent supports, in a game; return the answer."""
        with self._process(UNCLAIMED) as child:
            if not child.playing:
                child.new_game(seed=self._seed, side="w")
            return child.ask(question, limit, read)

    def measure(
        self, position: Position, side: Side | None = None, step_limit: int | None = None
    ) -> tuple[float, bool]:
        """Return the heuristic's value of a position, as `Evaluator.measure` does."""
        with self._process(UNCLAIMED) as child:
            return child.measure(position, side, step_limit, self._limit)

    def close(self) -> None:
        """End the processes of this player."""
        while self._children:
            self._children.popitem()[1].end()

    def end_game(self) -> None:
        """End the game; processes that can play another one are kept."""
        while self._children:
            child = self._children.popitem()[1]
            if child.end_game():
                _idle.give(child)
            else:
                child.end()

    @contextmanager
    def _process(self, seat: str) -> Iterator[AgentProcess]:
        """Yield the loaded process that plays a side; end it after an unrecoverable failure."""
        children = self._children
        child = children.pop(seat, None) or children.pop(UNCLAIMED, None) or self._take()
        try:
            child.begin()
            yield child
        except AgentFailure as failure:
            if self._agent and failure.reason == "timeout" and not child.ready:
                _never_ready[self._stamp()] = str(failure)
            if failure.reason in RECOVERABLE or (child.reported(failure) and child.end_game()):
                children[seat] = child
            else:
                child.end()
            raise
        except BaseException:
            child.end()
            raise
        children[seat] = child

    def _take(self) -> AgentProcess:
        """Return an idle process of the agent, or a new one."""
        key = self._stamp()
        if key in _never_ready:  # fail at once instead of waiting in each game
            raise AgentFailure("timeout", _never_ready[key])
        child = _idle.take(key)
        if child is None:
            try:
                beside = None if self._agent is None else self._agent.beside
                child = AgentProcess(self._text, beside)
            except (KnightfallError, OSError) as error:
                if self._agent is None:
                    raise
                raise AgentFailure("crash", f"{self._text}: {error}") from None
            child.key = key
        return child

    def _stamp(self) -> tuple[str, int]:
        """Return a key that changes when a Python file beside the agent's is edited."""
        times: list[tuple[str, int]] = []
        with suppress(KnightfallError, OSError):
            beside = self._agent.beside if self._agent else None
            if beside is not None:
                times.append((beside.name, os.stat(beside).st_mtime_ns))
                with os.scandir(beside.parent) as entries:
                    python = [entry for entry in entries if entry.name.endswith(".py")]
                times += [(entry.name, entry.stat().st_mtime_ns) for entry in python]
        return self._text, hash(frozenset(times))


_never_ready: dict[tuple[str, int], str] = {}


class _Idle(threading.local):
    """Idle processes of one thread; they end with the thread."""

    def __init__(self) -> None:
        self.kept: list[AgentProcess] = []

    def take(self, key: tuple[str, int]) -> AgentProcess | None:
        """Remove and return an idle process of an agent; None if there is none."""
        for child in reversed(self.kept):
            if child.key == key:
                self.kept.remove(child)
                if child.has_ended_game():
                    return child
                child.end()
                return self.take(key)
        return None

    def give(self, child: AgentProcess) -> None:
        """Keep a process; if there are too many, end the least recently used one."""
        self.kept.append(child)
        while len(self.kept) > MOST_IDLE:
            self.kept.pop(0).end()

    def end(self) -> None:
        """End all idle processes."""
        while self.kept:
            self.kept.pop().end()


_idle = _Idle()


def players(agents: Iterable[Agent], board: Board | None = None) -> list[Agent | RemotePlayer]:
    """Return a player for each agent, ready for a board.

    Agents that are `isolated` get a process of their own; the others play in this one.
    """
    asked = [RemotePlayer(agent).start() if agent.isolated else agent for agent in agents]
    for player in asked:
        player.prepare(board)
        if isinstance(player, RemotePlayer):
            player.warn()
    return asked


def player(agent: Agent, board: Board | None = None) -> Agent | RemotePlayer:
    """Return a player for one agent; see `players`."""
    return players([agent], board)[0]
