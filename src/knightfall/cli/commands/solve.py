"""``knightfall solve``: the exact value of a position."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Fen, Json, TableMb, Threads, position_named, whole
from knightfall.cli.screen.output import print_report

NoDistance = Annotated[
    bool, typer.Option("--no-distance", help="Only who wins and with which moves: faster.")
]
NoAtlas = Annotated[bool, typer.Option("--no-atlas", help="Search even what is stored.")]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", metavar="N", parser=whole, help="Give up after so many nodes."),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Give up after so long, as in 150ms or 10s."),
]


def solve(
    fen: Fen,
    no_distance: NoDistance = False,
    no_atlas: NoAtlas = False,
    threads: Threads = 1,
    table_mb: TableMb = None,
    nodes: Nodes = None,
    time: Time = None,
    json: Json = False,
) -> None:
    """Find out who wins, with which moves and how soon.

    The value of best play: the winner hurries, the loser holds out.  Openings of the boards in
    the atlas are looked up, everything else is searched; Ctrl-C ends a long search with what is
    known by then.  Knights still to be placed are fine, too: if a side of the empty board is even,
    the second player wins by reflection, and on boards of more than 49 cells nothing else is
    searched for without --time or --nodes.

    \b
    Examples:
      knightfall solve "7/7/1N5/7/7/4n2/7 w"
      knightfall solve --no-atlas --threads 2 "7/7/1N5/7/7/4n2/7 w"
      knightfall solve "8/8/8/8/8/8/8/8[Nn] w"
      knightfall solve --no-distance "8/8/1N6/8/8/4n3/8/8 w" --time 30s
    """
    from knightfall.search.budget import parse_budget
    from knightfall.solver.engine import TABLE_MB
    from knightfall.solver.solve import solve

    solution = solve(
        position_named(fen),
        distance=not no_distance,
        atlas=not no_atlas,
        threads=threads,
        table_mb=TABLE_MB if table_mb is None else table_mb,
        nodes=nodes,
        seconds=None if time is None else parse_budget({"time": time}).seconds,
    )
    print_report(solution, json=json)
    if solution.interrupted:
        raise KeyboardInterrupt
