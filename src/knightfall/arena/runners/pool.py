"""A pool of processes that play."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence

from knightfall.arena.game.agent_process import PATIENCE
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.runners.backlog import (
    MOST_PAIRS,
    Backlog,
    Chunk,
    check_agents,
    forget_agents,
    make_ready,
)
from knightfall.arena.runners.runner import Helper, Played
from knightfall.arena.runners.worker import Job
from knightfall.arena.runners.workers import Workers


class Pool(Workers):
    """Plays in some processes of this machine.

    Agents are compiled here first, so that the processes find the machine code ready.  With
    `pin`, each has a core to itself and gets one pair at a time: for games by the clock.
    """

    def __init__(
        self,
        workers: int,
        agents: Sequence[str] = (),
        pin: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        agents = tuple(dict.fromkeys(agents))
        super().__init__(workers, Job(make_ready, (agents,)), pin=pin)
        forget_agents()
        check_agents(agents)
        self._patience = patience
        self._most = 1 if pin else MOST_PAIRS

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        return self.do(_Pairs(tasks, self._patience, most=self._most))


class _Pairs(Backlog):
    """The backlog as work for processes."""

    def job(self, chunk: Chunk) -> Job:
        args = (chunk.tasks, chunk.careful, self._patience)
        return Job(_play_aside, args, self.deadline(chunk), alone=chunk.careful)

    def done(self, chunk: Chunk, answer: Played) -> Iterable[PairRecord]:
        self.played(chunk, answer.records, answer.seconds)
        return answer.records


# -- in a process of its own -----------------------------------------------------------------

_here = threading.local()


def _play_aside(tasks: Sequence[PairTask], careful: bool, patience: float) -> Played:
    """Play a chunk in a thread beside the main one, where each search would get one of its own."""
    if not hasattr(_here, "helper"):
        _here.helper = Helper()
    _here.helper.give(tasks, careful, patience)
    played: Played | None = _here.helper.answer(math.inf)
    assert played is not None  # it has all the time in the world
    return played
