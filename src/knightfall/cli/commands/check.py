"""``knightfall check``: is a heuristic sound, what does it cost, does it know anything?"""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.screen.output import print_report

BROKEN = 1
"""The exit code if a promise is broken."""

One = Annotated[str, typer.Argument(metavar="HEURISTIC", help="Its id, or file.py:function.")]
On = Annotated[str, typer.Option("--board", metavar="WxH", help="The board to examine it on.")]


def check(heuristic: One, board: On = "7x7", json: Json = False) -> None:
    """Examine a heuristic you have written.

    Is it deterministic and finite, does it raise errors or never return, is it symmetric where it
    says so, is it compiled, what does it cost beside improved, and does it tell won positions from
    lost ones better than null does? The exit code is 1 if something is wrong.

    \b
    Examples:
      knightfall check mine.py:cosy
      knightfall check "mine.py:cosy+improved" --board 5x6
    """
    from knightfall.oracle.check import check as examine

    found = examine(heuristic, board=board)
    print_report(found, json=json)
    if found.wrong:
        raise typer.Exit(BROKEN)
