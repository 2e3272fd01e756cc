"""``knightfall course check``: is a submission right, and if not, what is wrong with it?"""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.course import Generation
from knightfall.cli.screen.output import print_report

WRONG = 1
"""The exit code if a check fails."""

Path = Annotated[
    str,
    typer.Argument(
        metavar="PATH", help="A game_agent.py or my_custom_player.py, or the folder that holds it."
    ),
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", min=0.1, max=3600, help="What a check may take.")
]


def check(
    path: Path, generation: Generation = None, seconds: Seconds = 10.0, json: Json = False
) -> None:
    """Examine a course submission: does it do what the course asks for?

    Its interface, floats from custom_score, the best moves at depths 1 to 3, alpha-beta that
    prunes, timeouts that come out of the search, deepening that deepens, (-1, -1) without moves.
    Of the successor's 11×9: legal actions in time, near the end, in whole games, deepening.
    What fails is explained, with the position. The exit code is 1 if something fails.

    \b
    Examples:
      knightfall course check .
      knightfall course check old/AIND-Isolation --json
    """
    from knightfall.course.checker.examine import examine

    found = examine(path, generation=generation, seconds=seconds)
    print_report(found, json=json)
    if not found.passed:
        raise typer.Exit(WRONG)
