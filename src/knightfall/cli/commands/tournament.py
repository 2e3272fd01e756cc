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
            help="An opponent; may be repeated. By default the course's seven. Names such as "
            "AB_Open are those of the protocol.",
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
            help="Pairs of games against each opponent, instead of playing until it is decided.",
        ),
    ] = None,
    course_only: Annotated[
        bool,
        typer.Option(
            "--course-only",
            help="Stop after the course's own games: 5 pairs for each opponent (2017a: 10).",
        ),
    ] = False,
    budget: BudgetText = None,
    num_matches: Annotated[
        int | None,
        typer.Option(
            "--num-matches",
            metavar="N",
            parser=at_least_one,
            help="The course's NUM_MATCHES, instead of --pairs: a match is a pair, 2 games (2017a: "
            "2 pairs, 4 games). The course plays 5.",
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="TIME",
            help="The course's TIME_LIMIT, instead of --budget: time for a move of every agent, as "
            "in 150ms.",
        ),
    ] = None,
    timer_threshold: Annotated[
        str | None,
        typer.Option(
            "--timer-threshold",
            metavar="TIME",
            help="The course's TIMER_THRESHOLD: a search stops when so much of the time limit is "
            "left, 10ms if not given.",
        ),
    ] = None,
) -> Event:
    """Play the course's tournament, and go on until it is decided.

    Each test agent meets each opponent, in pairs: one opening, played from both seats.  After the
    course's own games it goes on until each test agent is better or worse than the first, or the
    difference is known to within two points.  A heuristic alone plays with the course's search.
    Interrupted, the same command goes on.

    \b
    Examples:
      knightfall tournament
      knightfall tournament --test improved --test mine.py:cosy
      knightfall tournament --test AB_Improved --test "AB_Custom(mine.py:score)" --pairs 200
      knightfall tournament --protocol 2017a --budget time=150ms
      knightfall tournament --num-matches 25 --time-limit 150ms --timer-threshold 10ms
    """
    from knightfall.arena import events

    return events.tournament, {
        "tests": test or (),
        "against": against or (),
        "protocol": protocol,
        "pairs": pairs,
        "course_only": course_only,
        "budget": budget,
        "num_matches": num_matches,
        "time_limit": time_limit,
        "timer_threshold": timer_threshold,
    }
