"""Who plays a plan: this process, some processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knightfall.agents import Agent, known_agent
from knightfall.arena.plan import Plan
from knightfall.errors import KnightfallError
from knightfall.machine import cores, load
from knightfall.position import Position

if TYPE_CHECKING:
    from knightfall.arena.runners.runner import Runner

Notice = Callable[[str], None]
"""Hears what a person should know, a sentence at a time."""

BUSY = 0.3
"""A machine whose load is above this share of its cores has other things to do."""

SHORT = 20.0
"""Seconds: games by the clock that take no longer are played here, one after the other."""


@dataclass(frozen=True)
class Crew:
    """What a user wants: so many `workers` (0: only this process; None: as it fits) or a cluster.

    Timed games get a core each, or they would disturb one another.  A heuristic that was declared
    in this process, in a notebook say, is known here alone.
    """

    workers: int | None = None
    dask: str | None = None

    def check(self, plan: Plan) -> None:
        """Refuse what no runner can do, before anything is stored."""
        from knightfall.arena.runners.workers import MOST_WORKERS

        if self.dask is not None and self.workers is not None:
            raise KnightfallError(
                f"workers={self.workers} and dask={self.dask!r}: choose one, the cluster has its "
                "own workers"
            )
        here = [agent for agent in _agents(plan) if agent.only_here]
        if here and (self.workers or self.dask is not None):
            raise KnightfallError(
                f"{here[0].name} uses a heuristic that was declared in this process: other "
                "processes do not know it; play in this one, or put it into a file"
            )
        if self.dask is not None:
            from knightfall.arena.runners.cluster import check_address

            check_address(self.dask)
        if self.workers is None:
            return
        if not 0 <= self.workers <= MOST_WORKERS:
            raise KnightfallError(f"workers={self.workers} must be from 0 to {MOST_WORKERS}")
        timed = [agent for agent in _agents(plan) if agent.timed]
        if timed and self.workers > cores():
            raise KnightfallError(
                f"workers={self.workers}: games by the clock need a core each, and there are "
                f"{cores()} ({timed[0].name} plays by the clock)"
            )

    def hire(self, plan: Plan, notice: Notice) -> Runner:
        """Whoever plays, ready to begin."""
        texts = [entrant.agent for entrant in plan.entrants]
        if self.dask is not None:
            from knightfall.arena.runners.cluster import Cluster

            return Cluster(self.dask, texts)
        agents = _agents(plan)
        timed = [agent for agent in agents if agent.timed]
        if timed:
            _warn_of_load(timed[0], notice)
        from knightfall.arena.runners.pool import Pool
        from knightfall.arena.runners.runner import InProcess
        from knightfall.arena.runners.workers import MOST_WORKERS

        automatic = self.workers is None
        wanted = min(cores(), MOST_WORKERS, plan.total) if self.workers is None else self.workers
        alone = wanted == 0 or any(agent.only_here for agent in agents)
        if alone or (automatic and (wanted == 1 or (timed and _seconds(plan) < SHORT))):
            return InProcess(texts)
        if automatic and not timed:
            from knightfall.arena.runners.adaptive import Adaptive

            return Adaptive(wanted, plan.total, texts)
        return Pool(min(wanted, max(plan.total, 1)), texts, pin=bool(timed))


def _agents(plan: Plan) -> list[Agent]:
    return [known_agent(entrant.agent) for entrant in plan.entrants]


def _seconds(plan: Plan) -> float:
    """About what games by the clock take: of a board's cells, each side visits a third or so."""
    cells = Position.from_fen(plan.starts[0]).board.cells
    limits = [known_agent(entrant.agent).budget.seconds or 0.0 for entrant in plan.entrants]
    return sum(
        2 * plan.rounds * (limits[match.a] + limits[match.b]) * cells / 3 for match in plan.matches
    )


def _warn_of_load(timed: Agent, notice: Notice) -> None:
    """Say so if the machine has other things to do than to play games by the clock."""
    busy = load()
    if busy is not None and busy > BUSY * cores():
        number = f"{cores()} {'core' if cores() == 1 else 'cores'}"
        notice(
            f"warning: {timed.name} plays by the clock, and this machine is busy (load {busy:.1f} "
            f"on {number}): results will depend on what else it does"
        )
