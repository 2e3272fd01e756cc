"""``knightfall course``: work for the course, examined and begun anew."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json, command_group
from knightfall.cli.options.course import Generation
from knightfall.cli.screen.output import print_line, print_report
from knightfall.course.play_commands import classroom, run

WRONG = 1
"""The exit code if a check fails."""

Checked = Annotated[
    str,
    typer.Argument(
        metavar="PATH", help="A game_agent.py or my_custom_player.py, or the folder that holds it."
    ),
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", min=0.1, max=3600, help="What a check may take.")
]


def check(
    path: Checked, generation: Generation = None, seconds: Seconds = 10.0, json: Json = False
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


# -- scores -----------------------------------------------------------------------------------


Scored = Annotated[
    str, typer.Argument(metavar="PATH", help="A game_agent.py, or the folder that holds it.")
]


def scores(path: Scored, json: Json = False) -> None:
    """Tell which scores of a submission can be compiled as heuristics, and why others cannot.

    A score is a function of game and player; as a heuristic it is called course:PATH#custom_score.

    \b
    Examples:
      knightfall course scores AIND-Isolation
      knightfall check "course:AIND-Isolation#custom_score"
    """
    from knightfall.course.student_scores.survey import survey

    print_report(survey(path), json=json)


# -- new --------------------------------------------------------------------------------------


Folder = Annotated[
    str, typer.Argument(metavar="DIR", help="The folder to write it into; made if it is missing.")
]
NewGeneration = Annotated[
    str,
    typer.Option("--generation", metavar="2017b|2017a", help="Which of the course's interfaces."),
]


def new(folder: Folder, generation: NewGeneration = "2017b") -> None:
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


# -- path -------------------------------------------------------------------------------------


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


# -- the group --------------------------------------------------------------------------------


course = command_group(
    "course",
    """Run, examine and begin work for the course.

    \b
    Examples:
      knightfall course run AIND-Isolation
      knightfall course class submissions
      knightfall course check AIND-Isolation
      knightfall course scores AIND-Isolation
      knightfall course new mine
      knightfall course path --generation 2017a
    """,
)


course.command(name="run")(run)
course.command(name="class")(classroom)
course.command(name="check")(check)
course.command(name="scores")(scores)
course.command(name="new")(new)
course.command(name="path")(path)
