"""Choosing who plays a plan: this process, workers of this machine, a cluster or an executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from knightfall.agents import Agent, known_agent
from knightfall.arena.plan import Plan
from knightfall.arena.run_options import Notice
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import MOST_WORKERS, RunnerOptions
from knightfall.machine import cores, load
from knightfall.position import Position

if TYPE_CHECKING:
    from knightfall.arena.runners.runner import Runner

BUSY = 0.3
"""A machine whose load is above this share of its cores has other things to do."""

SHORT = 20.0
"""Seconds: games by the clock that take no longer are played here, one after the other."""


def check_runner(options: RunnerOptions, plan: Plan) -> None:
    """Raise a `KnightfallError` for what no runner can play, before anything is stored.

    Games by the clock need a core each, or they would disturb one another.  A heuristic that was
    declared in this process, in a notebook say, is known here alone.
    """
    options.check()
    here = [agent for agent in _agents(plan) if agent.only_here]
    if here and (options.workers or options.leaves):
        raise KnightfallError(
            f"{here[0].name} uses a heuristic that was declared in this process: other "
            "processes do not know it; play in this one, or put it into a file"
        )
    timed = [agent for agent in _agents(plan) if agent.timed]
    if timed and (options.workers or 0) > cores():
        raise KnightfallError(
            f"workers={options.workers}: games by the clock need a core each, and there are "
            f"{cores()} ({timed[0].name} plays by the clock)"
        )


def choose_runner(options: RunnerOptions, plan: Plan, notice: Notice) -> Runner:
    """Return a runner for a plan, ready to begin."""
    from knightfall.arena.runners.runner import Adaptive, Elsewhere, InProcess, Pool

    texts = [entrant.agent for entrant in plan.entrants]
    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return Elsewhere(where, texts)
    agents = _agents(plan)
    timed = [agent for agent in agents if agent.timed]
    if timed:
        _warn_of_load(timed[0], notice)
    automatic = options.workers is None
    wanted = min(cores(), MOST_WORKERS, plan.total) if options.workers is None else options.workers
    alone = wanted == 0 or any(agent.only_here for agent in agents)
    if alone or (automatic and (wanted == 1 or (timed and _seconds(plan) < SHORT))):
        return InProcess(texts)
    if automatic and not timed:
        return Adaptive(wanted, plan.total, texts)
    return Pool(min(wanted, max(plan.total, 1)), texts, pin=bool(timed))


def runner_for(options: RunnerOptions, agents: Sequence[str]) -> Runner:
    """Return a runner for agents of any plan: without options, this process."""
    from knightfall.arena.runners.runner import Elsewhere, InProcess, Pool

    where = options.executor if options.dask is None else options.dask
    if where is not None:
        return Elsewhere(where, agents)
    workers = options.workers or 0
    return Pool(workers, agents) if workers > 1 else InProcess(agents)


def _agents(plan: Plan) -> list[Agent]:
    return [known_agent(entrant.agent) for entrant in plan.entrants]


def _seconds(plan: Plan) -> float:
    """Estimate what games by the clock take: each side visits about a third of a board's cells."""
    cells = Position.from_fen(plan.starts[0]).board.cells
    limits = [known_agent(entrant.agent).budget.seconds or 0.0 for entrant in plan.entrants]
    return sum(
        2 * plan.rounds * (limits[match.a] + limits[match.b]) * cells / 3 for match in plan.matches
    )


def _warn_of_load(timed: Agent, notice: Notice) -> None:
    """Warn if the machine has other things to do than to play games by the clock."""
    busy = load()
    if busy is not None and busy > BUSY * cores():
        number = f"{cores()} {'core' if cores() == 1 else 'cores'}"
        notice(
            f"warning: {timed.name} plays by the clock, and this machine is busy (load {busy:.1f} "
            f"on {number}): results will depend on what else it does"
        )
