"""Plays here, and hires processes only for what will take long.

A process takes two seconds until it is ready: more than most runs take altogether.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from knightfall.arena.game.agent_process import PATIENCE
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.runners.pool import Pool
from knightfall.arena.runners.runner import Closing, InProcess

TRIAL = 1.0
"""Seconds of play after which it can be told how long the rest will take."""

WORTH_HIRING = 4.0
"""Seconds that must be left, or the processes would be ready when all is over."""


class Adaptive(Closing):
    """This process at first, then a pool if `pairs` (or what is left of them) take long."""

    def __init__(
        self, workers: int, pairs: int, agents: Sequence[str] = (), patience: float = PATIENCE
    ) -> None:
        self._workers, self._agents, self._patience = workers, agents, patience
        self._left = pairs
        self._here = InProcess(agents, patience)
        self._pool: Pool | None = None

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """See `Runner`."""
        if self._pool is None:
            yield from self._begin_here(tasks)
        if self._pool is not None:
            yield from self._pool.play(tasks)

    def _begin_here(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        """Play in this process until the pool is ready, if there is to be one."""
        handing_over = False

        def here() -> Iterator[PairTask]:
            # What was taken here is played here: the rest is the pool's.
            for task in tasks:
                yield task
                if handing_over:
                    return

        start, played = time.monotonic(), 0
        with closing(self._here.play(here())) as records:
            for record in records:
                played += 1
                self._left -= 1
                if self._pool is None:
                    seconds = time.monotonic() - start
                    long = self._left * seconds / played > WORTH_HIRING
                    if seconds > TRIAL and long:
                        self._pool = Pool(self._workers, self._agents, patience=self._patience)
                        self._pool.hire()
                elif not handing_over and self._pool.ready:
                    handing_over = True
                yield record

    def close(self) -> None:
        """Let everybody go home."""
        self._here.close()
        if self._pool is not None:
            self._pool.close()
