"""``knightfall annotate``: which moves of a game kept the win, and which gave it away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import StorePath, store_path
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import print_report

WhichGame = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="Moves in quotes, a file, a saved or stored game's name, last, or - for stdin.",
    ),
]
Picture = Annotated[
    Path | None, typer.Option("--svg", metavar="FILE", help="Draw the swing there.")
]


def annotate(
    game: WhichGame, svg: Picture = None, store: StorePath = None, json: Json = False
) -> None:
    """Judge every move of a game by the exact truth.

    A game is its placements and moves in order, after a FEN if it did not begin on an empty 7×7
    board; a saved game; a stored one by its name; or what watch --json prints.  The last game is
    the newest that was saved or, if a run is newer, the first of that run's last pair.  For both
    players, every move keeps the win or gives it away, and then those that kept it are named.
    Where no move loses, or the position is lost already, there is nothing to judge.  The chart
    shows who was winning after each ply.

    The end is judged first: after Ctrl-C you see what was found out by then.

    \b
    Examples:
      knightfall annotate "b5 e2 d4 f4 e6 d3"
      knightfall annotate "5/5/2N2/5/n4 w e4 b3" --svg swing.svg
      knightfall annotate last
      knightfall annotate 4.0.0
      knightfall watch AB_Improved MM_Open --json | knightfall annotate -
    """
    from knightfall.files import atomic_write, check_output
    from knightfall.notation.reader import read_game
    from knightfall.oracle.annotate import annotate as judge

    if svg is not None:
        check_output(svg)
    given = read_game(sys.stdin.read()) if game == "-" else game
    annotation = judge(given, store=store_path(store))
    if svg is not None:
        atomic_write(svg, annotation.to_svg())
    print_report(annotation, json=json)
    if annotation.partial:
        say("knightfall: interrupted: not every move is judged")
        raise typer.Exit(INTERRUPTED)
