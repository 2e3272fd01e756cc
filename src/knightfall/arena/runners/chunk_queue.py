"""Pairs on their way to where they are played: in chunks, and once more if they were lost.

Chunks are large enough that handing them over costs nothing and small enough that little is lost.
A chunk whose worker died is played again pair by pair; a pair to which that happens once more, or
whose worker stalled, is played carefully: with each agent in a process of its own, so that the
guilty one loses its game and the others lose nothing.  From then on, all its games are played like
that.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from knightfall.agents import known_agent
from knightfall.agents.remote_player import PATIENCE
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.runners.play_chunk import Played, is_python, play_elsewhere, play_in_worker
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import Job
from knightfall.position import Position

CHUNK_SECONDS = 0.2
MOST_PAIRS = 500
FASTEST_GROWTH = 8

GENEROUS = 20
"""A chunk stalls when it takes so many times as long as such ones did, but at least `PATIENCE`."""

CAREFUL_AFTER, HOPELESS_AFTER = 2, 6
"""How often a pair may lose its worker until it is played carefully, and until the run ends."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pairs that are played together; `strikes` counts the workers they were lost with."""

    tasks: tuple[PairTask, ...]
    strikes: int = 0

    @property
    def careful(self) -> bool:
        """Whether each agent gets a process of its own."""
        return self.strikes >= CAREFUL_AFTER


class ChunkQueue:
    """The pairs still to be played, as `Work`: first what was lost, then what the schedule gives.

    Every chunk that was taken must be reported as `done`, `lost` or not begun (`put_back`).  For
    processes that may be on other machines, `elsewhere` is the engine's version and the run's id.
    """

    def __init__(
        self,
        tasks: Iterator[PairTask],
        patience: float = PATIENCE,
        seconds: float = CHUNK_SECONDS,
        most: int = MOST_PAIRS,
        elsewhere: tuple[str, str] | None = None,
    ) -> None:
        self._tasks = tasks
        self._patience = patience
        self._seconds = seconds
        self._most = most
        self._elsewhere = elsewhere
        self._again: deque[Chunk] = deque()
        self._suspects: set[str] = set()  # who may have taken two workers with them,
        self._guilty: set[str] = set()  # and who surely would do so again
        self._size = 1
        self._pace = 0.0  # seconds a pair, lately
        self._slowest: dict[str, float] = {}  # seconds a pair, for those who may hang

    def take(self) -> Chunk | None:
        """Return the next chunk; None if there is nothing more to play."""
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
        """Whether chunks take so long that the time to hand one over does not matter."""
        return self._pace * self._size > 10 * self._seconds

    def job(self, chunk: Chunk) -> Job:
        """See `Work`.  Where a worker cannot be ended, it watches the deadline itself."""
        args, seconds = (chunk.tasks, chunk.careful, self._patience), self.deadline(chunk)
        if self._elsewhere is not None:
            return Job(play_elsewhere, (*args, seconds, *self._elsewhere))
        return Job(play_in_worker, args, seconds, alone=chunk.careful)

    def done(self, chunk: Chunk, answer: Played | None) -> Iterable[PairRecord]:
        """See `Work`."""
        if answer is None:
            self.lost(chunk, stalled=True)
            return ()
        self.played(chunk, answer.records, answer.seconds)
        return answer.records

    def played(self, chunk: Chunk, records: Sequence[PairRecord], seconds: float) -> None:
        """Learn from a chunk that took so many seconds how large the next ones should be."""
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

    def lost(self, chunk: Chunk, stalled: bool = False, exit_status: str = "died") -> None:
        """Queue each pair of a chunk whose worker died once more, by itself.

        A worker that stalled waits for a heuristic that does not return: its pairs are played
        carefully at once.
        """
        total = max(chunk.strikes + 1, CAREFUL_AFTER if stalled else 0)
        if total >= HOPELESS_AFTER:
            task = chunk.tasks[0]
            raise KnightfallError(
                f"pair {task.number} ({task.a} against {task.b}) cannot be played: {total} times "
                "whoever played it died, even with each agent in a process of its own; the last "
                f"one {exit_status}"
            )
        if total >= CAREFUL_AFTER:
            self._suspects |= _watched(chunk)
        self._again.extendleft(Chunk((task,), total) for task in reversed(chunk.tasks))

    def put_back(self, chunk: Chunk) -> None:
        """Queue a chunk that was not begun as the next."""
        self._again.appendleft(chunk)

    def deadline(self, chunk: Chunk) -> float:
        """Return the seconds after which the worker that plays a chunk has stalled.

        Our own agents always come to an end; so does careful play, where each move has its limit.
        """
        watched = _watched(chunk)
        if chunk.careful or not watched:
            return math.inf
        slowest = max(self._slowest.get(text, 0.0) for text in watched)
        usual = GENEROUS * slowest * len(chunk.tasks)
        return max(self._patience, usual) + sum(_clock_time(task) for task in chunk.tasks)


def _watched(chunk: Chunk) -> set[str]:
    """Return the agents of a chunk whose code could keep a worker from ever going on."""
    agents = {text: known_agent(text) for task in chunk.tasks for text in (task.a, task.b)}
    return {text for text, one in agents.items() if one.may_hang and not is_python(one)}


def _clock_time(task: PairTask) -> float:
    """Return what players of a pair may spend by their clocks: in two games, a move a cell each."""
    seconds = _by_the_clock(task.a) + _by_the_clock(task.b)
    return seconds * Position.from_fen(task.opening).board.cells if seconds else 0.0


def _by_the_clock(text: str) -> float:
    return known_agent(text).budget.seconds or 0.0


def _guilty(records: Sequence[PairRecord]) -> Iterator[str]:
    """Yield the agents that hung or died in careful play, and would take a worker with them."""
    for record in records:
        for number, game in enumerate(record.games):
            if game.reason in ("timeout", "crash"):
                loser = record.task.seats(number)["b" if game.winner == "w" else "w"]
                if known_agent(loser).may_hang:
                    yield loser
