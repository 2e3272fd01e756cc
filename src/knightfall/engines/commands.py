"""``knightfall uci``: knightfall as an engine for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options import TableMb, whole_number

SearchHeuristic = Annotated[
    str | None,
    typer.Option(
        "--heuristic",
        metavar="HEURISTIC",
        help="The heuristic of the search; the default is learned_net.",
        show_default=False,
    ),
]
SolverWorkers = Annotated[int, whole_number("--workers", "Threads of the exact solver.")]


def uci(
    heuristic: SearchHeuristic = None, workers: SolverWorkers = 1, table_mb: TableMb = None
) -> None:
    """Play as a UCI engine for other programs.

    Commands are read from standard input.  The options set the defaults of the UCI options
    Heuristic, Threads and Hash.  docs/engines.md explains variants, moves and limits.

    \b
    Examples:
      knightfall uci
      knightfall uci --heuristic bfs_reach --workers 2
      knightfall match "uci(knightfall uci, nodes=2500)" improved --pairs 2
    """
    import sys

    from knightfall.engines.uci_server import HEURISTIC, EngineSettings, UciServer
    from knightfall.heuristics.expression import parse_heuristic
    from knightfall.solver.engine import TABLE_MB, check_resources

    table = TABLE_MB if table_mb is None else table_mb
    check_resources(workers, table)
    chosen = str(parse_heuristic(HEURISTIC if heuristic is None else heuristic))
    UciServer(EngineSettings(chosen, workers, table)).run(sys.stdin)
