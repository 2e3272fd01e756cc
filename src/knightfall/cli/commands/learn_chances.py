"""``knightfall learn chances``: how likely opponents are to go wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json, Out, at_least_one, whole
from knightfall.cli.screen.output import print_report

Games = Annotated[
    int,
    typer.Option("--games", metavar="N", parser=at_least_one, help="Games to learn from."),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", parser=whole, help="Which games are played.")
]


def chances(out: Out, games: Games = 1600, seed: Seed = 0, json: Json = False) -> None:
    """Learn what opponents reply, and how likely it is wrong.

    Agents of all kinds hunt in won games.  What they choose is learned from what can be said of a
    reply: what heuristics count, what well-known searches would play, whether it keeps the win and
    how hard that is to see.  The champion uses it in lost positions, for opponents that are none
    of the players it knows.

    OUT gets chances.json.  It is judged by games from other openings, and of agents that were not
    learned from.  Some minutes; same settings, same file.

    \b
    Examples:
      knightfall learn chances learned
      knightfall learn chances learned --games 600 --seed 1
    """
    from knightfall.learning.chances.learn import learn

    print_report(learn(out, games, seed), json=json)
