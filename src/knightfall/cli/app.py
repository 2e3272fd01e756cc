"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from knightfall.cli.commands.agents import agents, grade
from knightfall.cli.commands.arena import league, match, tournament, worth
from knightfall.cli.commands.atlas import atlas
from knightfall.cli.commands.certificates import verify
from knightfall.cli.commands.eval import evaluate
from knightfall.cli.commands.export import backup, export, import_
from knightfall.cli.commands.games import annotate, games
from knightfall.cli.commands.heuristics import check, explain, heuristics
from knightfall.cli.commands.play import PlayCommand, play
from knightfall.cli.commands.positions import analyse, moves, perft, solve
from knightfall.cli.commands.replay import replay
from knightfall.cli.commands.runs import plot, runs, show
from knightfall.cli.commands.sprt import sprt
from knightfall.cli.commands.stats import stats
from knightfall.cli.commands.watch import watch
from knightfall.cli.options import PLAIN_HELP
from knightfall.cli.terminal import GuardedGroup
from knightfall.errors import KnightfallError
from knightfall.extensions import added, load_added


class AllCommands(GuardedGroup):
    """Our commands and, behind them, those that extensions add; ours are never replaced."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List our commands, then those of extensions."""
        ours = super().list_commands(ctx)
        return [*ours, *(name for name in added("commands") if name not in ours)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; an extension's is imported now."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in added("commands"):
            return _extension_command(cmd_name)
        return found


def _extension_command(name: str) -> Any:
    """Return the command that an extension adds, or one that says why it cannot be loaded."""
    try:
        made = load_added("commands", name)
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
        around.command(name)(made)
    group: Any = typer.main.get_command(around)
    return group.commands[name]


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


app.command(name="play", cls=PlayCommand)(play)
app.command(name="watch")(watch)
app.command(name="analyse")(analyse)
app.command(name="solve")(solve)
app.add_typer(atlas)
app.command(name="verify")(verify)
app.command(name="check")(check)
app.command(name="eval")(evaluate)
app.command(name="explain")(explain)
app.command(name="moves")(moves)
app.command(name="perft")(perft)
app.command(name="heuristics")(heuristics)
app.command(name="agents")(agents)
app.command(name="grade")(grade)
app.command(name="annotate")(annotate)
app.command(name="tournament")(tournament)
app.command(name="match")(match)
app.command(name="league")(league)
app.command(name="worth")(worth)
app.command(name="runs")(runs)
app.command(name="show")(show)
app.command(name="games")(games)
app.command(name="replay")(replay)
app.command(name="plot")(plot)
app.command(name="export")(export)
app.command(name="import")(import_)
app.command(name="backup")(backup)
app.add_typer(stats)
app.add_typer(sprt)
