"""``knightfall course scores``: which of a submission's scores run as machine code?"""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.screen.output import print_report

Path = Annotated[
    str, typer.Argument(metavar="PATH", help="A game_agent.py, or the folder that holds it.")
]


def scores(path: Path, json: Json = False) -> None:
    """Tell which scores of a submission can be compiled as heuristics, and why others cannot.

    A score is a function of game and player; as a heuristic it is called course:PATH#custom_score.

    \b
    Examples:
      knightfall course scores AIND-Isolation
      knightfall check "course:AIND-Isolation#custom_score"
    """
    from knightfall.course.student_scores.survey import survey

    print_report(survey(path), json=json)
