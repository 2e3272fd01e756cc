"""The options that every command that plays a run has, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.arena.run_options import with_run_options
from knightfall.cli.options.common import Json, whole_number
from knightfall.cli.options.store import StorePath, store_path

if TYPE_CHECKING:
    from knightfall.arena.reports.report import RunReport

Pairs = Annotated[int, whole_number("--pairs", "Pairs of games a match.")]
Seed = Annotated[
    int, whole_number("--seed", "Decides the openings and every broken tie.", least=0, metavar="S")
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="BUDGET",
        help="For every agent that deepens: nodes=2500, depth=6 or time=150ms.",
    ),
]
BoardText = Annotated[
    str, typer.Option("--board", metavar="WxH", help="The board, unless a book is given.")
]
Book = Annotated[
    str | None,
    typer.Option(
        "--book", metavar="FILE", help="Begin with the positions of a file, a FEN a line."
    ),
]
Stratify = Annotated[
    bool,
    typer.Option("--stratify", help="Openings where the mover hunts and where it runs take turns."),
]
Workers = Annotated[
    int | None,
    whole_number(
        "--workers",
        "Processes that play; 0 plays in this one. By default one per core where it pays.",
        least=0,
    ),
]
Dask = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Play on a Dask cluster instead.")
]
Again = Annotated[
    bool, typer.Option("--again", help="Play anew even if this run is in the store already.")
]


Event = tuple["Callable[..., RunReport]", dict[str, Any]]
"""A function of `knightfall.arena.api`, and what it is asked beside the options below."""


NOTHING_MEASURED = 1
"""The exit code if every game was lost by crashes, timeouts and illegal moves."""


_OPTIONS: dict[str, Any] = {
    "seed": Seed,
    "board": BoardText,
    "book": Book,
    "stratify": Stratify,
    "workers": Workers,
    "dask": Dask,
    "store": StorePath,
    "again": Again,
}
"""How those fields of `RunOptions` are called on the command line that can be given there."""


def plays_a_run(command: Callable[..., Event]) -> Callable[..., None]:
    """Return a command that plays the event it names, with all options of a run, and reports.

    Typer reads the options of a command from its signature.
    """
    own = signature(command, eval_str=True)
    fields = with_run_options(Signature()).parameters
    parameters = [
        *own.parameters.values(),
        *(fields[name].replace(annotation=option) for name, option in _OPTIONS.items()),
        Parameter("json", Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        how = {name: given.pop(name) for name in ("json", *_OPTIONS)}
        event, asked = command(**given)
        _play(event, **asked, **how)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _play(event: Callable[..., RunReport], *, json: bool, store: str | None, **how: Any) -> None:
    """Play an event of `knightfall.arena.api` for a person, and print what came of it."""
    from knightfall.arena.store_file import user_store
    from knightfall.cli.screen.guard import INTERRUPTED, say
    from knightfall.cli.screen.output import print_report

    report = event(
        store=store_path(store) or user_store(), notice=(lambda text: None) if json else say, **how
    )
    if not report.interrupted or report.results.played:
        print_report(report, json=json)
    if report.interrupted:
        say(
            f"knightfall: interrupted after {report.plan.so_far(report.results.played)}; "
            f"the same command goes on with run {report.run.id}"
        )
        raise typer.Exit(INTERRUPTED)
    if report.broken:
        raise typer.Exit(NOTHING_MEASURED)
