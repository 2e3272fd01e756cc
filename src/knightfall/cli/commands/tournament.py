"""``knightfall tournament``: the course's tournament, with honest numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import BudgetText, Event, plays_a_run
from knightfall.cli.options.common import at_least_one


@plays_a_run
def tournament(
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="AGENT",
            help="An agent to test; may be repeated. By default the baseline and the five "
            "heuristics that the studies recommend.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="AGENT",
            help="An opponent; may be repeated. By default the course's seven.",
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
        ),
    ] = None,
    budget: BudgetText = None,
) -> Event:
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

    return events.tournament, {
        "tests": test or (),
        "against": against or (),
        "protocol": protocol,
        "pairs": pairs,
        "budget": budget,
    }
