"""The command ``knightfall mirror``."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.position import Position


def mirror(fen: Annotated[str, typer.Argument(help="The position, in quotes.")]) -> None:
    """Show a position in a mirror: its columns from right to left.

    A mirror image has the same value.
    """
    rows, _, rest = Position.from_fen(fen).fen.partition(" ")
    mirrored = "/".join(row[::-1] for row in rows.split("/"))
    typer.echo(Position.from_fen(f"{mirrored} {rest}").fen)
