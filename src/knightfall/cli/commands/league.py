"""``knightfall league``: many agents, a rating for each."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import (
    Again,
    BoardText,
    Book,
    BudgetText,
    Dask,
    Pairs,
    Seed,
    Stratify,
    Workers,
    carry_out,
)
from knightfall.cli.options.common import Json, at_least_one
from knightfall.cli.options.store import StorePath


def league(
    agents: Annotated[
        list[str], typer.Argument(metavar="AGENT...", help="Two or more.", show_default=False)
    ],
    gauntlet: Annotated[
        int | None,
        typer.Option(
            "--gauntlet",
            metavar="N",
            parser=at_least_one,
            help="Only the first N meet all the others; by default everyone meets everyone.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="ERROR",
            help="Stop once each neighbour in the ranking is told apart, or known to within so "
            "many Elo.",
            show_default=False,
        ),
    ] = None,
    pairs: Pairs = 50,
    budget: BudgetText = None,
    seed: Seed = 0,
    board: BoardText = "7x7",
    book: Book = None,
    stratify: Stratify = False,
    workers: Workers = None,
    dask: Dask = None,
    store: StorePath = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Rate many agents.

    Everyone meets everyone, or a few meet all the others; ratings are Bradley and Terry's.

    \b
    Examples:
      knightfall league "id(improved)" "id(open)" "id(center)" "id(main)"
      knightfall league "id(mine.py:score)" "id(improved)" "id(main)" --gauntlet 1 --pairs 300
      knightfall league "id(improved)" "id(open)" "id(bfs_reach)" --until 10 --pairs 2000
    """
    from knightfall.arena import events

    carry_out(
        events.league,
        json,
        store,
        agents=agents,
        pairs=pairs,
        gauntlet=gauntlet,
        until=None if until is None else _elo(until),
        budget=budget,
        seed=seed,
        board=board,
        book=book,
        stratify=stratify,
        workers=workers,
        dask=dask,
        again=again,
    )


def _elo(text: str) -> float:
    from knightfall.cli.options.sprt import real

    return real(text, "a number of Elo above 0, as in --until 10")
