"""``knightfall tournament``: the course's tournament, with honest numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import (
    Again,
    BoardText,
    Book,
    BudgetText,
    Dask,
    Seed,
    Stratify,
    Workers,
    carry_out,
)
from knightfall.cli.options.common import Json, at_least_one
from knightfall.cli.options.store import StorePath


def tournament(
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="AGENT",
            help="An agent to test; may be repeated. By default the baseline and the five "
            "heuristics that the studies recommend.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="AGENT",
            help="An opponent; may be repeated. By default the course's seven.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option("--protocol", metavar="YEAR", help="2017b, or 2017a for the earlier course."),
    ] = "2017b",
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            metavar="N",
            parser=at_least_one,
            help="Pairs of games per opponent: the course's 5 (2017b) or 10 (2017a).",
            show_default=False,
        ),
    ] = None,
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
    """Play the course's tournament, with error bars.

    Each test agent meets each opponent, in pairs: one opening, played from both seats.
    Interrupted, the same command goes on.

    \b
    Examples:
      knightfall tournament
      knightfall tournament --test AB_Improved --test "AB_Custom(mine.py:score)" --pairs 200
      knightfall tournament --protocol 2017a --budget time=150ms
    """
    from knightfall.arena import events

    carry_out(
        events.tournament,
        json,
        store,
        tests=test or (),
        against=against or (),
        protocol=protocol,
        pairs=pairs,
        budget=budget,
        seed=seed,
        board=board,
        book=book,
        stratify=stratify,
        workers=workers,
        dask=dask,
        again=again,
    )
