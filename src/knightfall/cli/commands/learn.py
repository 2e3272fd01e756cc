"""``knightfall learn``: from positions with the solver's truth, or from games, to a heuristic."""

from __future__ import annotations

import typer

from knightfall.cli.commands.learn_chances import chances
from knightfall.cli.commands.learn_data import data
from knightfall.cli.commands.learn_fit import fit
from knightfall.cli.commands.learn_tune import tune
from knightfall.cli.options.common import PLAIN_HELP

learn = typer.Typer(name="learn", **PLAIN_HELP)


@learn.callback(invoke_without_command=True)
def about(context: typer.Context) -> None:
    """Learn heuristics from the truth, or how opponents err.

    \b
    Examples:
      knightfall learn data positions
      knightfall learn fit positions models
      knightfall learn tune "improved+0.5*bfs_reach" tuned
      knightfall learn chances learned
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


learn.command(name="data")(data)
learn.command(name="fit")(fit)
learn.command(name="tune")(tune)
learn.command(name="chances")(chances)
