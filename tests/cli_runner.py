"""Run the command line inside the test process."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner, Result

from knightfall.cli.app import app

FEN = "7/7/1N5/7/7/4n2/7 w"


def run(*args: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=input)


def subcommands(group: Any) -> dict[str, Any]:
    """Return the commands of a group by name, those of extensions included; empty for a command."""
    if not hasattr(group, "list_commands"):
        return {}
    return {name: group.get_command(None, name) for name in group.list_commands(None)}


def stderr_of(result: Result) -> str:
    """Return the text on stderr without the notes that appear only the first time."""
    first = "compiling for this machine", "agents run in a sandbox (", "agents run in no sandbox"
    lines = result.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not any(words in line for words in first))


def answer(*args: str) -> Any:
    """Return the one line of JSON that a command prints."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert stderr_of(result) == ""
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


def refused(*args: str, input: str | None = None) -> str:
    """Return the one-line error message of a command that must fail."""
    result = run(*args, input=input)
    said = stderr_of(result)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert said.startswith("knightfall: "), said
    assert said.count("\n") == 1
    assert said.endswith("\n")
    return said
