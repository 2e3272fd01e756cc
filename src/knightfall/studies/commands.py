"""``knightfall reproduce``: play the studies again and judge their claims."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.arena_options import Again, Seed
from knightfall.cli.options import Dask, Json, RunWorkers, StorePath, whole_number

PAIRS = 700
"""A copy of `knightfall.studies.plans.PAIRS`, so that --help need not import it."""


def reproduce(
    study: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY...",
            help="A study, such as lookahead or staged; all by default. For an unknown name, the "
            "error message lists all studies.",
        ),
    ] = None,
    pairs: Annotated[
        int,
        whole_number(
            "--pairs",
            "Pairs of games per opponent; in the league, two heuristics play a twentieth as many.",
        ),
    ] = PAIRS,
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="NAME",
            help="Budget of the agents: course (as the authors' agents played), time (equal time), "
            "nodes (2,500 per move), never (as course, but agents never resign) or all of these.",
        ),
    ] = "all",
    seed: Seed = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="The folder for the report; by default docs/studies in a checkout, else studies.",
        ),
    ] = None,
    no_league: Annotated[
        bool, typer.Option("--no-league", help="Leave out the league of all heuristics.")
    ] = False,
    no_grades: Annotated[
        bool,
        typer.Option(
            "--no-grades",
            help="Leave out how the exact solver judges the heuristics' games and moves.",
        ),
    ] = False,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fit the conditions of each study again (minutes) instead of using the recorded "
            "ones; the result is written to fit.json in the output folder.",
        ),
    ] = False,
    workers: RunWorkers = None,
    dask: Dask = None,
    store: StorePath = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Play the studies again and judge their claims.

    Each study's own tournament is played as its author's agents played it, then at equal time, at
    equal nodes and without resigning. The heuristics that its author wished for are played as well,
    then a league of all heuristics, with the oracle's grades. The report compares published and
    measured results and gives a verdict on every claim. After an interruption, repeat the command
    to continue. Without matplotlib everything but the charts is written.

    \b
    Examples:
      knightfall reproduce
      knightfall reproduce lookahead --pairs 50 --no-league
      knightfall reproduce staged aggressive --budget course --output /tmp/studies
    """
    from knightfall.cli.options import store_path
    from knightfall.cli.terminal import INTERRUPTED, print_report, say
    from knightfall.display.report import print_parts
    from knightfall.studies import reproduction
    from knightfall.studies.document import PAGES

    folder = _folder(output)
    try:
        report = reproduction.reproduce(
            study or [],
            pairs=pairs,
            budget=budget,
            seed=seed,
            output=folder,
            league=not no_league,
            grades=not no_grades,
            fit=fit,
            workers=workers,
            dask=dask,
            store=store_path(store),
            again=again,
            notice=say,
        )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    print_report(report, json=json)
    if not json:
        print_parts(f"wrote {folder / name}" for name in PAGES)


def _folder(given: str | None) -> Path:
    """Return the folder of the report."""
    from knightfall.errors import KnightfallError

    if given is not None and not given.strip():
        raise KnightfallError(f"--output {given!r} is not the name of a folder")
    default = Path("docs/studies") if Path("src/knightfall/studies").is_dir() else Path("studies")
    return default if given is None else Path(os.path.expanduser(given))
