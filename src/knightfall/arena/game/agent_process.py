"""An agent in a process of its own: it may hang, die, lie or print, and loses only its game.

Between the two stands a supervisor (`knightfall.arena.game.supervisor`), whose clock says how long
an answer took.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from knightfall.agents import Agent
from knightfall.arena.game.agent_child import STARTING as STARTING
from knightfall.arena.game.agent_child import Child
from knightfall.arena.game.limits import COUNTED, in_time, move_limit
from knightfall.arena.game.limits import PATIENCE as PATIENCE
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side
from knightfall.search.budget import Report

WELL = ("forfeit", "illegal")
"""Failures after which a process is as good as before: it answered, if with no move."""

SPARE = 2.5
"""Seconds beyond its limit for whoever keeps the time itself: to begin and end what thinks."""

MOST_IDLE = 8
"""Processes that one thread keeps for later games; the one not asked for longest has to go."""

SPARE_CHILD = ""
"""Seat of the process that no side has claimed yet."""


class Hosted:
    """A player whose moves are made by a process of its own.

    Each game, and each side of it, begins with a fresh state: a position that does not come two
    plies after the one asked last, for the same side, begins another game.  `analyse` raises an
    `AgentFailure` whatever goes wrong there, and after an error, a death or a timeout the next
    question begins another game, too.  Processes that can play another game are kept for the next
    player of this thread with the same agent.
    """

    def __init__(self, agent: Agent, patience: float = PATIENCE) -> None:
        self._seed = agent.seed
        agent = agent.absolute() if agent.remembers_game else agent
        self._text = str(replace(agent, seed=0))  # the seed comes with each game
        self._limit = move_limit(agent, patience)
        self._timed = agent.timed
        self._is_search = not agent.in_python
        self._agent = replace(agent) if agent.remembers_game else None
        self._children: dict[str, Child] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_children": {}}  # another process starts its own

    def start(self) -> Hosted:
        """Have the process started, if there is none, and wait for nothing."""
        if not self._children:
            self._children[SPARE_CHILD] = self._take()
        return self

    def prepare(self, board: Board | None = None) -> Hosted:
        """Have the agent loaded and ready for a board, so that the first move is not slow."""
        with self._process(SPARE_CHILD) as child:
            if board is not None:
                child.prepare(board)
            return self

    def rehearse(self) -> None:
        """Have the agent loaded, and a game begun and ended."""
        with self._process(SPARE_CHILD) as child:
            child.new_game(self._seed, "w")
        self.over()

    def warn(self) -> None:
        """Pass on what there was to be warned of when the agent was loaded."""
        from knightfall.heuristics.user_heuristic import warn_once

        with self._process(SPARE_CHILD) as child:
            for text in child.warnings:
                warn_once(text)

    def files(self) -> list[str]:
        """The user's files that decide what the agent does; nothing of them is run here."""
        with self._process(SPARE_CHILD) as child:
            return child.files

    def analyse(self, position: Position) -> Report:
        """The agent's move; `Report.seconds` is what it took, by its supervisor's clock."""
        seat = position.to_move
        sitting = self._children.get(seat)
        if sitting is not None and not sitting.can_play(position, self._seed):
            self._children.pop(seat).end()
        with self._process(seat) as child:
            if self._timed:
                child.prepare(position.board)
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
        with self._process(SPARE_CHILD) as child:
            return child.act(state, self._seed, (self._limit or PATIENCE) + SPARE)

    def opinions(self, position: Position) -> dict[str, float | None]:
        """What a submission's score says of each legal move, once it is made."""
        with self._process(SPARE_CHILD) as child:
            return child.opinions(position, COUNTED)

    def answer_line(self, position: Position, seed: int) -> str:
        """Return the line of a submission's code from which its answer comes; "" if unknown."""
        with self._process(SPARE_CHILD) as child:
            return child.answer_line(position, seed, COUNTED)

    def asks_other_clocks(self, position: Position) -> bool:
        """Return whether a submission, by ticks, asks Python's clocks as well as `time_left`."""
        with self._process(SPARE_CHILD) as child:
            return child.asks_other_clocks(position, COUNTED)

    def measure(
        self, position: Position, side: Side | None = None, step_limit: int | None = None
    ) -> tuple[float, bool]:
        """What the agent's heuristic says of a position, as `Evaluator.measure`."""
        with self._process(SPARE_CHILD) as child:
            return child.measure(position, side, step_limit, self._limit)

    def close(self) -> None:
        """End the processes of this player."""
        while self._children:
            self._children.popitem()[1].end()

    def over(self) -> None:
        """Let go of the game: its processes are kept for another one if they can play it."""
        while self._children:
            child = self._children.popitem()[1]
            if child.end_game():
                _idle.give(self._text, child)
            else:
                child.end()

    @contextmanager
    def _process(self, seat: str) -> Iterator[Child]:
        """The process that serves a side, loaded; it keeps its seat while it is well."""
        children = self._children
        child = children.pop(seat, None) or children.pop(SPARE_CHILD, None) or self._take()
        try:
            child.begin()
            yield child
        except AgentFailure as failure:
            if self._agent and failure.reason == "timeout" and not child.ready:
                _never_ready[self._stamp()] = str(failure)
            if failure.reason in WELL or (child.told_of(failure) and child.end_game()):
                children[seat] = child
            else:
                child.end()
            raise
        except BaseException:
            child.end()
            raise
        children[seat] = child

    def _take(self) -> Child:
        """A process for the agent, of those that are kept or a new one."""
        if self._agent is None:
            return _idle.take(self._text) or Child(self._text)
        if self._stamp() in _never_ready:  # it is not waited for again in each game
            raise AgentFailure("timeout", _never_ready[self._stamp()])
        try:
            return Child(self._text, beside=self._agent.beside)
        except (KnightfallError, OSError) as error:
            raise AgentFailure("crash", f"{self._text}: {error}") from None

    def _stamp(self) -> tuple[str, int]:
        """Return what tells an agent's file from the same one once it was edited."""
        try:
            beside = self._agent.beside if self._agent else None
            return self._text, os.stat(beside or "").st_mtime_ns
        except (KnightfallError, OSError):
            return self._text, 0


_never_ready: dict[tuple[str, int], str] = {}


class _Idle(threading.local):
    """Processes that wait for another game, by agent string; they end when their thread does."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Child]] = []

    def take(self, text: str) -> Child | None:
        """Return a process for an agent, if there is one; it is not kept any more."""
        for index in reversed(range(len(self.kept))):
            if self.kept[index][0] == text:
                child = self.kept.pop(index)[1]
                if child.has_ended_game():
                    return child
                child.end()
        return None

    def give(self, text: str, child: Child) -> None:
        """Keep a process; of too many, the one not asked for longest ends."""
        self.kept.append((text, child))
        while len(self.kept) > MOST_IDLE:
            self.kept.pop(0)[1].end()

    def end(self) -> None:
        """End them all."""
        while self.kept:
            self.kept.pop()[1].end()


_idle = _Idle()


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
