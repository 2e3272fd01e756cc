"""``knightfall explain``: why a heuristic says what it says."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Fen, Json, position_named
from knightfall.cli.screen.output import print_report

Which = Annotated[
    str,
    typer.Option(
        "--heuristic", metavar="ID", help="learned_linear, or any heuristic or sum of them."
    ),
]


def explain(fen: Fen, heuristic: Which = "learned_linear", json: Json = False) -> None:
    """Show what each feature adds to a heuristic's value.

    Of learned_linear every feature with how often it is there, its weight in this role and phase,
    and its share as a bar: to the right what speaks for the side to move.  Of a sum of heuristics
    every term.

    \b
    Examples:
      knightfall explain "7/7/1N5/7/7/4n2/7 w"
      knightfall explain "7/7/1N5/7/7/4n2/7 w" --heuristic "2*open-improved"
    """
    from knightfall.heuristics.explain import explain as shares

    print_report(shares(position_named(fen), heuristic), json=json)
