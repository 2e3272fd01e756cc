"""``knightfall course new``: a fresh exercise to fill in."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.screen.output import print_line

Folder = Annotated[
    str, typer.Argument(metavar="DIR", help="The folder to write it into; made if it is missing.")
]
Generation = Annotated[
    str,
    typer.Option("--generation", metavar="2017b|2017a", help="Which of the course's interfaces."),
]


def new(folder: Folder, generation: Generation = "2017b") -> None:
    """Write a fresh exercise: a game_agent.py with the places to fill in, tests, the task.

    Nothing is overwritten: a folder that holds one of these files already is refused.

    \b
    Examples:
      knightfall course new mine
      knightfall course check mine
    """
    from shlex import quote

    from knightfall.course.exercise.begin import begin

    for file in begin(folder, generation):
        print_line(f"wrote {file}")
    print_line("", f"Read the README.md, and then: knightfall course check {quote(folder)}")
