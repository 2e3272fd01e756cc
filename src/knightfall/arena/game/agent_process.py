"""An agent in a process of its own: it may hang, die, lie or print, and loses only its game.

Between the two stands a supervisor (`knightfall.arena.game.supervisor`), whose clock says how long
an answer took.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from knightfall.agents import Agent
from knightfall.arena.game.agent_child import STARTING as STARTING
from knightfall.arena.game.agent_child import Child
from knightfall.arena.game.limits import COUNTED, in_time, move_limit
from knightfall.arena.game.limits import PATIENCE as PATIENCE
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side
from knightfall.search.report import Report

WELL = ("forfeit", "illegal")
"""Failures after which a process is as good as before: it answered, if with no move."""

SPARE = 2.5
"""Seconds beyond its limit for whoever keeps the time itself: to begin and end what thinks."""

MOST_HOSTS = 8
"""Processes one thread keeps; the one not asked for longest has to go."""


class Hosted:
    """A player whose moves are made by a process of its own.

    `analyse` raises an `AgentFailure` whatever goes wrong there, and after an error, a death or a
    timeout the next question goes to a fresh process (but for an error in a heuristic).  Processes
    are kept by agent and thread, so that games share them; but a submission of the course, which
    remembers what it likes, has one for each game and seat.
    """

    def __init__(self, agent: Agent, patience: float = PATIENCE) -> None:
        self._seed = agent.seed
        self._by_game = agent.kind == "course"
        agent = agent.absolute() if self._by_game else agent
        self._text = str(replace(agent, seed=0))  # the seed comes with the question
        self._key = f"{self._text} {next(_numbers)}" if self._by_game else self._text
        self._limit = move_limit(agent, patience)
        self._is_search = not agent.in_python
        self._beside = agent.files[0] if self._by_game else None
        self._games: dict[Side, Position] = {}

    def start(self) -> Hosted:
        """Have the process started, if there is none, and wait for nothing."""
        if self._key not in _hosts.kept:
            self._keep(self._key, self._child())
        return self

    def prepare(self, board: Board | None = None) -> Hosted:
        """Have the agent loaded and ready for a board, so that the first move is not slow."""
        with self._process() as child:
            if board is not None:
                child.prepare(board)
            return self

    def warn(self) -> None:
        """Pass on what there was to be warned of when the agent was loaded."""
        from knightfall.heuristics.user_heuristic import warn_once

        with self._process() as child:
            for text in child.warnings:
                warn_once(text)

    def files(self) -> list[str]:
        """The user's files that decide what the agent does; nothing of them is run here."""
        with self._process() as child:
            return child.files

    def analyse(self, position: Position) -> Report:
        """The agent's move; `Report.seconds` is what it took, by its supervisor's clock."""
        with self._process(self._seat(position)) as child:
            report = child.ask(position, self._seed, self._limit)
        try:
            in_time(report, self._limit, self._text)
        except AgentFailure as failure:
            failure.starved = child.taken.late_by_machine(self._limit)
            raise
        if not self._is_search:  # of a function that names a cell, nothing else is to be believed
            move, seconds = report.move, report.seconds
            return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))
        return report

    def act(self, state: tuple[int, int, Any]) -> int:
        """The action of a submission for the successor, whose process keeps the time itself."""
        with self._process() as child:
            return child.act(state, self._seed, (self._limit or PATIENCE) + SPARE)

    def opinions(self, position: Position) -> dict[str, float | None]:
        """What a submission's score says of each legal move, once it is made."""
        with self._process() as child:
            return child.opinions(position, COUNTED)

    def measure(
        self, position: Position, side: Side | None = None, step_limit: int | None = None
    ) -> tuple[float, bool]:
        """What the agent's heuristic says of a position, as `Evaluator.measure`."""
        with self._process() as child:
            return child.measure(position, side, step_limit, self._limit)

    def close(self) -> None:
        """End this thread's process for the agent, if there is one."""
        for key in (self._key, *(self._key + side for side in self._games)):
            child = _hosts.kept.pop(key, None)
            if child is not None:
                child.end()
        self._games.clear()

    def over(self) -> None:
        """A game is over: what was there for it alone may go."""
        if self._by_game:
            self.close()

    def _seat(self, position: Position) -> str:
        """Where the process for a question is kept.  One that sees another game is a fresh one."""
        if not self._by_game:
            return self._key
        side = position.to_move
        before, self._games[side] = self._games.get(side), position
        if before is not None and not _goes_on(before, position):
            child = _hosts.kept.pop(self._key + side, None)
            if child is not None:
                child.end()
        return self._key + side

    @contextmanager
    def _process(self, key: str = "") -> Iterator[Child]:
        """This thread's process for the agent, ready to be asked; kept while it is well."""
        key = key or self._key
        child = _hosts.kept.pop(key, None) or _hosts.kept.pop(self._key, None) or self._child()
        try:
            child.begin()
            yield child
        except AgentFailure as failure:
            if self._by_game and failure.reason == "timeout" and not child.ready:
                _never_ready[self._stamp()] = str(failure)
            if failure.reason in WELL or (self._is_search and child.told_of(failure)):
                self._keep(key, child)
            else:
                child.end()
            raise
        except BaseException:
            child.end()
            raise
        self._keep(key, child)

    def _child(self) -> Child:
        if self._beside is None:
            return Child(self._text)
        from knightfall.course.find import find_file

        if self._stamp() in _never_ready:  # it is not waited for again in each game
            raise AgentFailure("timeout", _never_ready[self._stamp()])
        try:
            return Child(self._text, beside=find_file(self._beside))
        except (KnightfallError, OSError) as error:
            raise AgentFailure("crash", f"{self._text}: {error}") from None

    def _stamp(self) -> tuple[str, int]:
        """A submission as it is: another one, once it was edited."""
        from knightfall.course.find import find_file

        try:
            return self._text, os.stat(find_file(self._beside or "")).st_mtime_ns
        except (KnightfallError, OSError):
            return self._text, 0

    def _keep(self, key: str, child: Child) -> None:
        _hosts.kept[key] = child
        while len(_hosts.kept) > MOST_HOSTS:
            _hosts.kept.popitem(last=False)[1].end()


def _goes_on(before: Position, now: Position) -> bool:
    """Whether a position can come two plies after another."""
    if before.board != now.board or not now.open < before.open:
        return False
    return len(before.open) - len(now.open) == 2


_numbers = count()
_never_ready: dict[tuple[str, int], str] = {}


def players(agents: Iterable[Agent], board: Board | None = None) -> list[Agent | Hosted]:
    """Whoever is to be asked for the moves of some agents, ready for a board.

    What runs a user's Python is loaded and asked in a process of its own; only what is declared in
    this very process (in a notebook, say) must be asked here, and machine code may be.
    """
    asked = [Hosted(agent).start() if _goes_apart(agent) else agent for agent in agents]
    for player in asked:
        player.prepare(board)
        if isinstance(player, Hosted):
            player.warn()
    return asked


def player(agent: Agent, board: Board | None = None) -> Agent | Hosted:
    """Whoever is to be asked for the moves of one agent; see `players`."""
    return players([agent], board)[0]


def _goes_apart(agent: Agent) -> bool:
    if agent.in_python:
        return True
    if agent.only_here or not agent.users_functions:
        return False
    return not agent.evaluator.compiled


class _Kept(threading.local):
    """The processes of a thread.  They end when the thread does, for nobody else knows them."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, Child] = OrderedDict()


_hosts = _Kept()
