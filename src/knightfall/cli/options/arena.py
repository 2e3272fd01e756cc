"""The options that every command that plays a run has, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options.common import at_least_one, whole
from knightfall.cli.options.store import store_path

if TYPE_CHECKING:
    from knightfall.arena.reports.report import RunReport

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
        help="Processes that play; 0 plays in this one. By default one per core where it pays.",
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


def carry_out(event: Callable[..., RunReport], json: bool, store: str | None, **how: Any) -> None:
    """Play an event of `knightfall.arena.events` for a person, and print what came of it."""
    from knightfall.arena.store.file import user_store
    from knightfall.cli.screen.guard import INTERRUPTED, say
    from knightfall.cli.screen.output import print_report

    report = event(
        store=store_path(store) or user_store(),
        notice=(lambda text: None) if json else say,
        **how,
    )
    if not report.interrupted or report.results.played:
        print_report(report, json=json)
    if report.interrupted:
        say(
            f"knightfall: interrupted after {report.results.played:,} of "
            f"{report.plan.total:,} pairs; the same command goes on with run {report.run.id}"
        )
        raise typer.Exit(INTERRUPTED)
