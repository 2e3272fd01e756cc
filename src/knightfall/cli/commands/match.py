"""``knightfall match``: two agents, a number of pairs or until it is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.commands.stats import Alpha, Beta, Bounds, Model
from knightfall.cli.options.arena import (
    Again,
    BoardText,
    Book,
    BudgetText,
    Dask,
    Seed,
    Stratify,
    Workers,
    board_text,
    book_of,
    budget_of,
)
from knightfall.cli.options.common import Json, at_least_one
from knightfall.cli.options.store import StorePath
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from knightfall.arena.conduct import Standing

PAIRS = 100
"""Pairs of a match unless said otherwise; a sequential test may take all openings there are."""

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
            help=f"Pairs of games: {PAIRS} by default, with --sprt at most every opening.",
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
    from knightfall.arena.plan.entrants import enter, files_of
    from knightfall.arena.plan.plan import Match, Plan
    from knightfall.cli.conducting import carry_out

    if sprt is None:
        for option, given in (("--model", model), ("--alpha", alpha), ("--beta", beta)):
            if given is not None:
                raise KnightfallError(f"{option} {given} needs --sprt, as in --sprt 0,20")
    entrants = enter([a, b], budget_of(budget))
    stop = {} if sprt is None else _stop(sprt, model, alpha, beta)
    plan = Plan(
        kind="match",
        entrants=entrants,
        matches=(Match(0, 1),),
        pairs=pairs or (PAIRS if sprt is None else 1_000_000),
        seed=seed,
        board=board_text(board),
        book=book_of(book),
        stratify=stratify,
        stop=stop,
        files=files_of(entrants),
        options={"given_budget": budget or ""},
    )
    if pairs is None:
        from dataclasses import replace

        plan = replace(plan, pairs=plan.rounds)
    carry_out(plan, store=store, workers=workers, dask=dask, again=again, json=json, view=_live)


def _stop(bounds: str, model: str | None, alpha: str | None, beta: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    from knightfall.cli.commands.stats import sprt_of

    return {"rule": "sprt", **asdict(sprt_of(bounds, alpha, beta, model))}


def _live(standing: Standing) -> RenderableType:
    from rich.text import Text

    from knightfall.cli.reports.match import block

    return Text("\n".join(block(standing.plan, standing.counts[0])) + "\n")
