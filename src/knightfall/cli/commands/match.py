"""``knightfall match``: two agents, a number of pairs or until it is decided."""

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
from knightfall.cli.options.sprt import Alpha, Beta, Bounds, Model, given_test
from knightfall.cli.options.store import StorePath

A = Annotated[str, typer.Argument(metavar="A", help="The agent whose Elo it is.")]
B = Annotated[str, typer.Argument(metavar="B", help="Its opponent.")]


def match(
    a: A,
    b: B,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            metavar="N",
            parser=at_least_one,
            help="Pairs of games: 100 by default, with --sprt at most every opening.",
            show_default=False,
        ),
    ] = None,
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
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
    """Let two agents meet, each opening from both seats.

    \b
    Examples:
      knightfall match "id(main)" "id(improved)" --pairs 500
      knightfall match "id(mine.py:score)" "id(improved)" --sprt 0,20
    """
    from knightfall.arena import events

    carry_out(
        events.match,
        json,
        store,
        a=a,
        b=b,
        pairs=pairs,
        sprt=given_test(sprt, alpha, beta, model),
        budget=budget,
        seed=seed,
        board=board,
        book=book,
        stratify=stratify,
        workers=workers,
        dask=dask,
        again=again,
    )
