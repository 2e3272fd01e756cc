"""``knightfall worth``: what a heuristic is worth, and what it is worth after paying for itself."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import Event, Pairs, plays_a_run
from knightfall.errors import KnightfallError

A = Annotated[str, typer.Argument(metavar="A", help="A heuristic, or an agent id(…).")]
B = Annotated[str, typer.Argument(metavar="[B]", help="What it is compared with.")]


@plays_a_run
def worth(
    a: A,
    b: B = "improved",
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="LIST",
            help="Equal nodes for a move: 250,500,1000,2500,5000,10000 by default.",
        ),
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(
            "--times",
            metavar="LIST",
            help="Equal times for a move: 0.02ms,0.05ms,0.1ms,0.2ms,0.5ms by default.",
        ),
    ] = None,
    no_time: Annotated[bool, typer.Option("--no-time", help="Leave equal time out.")] = False,
    pairs: Pairs = 100,
) -> Event:
    """Find out what a heuristic is worth after its cost.

    It plays at equal nodes, and at equal time, when it has paid for itself.

    One match per budget. At equal nodes only the judgement counts; at equal time a costly heuristic
    sees less. Time is turned into nodes by timing both on this machine first, so the games depend
    on no clock; the store remembers, and --again measures anew.

    \b
    Examples:
      knightfall worth bfs_reach
      knightfall worth mine.py:score "id(main)" --pairs 500
      knightfall worth main --nodes 1000,10000 --no-time
    """
    from knightfall.arena import events
    from knightfall.arena.worth.worth import NODES, TIMES

    if no_time and times is not None:
        raise KnightfallError(f"--times {times} and --no-time: choose one")
    return events.worth, {
        "a": a,
        "b": b,
        "nodes": NODES if nodes is None else nodes.split(","),
        "times": () if no_time else TIMES if times is None else times.split(","),
        "pairs": pairs,
    }
