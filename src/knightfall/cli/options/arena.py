"""The options that every command that plays a run has, and what they come to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.options.common import at_least_one, whole
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.plan.plan import Entrant, Plan
    from knightfall.arena.runners.runner import Runner
    from knightfall.search.budget import Budget

Pairs = Annotated[
    int,
    typer.Option("--pairs", metavar="N", parser=at_least_one, help="Pairs of games a match."),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="S", parser=whole, help="Decides the openings and every broken tie."
    ),
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="BUDGET",
        help="For every agent that deepens: nodes=2500, depth=6 or time=150ms.",
        show_default=False,
    ),
]
BoardText = Annotated[
    str, typer.Option("--board", metavar="WxH", help="The board, unless a book is given.")
]
Book = Annotated[
    str | None,
    typer.Option(
        "--book",
        metavar="FILE",
        help="Begin with the positions of a file, a FEN a line.",
        show_default=False,
    ),
]
Stratify = Annotated[
    bool,
    typer.Option("--stratify", help="Openings where the mover hunts and where it runs take turns."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        parser=whole,
        help="Processes that play; 0 plays in this one. By default one per core.",
        show_default=False,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Play on a Dask cluster instead.", show_default=False
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="Play anew even if this run is in the store already.")
]


def budget_of(text: str | None) -> Budget | None:
    """What ``--budget nodes=2500`` asks for."""
    from knightfall.search.budget import ACCEPTED, parse_budget

    if text is None:
        return None
    given = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key in given:
            raise KnightfallError(f"budget {text!r} cannot be read: accepted are {ACCEPTED}")
        given[key] = value
    return parse_budget(given)


def board_text(text: str) -> str:
    """The board's name as a plan has it."""
    from knightfall.cli.options.common import board_named

    board = board_named(text)
    return f"{board.width}x{board.height}"


def book_of(path: str | None) -> tuple[str, ...]:
    """The positions of a book; none if there is no book."""
    from knightfall.openings import read_book

    return () if path is None else tuple(read_book(path))


def check_runner(plan: Plan, workers: int | None, dask: str | None) -> None:
    """Refuse what no runner can do, before anything is stored."""
    if workers is None:
        return
    if dask is not None:
        raise KnightfallError("--workers and --dask: choose one, the cluster has its own workers")
    timed, cores = _timed(plan), _cores()
    if timed and workers > cores:
        raise KnightfallError(
            f"--workers {workers}: games by the clock need a core each, and there are {cores} "
            f"({timed[0].name} plays by the clock)"
        )
    from knightfall.arena.runners.pool import MOST_WORKERS

    if workers > MOST_WORKERS:
        raise KnightfallError(f"--workers {workers} must be from 0 to {MOST_WORKERS}")


def runner_for(plan: Plan, workers: int | None, dask: str | None) -> Runner:
    """Who plays: this process, some processes of this machine, or a cluster.

    Timed games get a core each, or they would disturb one another.
    """
    agents = [entrant.agent for entrant in plan.entrants]
    if dask is not None:
        from knightfall.arena.runners.cluster import Cluster

        return Cluster(dask, agents)
    timed, cores = _timed(plan), _cores()
    if timed:
        warn_of_load(cores, timed[0])
    if workers == 0:
        from knightfall.arena.runners.runner import InProcess

        return InProcess(agents)
    from knightfall.arena.runners.pool import MOST_WORKERS, Pool

    wanted = min(cores, MOST_WORKERS) if workers is None else workers
    return Pool(min(wanted, plan.total), agents, pin=bool(timed))


def _timed(plan: Plan) -> list[Entrant]:
    from knightfall.agents import known_agent

    return [entrant for entrant in plan.entrants if known_agent(entrant.agent).timed]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def warn_of_load(cores: int, timed: Entrant) -> None:
    """Say so if the machine has other things to do than to play games by the clock."""
    from knightfall.cli.screen.guard import say

    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        return
    if load > 0.3 * cores:
        say(
            f"warning: {timed.name} plays by the clock, and this machine is busy (load {load:.1f} "
            f"on {cores} {'core' if cores == 1 else 'cores'}): results will depend on what else "
            "it does"
        )
