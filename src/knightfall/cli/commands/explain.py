"""``knightfall explain``: why a heuristic says what it says."""

from __future__ import annotations

from pathlib import Path
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


Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Also write a picture of the position."),
]


def explain(
    fen: Fen, heuristic: Which = "learned_linear", svg: Svg = None, json: Json = False
) -> None:
    """Show what each feature adds to a heuristic's value.

    Of learned_linear every feature with how often it is there, its weight in this role and phase,
    and its share as a bar: to the right what speaks for the side to move.  Of a sum of heuristics
    every term, at this position's phase.  Of open_cluster also the window it is drawn to, on the
    board and in the picture.

    \b
    Examples:
      knightfall explain "7/7/1N5/7/7/4n2/7 w"
      knightfall explain "7/7/1N5/7/7/4n2/7 w" --heuristic "2*open-improved"
      knightfall explain "7/7/1N5/7/7/4n2/7 w" --heuristic open_cluster --svg cluster.svg
    """
    from knightfall.files import atomic_write, check_output
    from knightfall.heuristics.explain import explain as shares

    if svg is not None:
        check_output(svg)
    found = shares(position_named(fen), heuristic)
    if svg is not None:
        atomic_write(svg, found.svg())
    print_report(found, json=json)
