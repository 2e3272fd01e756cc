"""``knightfall league``: many agents, a rating for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    from knightfall.arena.plan import plan as schedule
    from knightfall.arena.plan.entrants import enter, files_of
    from knightfall.cli.conducting import carry_out

    if len(agents) < 2:
        raise KnightfallError(f"a league needs two agents or more, not only {agents[0]!r}")
    if gauntlet is not None and gauntlet >= len(agents):
        raise KnightfallError(
            f"--gauntlet {gauntlet} leaves no opponents: there are {len(agents)} agents"
        )
    error = None if until is None else _elo(until)
    entrants = enter(agents, budget_of(budget))
    if gauntlet is None:
        matches = schedule.everyone(entrants)
    else:
        matches = schedule.gauntlet(entrants, gauntlet)
    plan = schedule.Plan(
        kind="league",
        entrants=entrants,
        matches=matches,
        pairs=pairs,
        seed=seed,
        board=board_text(board),
        book=book_of(book),
        stratify=stratify,
        stop={} if error is None else {"rule": "until", "error": error},
        files=files_of(entrants),
        options={"given_budget": budget or ""},
    )
    carry_out(plan, store=store, workers=workers, dask=dask, again=again, json=json, view=_live)


def _elo(text: str) -> float:
    from knightfall.cli.commands.stats import real

    what = "a number of Elo above 0, as in --until 10"
    error = real(text, what)
    if not 0 < error < 10_000:
        raise KnightfallError(f"{text!r} is not {what}")
    return error


def _live(standing: Standing) -> RenderableType:
    from knightfall.cli.reports.league import ranking

    return ranking(standing)
