"""``knightfall course class``: everybody's submission in one league, and a page for each."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import Seed, Workers
from knightfall.cli.options.common import Json, at_least_one
from knightfall.cli.options.course import Clock, MoveTime, Opponents

Folder = Annotated[
    str,
    typer.Argument(metavar="FOLDER", help="Holds a folder or a .py file for each submission."),
]


def classroom(
    folder: Folder,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR", help="Where pages go; FOLDER-report if not given."),
    ] = None,
    opponents: Opponents = None,
    pairs: Annotated[
        int,
        typer.Option(
            "--pairs", metavar="N", parser=at_least_one, help="Pairs of games per opponent."
        ),
    ] = 5,
    classmates: Annotated[
        int,
        typer.Option(
            "--classmates",
            metavar="N",
            min=0,
            max=1000,
            help="How many of the others each submission meets, too.",
        ),
    ] = 4,
    time: MoveTime = None,
    clock: Clock = "ticks",
    generation: Annotated[
        list[str] | None,
        typer.Option(
            "--generation",
            metavar="[NAME=]G",
            help="The generation of all, or of the student NAME; may be repeated.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Let a whole class play: a league of all submissions and the course's opponents.

    Writes a page for each student, with blunders as pictures, and a table of all (index.html,
    class.csv).  What cannot be used is listed with what is wrong.  Interrupted, the same command
    goes on; handed in again, only that submission plays again.

    \b
    Examples:
      knightfall course class submissions
      knightfall course class submissions --output reports/week3 --clock wall
    """
    from knightfall.cli.screen.guard import INTERRUPTED, say
    from knightfall.cli.screen.output import print_report
    from knightfall.course.classroom.classroom import hold_class, output_folder

    try:
        report = hold_class(
            folder,
            output,
            opponents=opponents or (),
            pairs=pairs,
            classmates=classmates,
            time=time,
            clock=clock,
            generations=generation or (),
            seed=seed,
            workers=workers,
            notice=(lambda text: None) if json else say,
        )
    except KeyboardInterrupt:
        say(
            f"knightfall: interrupted; what was played is in {output_folder(folder, output)}, and "
            "the same command goes on"
        )
        raise typer.Exit(INTERRUPTED) from None
    print_report(report, json=json)
