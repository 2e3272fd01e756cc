"""``knightfall league``: many agents, a rating for each."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import BudgetText, Event, Pairs, plays_a_run
from knightfall.cli.options.common import at_least_one


@plays_a_run
def league(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Two or more.")],
    gauntlet: Annotated[
        int | None,
        typer.Option(
            "--gauntlet",
            metavar="N",
            parser=at_least_one,
            help="Only the first N meet all the others; by default everyone meets everyone.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="ERROR",
            help="Stop once each neighbour in the ranking is told apart, or known to within so "
            "many Elo.",
        ),
    ] = None,
    pairs: Pairs = 50,
    budget: BudgetText = None,
) -> Event:
    """Rate many agents.

    Everyone meets everyone, or a few meet all the others; ratings are Bradley and Terry's.

    \b
    Examples:
      knightfall league "id(improved)" "id(open)" "id(center)" "id(main)"
      knightfall league "id(mine.py:score)" "id(improved)" "id(main)" --gauntlet 1 --pairs 300
      knightfall league "id(improved)" "id(open)" "id(bfs_reach)" --until 10 --pairs 2000
    """
    from knightfall.arena import events

    return events.league, {
        "agents": agents,
        "pairs": pairs,
        "gauntlet": gauntlet,
        "until": None if until is None else _elo(until),
        "budget": budget,
    }


def _elo(text: str) -> float:
    from knightfall.cli.options.sprt import real

    return real(text, "a number of Elo above 0, as in --until 10")
