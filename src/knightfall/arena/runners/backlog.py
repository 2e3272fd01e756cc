"""Pairs on their way to whoever plays them: in chunks, and once more if they were lost.

Chunks are large enough that handing them over costs nothing and small enough that little is lost.
A chunk whose worker died is played again pair by pair; a pair to which that happens once more, or
whose worker stalled, is played carefully: with each agent in a process of its own, so that the
guilty one loses its game and nobody else anything.  From then on, all its games are played like
that.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from knightfall.agents import Agent, known_agent
from knightfall.arena.game.agent_process import PATIENCE, Hosted
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import MoveSource, play_pair, searcher
from knightfall.errors import KnightfallError
from knightfall.position import Position

CHUNK_SECONDS = 0.2
MOST_PAIRS = 500
FASTEST_GROWTH = 8

GENEROUS = 20
"""A chunk stalls when it takes so many times as long as such ones did, but at least `PATIENCE`."""

CAREFUL_AFTER, HOPELESS_AFTER = 2, 6
"""How often a pair may lose its worker until it is played carefully, and until the run ends."""


# -- playing one ---------------------------------------------------------------------------


def play_chunk(
    tasks: Sequence[PairTask], careful: bool = False, patience: float = PATIENCE
) -> list[PairRecord]:
    """Play some pairs in this process, except that users' agents get one of their own.

    With `careful`, every agent does, and no user's code may take longer than `patience` for a
    move.
    """
    if not careful:
        make_ready(text for task in tasks for text in (task.a, task.b))
    return [_play(task, careful, patience) for task in tasks]


def _play(task: PairTask, careful: bool, patience: float) -> PairRecord:
    def asked(agent: Agent) -> MoveSource:
        return Hosted(agent, patience) if careful or _is_python(agent) else agent

    if not careful and not any(_is_python(known_agent(text)) for text in (task.a, task.b)):
        return play_pair(task)
    return play_pair(task, asked)


def _is_python(agent: Agent) -> bool:
    """Whether asking it runs a user's Python, which may do anything: also to its process."""
    return agent.in_python or agent.heuristic in _plain


def make_ready(texts: Iterable[str]) -> None:
    """Compile what agents need, once a run and by one thread at a time."""
    for text in texts:
        if text not in _ready:
            with _preparing:
                agent = replace(known_agent(text))  # its evaluator is for this run only
                if not agent.in_python:
                    agent.prepare()
                    searcher(text)  # keeps the evaluator for good
                    if agent.may_hang and not agent.only_here and not agent.evaluator.compiled:
                        _plain.add(agent.heuristic)
                _ready.add(text)


def check_agents(texts: Iterable[str]) -> None:
    """Make agents ready; a `KnightfallError` if one of them cannot play at all.

    Users' agents are tried in a process of their own: a file may do anything when it is read.
    Submissions of the course are only read; one that cannot be loaded loses its games.
    """
    for text in dict.fromkeys(texts):
        make_ready([text])
        if text not in _tried:
            known_agent(text).check()
            _tried.add(text)


def forget_agents() -> None:
    """Look at users' files anew: another run begins, and they may have been edited."""
    with _preparing:
        _ready.clear()
        _tried.clear()
        _plain.clear()
        searcher.cache_clear()


_ready: set[str] = set()
_tried: set[str] = set()
_plain: set[str] = set()  # heuristics that cannot be compiled
_preparing = threading.Lock()


# -- handing them out ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pairs that are played together; `strikes` counts the workers they were lost with."""

    tasks: tuple[PairTask, ...]
    strikes: int = 0

    @property
    def careful(self) -> bool:
        """Whether each agent gets a process of its own."""
        return self.strikes >= CAREFUL_AFTER


