"""The application: all commands in their panels, and the text printed without a command."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer

from knightfall.cli.help_format import PLAIN_HELP, PlainCommand
from knightfall.cli.terminal import GuardedGroup
from knightfall.errors import KnightfallError
from knightfall.extensions import added, extensions, load_added

PANELS = {
    "Play": {
        "play": "knightfall.cli.commands.play:play",
        "watch": "knightfall.cli.commands.play:watch",
    },
    "Ask": {
        "analyse": "knightfall.cli.commands.positions:analyse",
        "solve": "knightfall.cli.commands.positions:solve",
        "eval": "knightfall.cli.commands.eval:evaluate",
        "annotate": "knightfall.cli.commands.games:annotate",
        "atlas": "knightfall.cli.commands.atlas:atlas",
    },
    "Measure": {
        "tournament": "knightfall.cli.commands.arena:tournament",
        "match": "knightfall.cli.commands.arena:match",
        "league": "knightfall.cli.commands.arena:league",
        "worth": "knightfall.cli.commands.arena:worth",
        "grade": "knightfall.cli.commands.agents:grade",
        "stats": "knightfall.cli.commands.stats:stats",
    },
    "Runs": {"runs": "knightfall.cli.commands.runs:runs"},
    "Build and learn": {
        "heuristics": "knightfall.cli.commands.heuristics:heuristics",
        "agents": "knightfall.cli.commands.agents:agents",
        "check": "knightfall.cli.commands.heuristics:check",
        "doctor": "knightfall.cli.commands.doctor:doctor",
    },
    "Teach": {},
}
"""The core's commands by the panel of ``--help`` that lists them; each is imported when used."""

HIDDEN = {"perft": "knightfall.cli.commands.positions:perft"}
"""Commands that work but are not listed."""

COMMANDS = {name: path for panel in PANELS.values() for name, path in panel.items()} | HIDDEN

OTHERS = "Extensions"
"""The last panel: commands of extensions that name no panel, or an unknown one."""

RENAMED = {
    "show": "runs show",
    "games": "runs games",
    "replay": "runs replay",
    "plot": "runs plot",
    "export": "runs export",
    "import": "runs import",
    "backup": "runs backup",
    "verify": "atlas verify",
    "explain": "eval --explain",
    "moves": "analyse",
    "sprt": "stats plan",
}
"""Commands of earlier versions, with what replaces them."""


class AllCommands(GuardedGroup):
    """The core's commands and those of extensions, which cannot replace the core's."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands: panel by panel, then the hidden ones."""
        return [name for names in panels().values() for name in names] + [*HIDDEN]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return a command; return None if there is none of that name."""
        names = self.list_commands(ctx)
        if cmd_name in names:
            return _command(cmd_name)
        if cmd_name in RENAMED and not ctx.resilient_parsing:  # it is set by shell completion
            raise KnightfallError(
                f"command {cmd_name!r} was renamed; use: knightfall {RENAMED[cmd_name]}"
            )
        # Typer looks here for similar names, to ask "Did you mean …?".
        self.commands = dict.fromkeys(names, cast(Any, None))
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section of the help for each panel."""
        width = max(map(len, self.list_commands(ctx)))
        room = formatter.width - 6 - width
        for panel, names in panels().items():
            rows = [(name.ljust(width), _command(name).get_short_help_str(room)) for name in names]
            with formatter.section(panel):
                formatter.write_dl(rows)


def panels() -> dict[str, list[str]]:
    """Return the names of all commands that are listed, by panel; empty panels are left out."""
    listed = {panel: list(names) for panel, names in PANELS.items()} | {OTHERS: []}
    for name, (extension, _) in added("commands").items():
        if name not in COMMANDS:
            panel = extensions()[extension].panels.get(name, OTHERS)
            listed[panel if panel in PANELS else OTHERS].append(name)
    return {panel: names for panel, names in listed.items() if names}


@cache
def _command(name: str) -> Any:
    """Return a command; if it cannot be loaded, return one that fails with the reason."""
    try:
        made = _load(name)
    except KnightfallError as error:
        reason = str(error)

        def made() -> None:
            raise KnightfallError(reason)

        made.__doc__ = f"Cannot be loaded: {reason}"
    around = typer.Typer(add_completion=False, **PLAIN_HELP)
    around.callback()(lambda: None)  # without it, Typer returns a single command, not a group
    if isinstance(made, typer.Typer):
        around.add_typer(made, name=name)
    else:
        command_class = getattr(made, "command_class", PlainCommand)
        around.command(name, cls=command_class, hidden=name in HIDDEN)(made)
    group: Any = typer.main.get_command(around)
    return group.commands[name]


def _load(name: str) -> Any:
    if name not in COMMANDS:
        return load_added("commands", name)
    module, _, attribute = COMMANDS[name].partition(":")
    return getattr(import_module(module), attribute)


FIRST_STEPS = """\
Knight's Isolation: two knights move in turn, a visited cell is gone for good,
and the player who cannot move loses.

Your first three steps:

1. Play a game:
     knightfall play

2. Write a heuristic. Save these lines as mine.py, then check them:
     from knightfall.heuristics import heuristic, mobility, space

     @heuristic
     def cosy(board, open, me, opp, to_move):
         return space(board, open, me) - 0.5 * mobility(board, open, opp)

     knightfall check mine.py:cosy

3. Measure it against the baseline, improved:
     knightfall match mine.py:cosy improved

knightfall --help lists all commands; knightfall COMMAND --help explains one."""
"""The text that ``knightfall`` prints without a command."""


app = typer.Typer(name="knightfall", cls=AllCommands, pretty_exceptions_enable=False, **PLAIN_HELP)


@app.callback(invoke_without_command=True)
def knightfall(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """The laboratory for Knight's Isolation: play it, write a heuristic, measure it.

    \b
    Examples:
      knightfall play
      knightfall watch AB_Improved MM_Open
      knightfall analyse "7/7/1N5/7/7/4n2/7 w"

    Two knights, no captures: a visited cell is gone, and the player who cannot move loses.
    Positions are FENs: rows from the top, digits for open cells, * for visited ones, N and n for
    the knights of the first and the second player, then the side to move (w or b).  A FEN contains
    a space, so put it in quotes.
    """
    if version:
        from knightfall import __version__

        typer.echo(f"knightfall {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(FIRST_STEPS)
