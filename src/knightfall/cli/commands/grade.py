"""``knightfall grade``: how often an agent keeps a won position won."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.chart import Chart, Force
from knightfall.cli.options.common import Json, agent_named, whole
from knightfall.cli.options.completion import agent_names
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import print_report

Who = Annotated[
    str,
    typer.Argument(
        metavar="AGENT", help="Who is graded.", show_default=False, autocompletion=agent_names
    ),
]
Openings = Annotated[
    int,
    typer.Option(
        "--openings", metavar="N", parser=whole, help="Games to play, each from another opening."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", parser=whole, help="Which openings are drawn.")
]
Size = Annotated[str, typer.Option("--board", metavar="WxH", help="The board.")]
Workers = Annotated[
    int,
    typer.Option("--workers", metavar="N", parser=whole, help="Processes that share the games."),
]


def grade(
    agent: Who,
    openings: Openings = 50,
    seed: Seed = 0,
    board: Size = "7x7",
    workers: Workers = 1,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Grade an agent against the exact truth.

    The agent plays itself from random openings, and the solver judges every move.  What counts is
    how often a won position is kept won where there was a real choice: some moves win, some lose.
    "At random" is what random moves would have kept in the same positions.  Intervals take
    decisions for independent; the standard error knows that those of one game are not, nor those
    of games from mirrored openings.

    A hunter can take escape cells from the other knight, a runner cannot.  In the opening more
    than two thirds of the board are open, in the end not more than a third.

    The second table sorts positions by the agent's own score, proven ones apart, and tells how
    many are really won.  AUC is the chance that a won position scores above a lost one: 1 is an
    oracle, 0.5 a coin.

    The seed draws the openings, those that a match of that seed plays first, and nothing else.
    Same seed, same numbers, with any number of workers; only time budgets do not repeat.

    \b
    Examples:
      knightfall grade "id(improved, nodes=2500)"
      knightfall grade AB_Open --openings 200 --workers 2 --chart grade.svg
      knightfall grade "greedy(mine.py:cosy)" --board 6x6 --json
    """
    from knightfall.oracle.grade import grade as judge

    if chart is not None:
        from knightfall.arena.charts.style import save, writable

        writable(chart, force)
    who = agent_named(agent, quiet=json)
    result = judge(who, openings=openings, seed=seed, board=board, workers=workers)
    if chart is not None:
        save(result.plot(), chart)
    print_report(result, json=json)
    if result.partial:
        say(f"knightfall: interrupted after {result.games} of {result.openings} games")
        raise typer.Exit(INTERRUPTED)
