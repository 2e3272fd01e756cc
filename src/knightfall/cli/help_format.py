"""The layout of help: plain text, usage lines such as ``knightfall match A B [OPTIONS]``."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

PLAIN_HELP: Any = {
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
"""Settings of every group of commands: help is plain text of at most 100 columns."""


class PlainCommand(TyperCommand):
    """A command whose help shows arguments by their metavars alone, before the options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line after the command's name."""
        arguments = [
            _metavar(param) if param.required else f"[{_metavar(param)}]"
            for param in self.params
            if param.param_type_name == "argument"
        ]
        return [*arguments, "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections Arguments and Options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.param_type_name == "argument":
                sections["Arguments"].append((_metavar(param), record[1]))
            elif record is not None:
                sections["Options"].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


class PlainGroup(TyperGroup):
    """A group of commands whose usage line ends in ``COMMAND [OPTIONS]``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line after the group's name."""
        return ["COMMAND", "[OPTIONS]"]


class _PlainTyper(typer.Typer):
    """A Typer application whose commands are `PlainCommand` unless another class is given."""

    def command(self, name: str | None = None, *, cls: Any = None, **more: Any) -> Any:
        return super().command(name, cls=cls or PlainCommand, **more)


def command_group(name: str, help: str, *, cls: type[TyperGroup] = PlainGroup) -> typer.Typer:
    """Return a group of commands that shows its help if no command is given."""

    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return _PlainTyper(
        name=name, help=help, cls=cls, callback=show_help, invoke_without_command=True, **PLAIN_HELP
    )
