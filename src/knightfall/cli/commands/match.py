"""``knightfall match``: two agents, a number of pairs or until it is decided."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import BudgetText, Event, plays_a_run
from knightfall.cli.options.common import at_least_one
from knightfall.cli.options.course import Generation, of_generation
from knightfall.cli.options.sprt import Alpha, Beta, Bounds, Model, given_test

A = Annotated[str, typer.Argument(metavar="A", help="The agent whose Elo it is.")]
B = Annotated[str, typer.Argument(metavar="B", help="Its opponent.")]


@plays_a_run
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
        ),
    ] = None,
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    budget: BudgetText = None,
    generation: Generation = None,
) -> Event:
    """Let two agents meet, each opening from both seats.

    --generation is for every course: agent that does not say its own.

    \b
    Examples:
      knightfall match "id(main)" "id(improved)" --pairs 500
      knightfall match "id(mine.py:score)" "id(improved)" --sprt 0,20
    """
    from knightfall.arena import events

    a, b = of_generation([a, b], generation)
    return events.match, {
        "a": a,
        "b": b,
        "pairs": pairs,
        "sprt": given_test(sprt, alpha, beta, model),
        "budget": budget,
    }