class Backlog:
    """What is still to be played: first what was lost, then what the schedule gives.

    Every chunk that was taken must be reported as `played`, `lost` or not begun (`put_back`).
    """

    def __init__(
        self,
        tasks: Iterator[PairTask],
        patience: float = PATIENCE,
        seconds: float = CHUNK_SECONDS,
        most: int = MOST_PAIRS,
    ) -> None:
        self._tasks = tasks
        self._patience = patience
        self._seconds = seconds
        self._most = most
        self._again: deque[Chunk] = deque()
        self._suspects: set[str] = set()  # who may have taken two workers with them,
        self._guilty: set[str] = set()  # and who surely would do so again
        self._size = 1
        self._pace = 0.0  # seconds a pair, lately
        self._slowest: dict[str, float] = {}  # seconds a pair, for those who may hang

    def take(self) -> Chunk | None:
        """The next chunk; None if there is nothing more to play."""
        if not self._again:
            fresh = tuple(islice(self._tasks, self._size))
            if not fresh:
                return None
            self._again.append(Chunk(fresh))
        chunk = self._again.popleft()
        if chunk.careful or not (self._suspects or self._guilty):
            return chunk
        suspicious = [task for task in chunk.tasks if self._is_suspicious(task)]
        others = tuple(task for task in chunk.tasks if not self._is_suspicious(task))
        self._again.extendleft(Chunk((task,), CAREFUL_AFTER) for task in reversed(suspicious))
        return Chunk(others, chunk.strikes) if others else self._again.popleft()

    def _is_suspicious(self, task: PairTask) -> bool:
        return not {task.a, task.b}.isdisjoint(self._suspects | self._guilty)

    @property
    def slow(self) -> bool:
        """Whether chunks take so long that handing one over is no matter."""
        return self._pace * self._size > 10 * self._seconds

    def played(self, chunk: Chunk, records: Sequence[PairRecord], seconds: float) -> None:
        """A chunk came to its end after so many seconds."""
        pace = seconds / len(chunk.tasks)
        watched = _watched(chunk)
        if chunk.careful:  # which finds out who it was
            self._suspects -= watched
            self._guilty.update(_guilty(records))
        for text in watched - self._guilty:
            self._slowest[text] = max(pace, self._slowest.get(text, 0.0))
        if chunk.careful:
            return
        self._pace = 0.7 * self._pace + 0.3 * pace if self._pace else pace
        fitting = int(self._seconds / max(self._pace, 1e-9))
        self._size = max(1, min(fitting, self._size * FASTEST_GROWTH, self._most))

    def lost(self, chunk: Chunk, stalled: bool = False, obituary: str = "died") -> None:
        """The worker died, as told: let each pair be played once more, by itself.

        One that stalled waits for a heuristic that does not return: it is not waited for twice.
        """
        total = max(chunk.strikes + 1, CAREFUL_AFTER if stalled else 0)
        if total >= HOPELESS_AFTER:
            task = chunk.tasks[0]
            raise KnightfallError(
                f"pair {task.number} ({task.a} against {task.b}) cannot be played: {total} times "
                "whoever played it died, even with each agent in a process of its own; the last "
                f"one {obituary}"
            )
        if total >= CAREFUL_AFTER:
            self._suspects |= _watched(chunk)
        self._again.extendleft(Chunk((task,), total) for task in reversed(chunk.tasks))

    def put_back(self, chunk: Chunk) -> None:
        """A chunk was not begun; it is the next to be taken."""
        self._again.appendleft(chunk)

    def deadline(self, chunk: Chunk) -> float:
        """Seconds after which whoever plays the chunk has stalled.

        Ours always come to an end; so does careful play, where each move has its limit.
        """
        watched = _watched(chunk)
        if chunk.careful or not watched:
            return math.inf
        slowest = max(self._slowest.get(text, 0.0) for text in watched)
        usual = GENEROUS * slowest * len(chunk.tasks)
        return max(self._patience, usual) + sum(_clock_time(task) for task in chunk.tasks)


def _watched(chunk: Chunk) -> set[str]:
    """Those in a chunk who could keep whoever plays it from ever going on."""
    agents = {text: known_agent(text) for task in chunk.tasks for text in (task.a, task.b)}
    return {text for text, one in agents.items() if one.may_hang and not _is_python(one)}


def _clock_time(task: PairTask) -> float:
    """What the players of a pair may spend by their clocks: in two games, a move a cell each."""
    seconds = _by_the_clock(task.a) + _by_the_clock(task.b)
    return seconds * Position.from_fen(task.opening).board.cells if seconds else 0.0


def _by_the_clock(text: str) -> float:
    return known_agent(text).budget.seconds or 0.0


def _guilty(records: Sequence[PairRecord]) -> Iterator[str]:
    """Those who hung or died in careful play, and would take a worker with them."""
    for record in records:
        for number, game in enumerate(record.games):
            if game.reason in ("timeout", "crash"):
                loser = record.task.seats(number)["b" if game.winner == "w" else "w"]
                if known_agent(loser).may_hang:
                    yield loser
