"""``knightfall course``: old work for the course, run, looked at and begun anew."""

from __future__ import annotations

import typer

from knightfall.cli.commands.course_check import check
from knightfall.cli.commands.course_class import classroom
from knightfall.cli.commands.course_new import new
from knightfall.cli.commands.course_path import path
from knightfall.cli.commands.course_run import run
from knightfall.cli.commands.course_scores import scores
from knightfall.cli.options.common import PLAIN_HELP

course = typer.Typer(name="course", **PLAIN_HELP)


@course.callback(invoke_without_command=True)
def about(context: typer.Context) -> None:
    """Run, examine and begin work for the course.

    \b
    Examples:
      knightfall course run AIND-Isolation
      knightfall course class submissions
      knightfall course check AIND-Isolation
      knightfall course scores AIND-Isolation
      knightfall course new mine
      knightfall course path --generation 2017a
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


course.command(name="run")(run)
course.command(name="class")(classroom)
course.command(name="check")(check)
course.command(name="scores")(scores)
course.command(name="new")(new)
course.command(name="path")(path)
