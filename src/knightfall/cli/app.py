"""The commands, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer

from knightfall.cli.options import PLAIN_HELP
from knightfall.cli.terminal import GuardedGroup
from knightfall.errors import KnightfallError
from knightfall.extensions import added, load_added

COMMANDS = {
    "play": "knightfall.cli.commands.play:play",
    "watch": "knightfall.cli.commands.watch:watch",
    "analyse": "knightfall.cli.commands.positions:analyse",
    "solve": "knightfall.cli.commands.positions:solve",
    "atlas": "knightfall.cli.commands.atlas:atlas",
    "verify": "knightfall.cli.commands.atlas:verify",
    "check": "knightfall.cli.commands.heuristics:check",
    "eval": "knightfall.cli.commands.eval:evaluate",
    "explain": "knightfall.cli.commands.heuristics:explain",
    "moves": "knightfall.cli.commands.positions:moves",
    "perft": "knightfall.cli.commands.positions:perft",
    "heuristics": "knightfall.cli.commands.heuristics:heuristics",
    "agents": "knightfall.cli.commands.agents:agents",
    "grade": "knightfall.cli.commands.agents:grade",
    "annotate": "knightfall.cli.commands.games:annotate",
    "tournament": "knightfall.cli.commands.arena:tournament",
    "match": "knightfall.cli.commands.arena:match",
    "league": "knightfall.cli.commands.arena:league",
    "worth": "knightfall.cli.commands.arena:worth",
    "runs": "knightfall.cli.commands.runs:runs",
    "show": "knightfall.cli.commands.runs:show",
    "games": "knightfall.cli.commands.games:games",
    "replay": "knightfall.cli.commands.replay:replay",
    "plot": "knightfall.cli.commands.runs:plot",
    "export": "knightfall.cli.commands.export:export",
    "import": "knightfall.cli.commands.export:import_",
    "backup": "knightfall.cli.commands.export:backup",
    "stats": "knightfall.cli.commands.stats:stats",
    "sprt": "knightfall.cli.commands.stats:sprt",
}
"""Our commands in the order of ``--help``, by import path; each is imported when it is used."""


class AllCommands(GuardedGroup):
    """Our commands and, behind them, those that extensions add; ours are never replaced."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List our commands, then those of extensions."""
        return [*COMMANDS, *(name for name in added("commands") if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, which is imported now; None if there is none of that name."""
        names = self.list_commands(ctx)
        if cmd_name in names:
            return _command(cmd_name)
        self.commands = dict.fromkeys(
            names, cast(Any, None)
        )  # what Typer chooses from to say "Did you mean …?"
        return None


@cache
def _command(name: str) -> Any:
    """Return a command, or one that says why it cannot be loaded if it is an extension's."""
    try:
        made = _load(name)
    except KnightfallError as error:
        reason = str(error)

        def made() -> None:
            raise KnightfallError(reason)

        made.__doc__ = f"Cannot be loaded: {reason}"
    around = typer.Typer(add_completion=False, **PLAIN_HELP)
    around.callback()(lambda: None)  # or a single command would take its place
    if isinstance(made, typer.Typer):
        around.add_typer(made, name=name)
    else:
        around.command(name, cls=getattr(made, "command_class", None))(made)
    group: Any = typer.main.get_command(around)
    return group.commands[name]


def _load(name: str) -> Any:
    if name not in COMMANDS:
        return load_added("commands", name)
    module, _, attribute = COMMANDS[name].partition(":")
    return getattr(import_module(module), attribute)


app = typer.Typer(name="knightfall", cls=AllCommands, pretty_exceptions_enable=False, **PLAIN_HELP)


@app.callback(invoke_without_command=True)
def knightfall(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """The laboratory for Knight's Isolation: play it, write a heuristic, measure it.

    \b
    Start with one of these:
      knightfall play
      knightfall watch AB_Improved MM_Open
      knightfall analyse "7/7/1N5/7/7/4n2/7 w"

    Two knights, no captures: a cell once visited is gone, and whoever cannot move loses.
    Positions are FENs: rows from the top, digits for open cells, * for gone ones, N and n for the
    first and the second player's knight, then who moves (w or b).  They hold spaces, so put them
    in quotes.
    """
    if version:
        from knightfall import __version__

        typer.echo(f"knightfall {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
