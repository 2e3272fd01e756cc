"""``knightfall course path``: where old scripts of the course import from."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json


def path(
    generation: Annotated[
        str,
        typer.Option(
            "--generation",
            metavar="NAME",
            help="2017b, 2017a, early, oldest, or successor for the 11×9 board.",
        ),
    ] = "2017b",
    json: Json = False,
) -> None:
    """Print the folder from which a script of the course imports its board and players.

    First on PYTHONPATH, it offers isolation and sample_players as they were in that generation.

    \b
    Examples:
      knightfall course path
      PYTHONPATH=$(knightfall course path --generation 2017a) python tournament.py
    """
    from knightfall.cli.screen.output import print_json, print_line
    from knightfall.course.paths import folder

    place = str(folder(generation))
    if json:
        print_json({"generation": generation, "path": place})
    else:
        print_line(place)
