"""``knightfall perft``: how many lines of a given length a position has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.options.common import Fen, Json, position_named, whole
from knightfall.cli.screen.output import print_json

if TYPE_CHECKING:
    from knightfall.position import Position

Depth = Annotated[int, typer.Argument(metavar="DEPTH", parser=whole, help="Plies, from 0 on.")]

AT_ONCE = 10
"""Plies the kernel counts in one go: a small fraction of a second, and Ctrl-C waits for it."""


def perft(fen: Fen, depth: Depth, json: Json = False) -> None:
    """Count the lines of a given length.

    A check of the rules, and of their speed: every line of exactly DEPTH plies counts once.

    \b
    Examples:
      knightfall perft "7/7/1N5/7/7/4n2/7 w" 8
      knightfall perft --json 4x4 5
    """
    nodes = _count(position_named(fen), depth)
    if json:
        print_json({"nodes": nodes})
    else:
        print(f"{nodes:,}")


def _count(position: Position, depth: int) -> int:
    """Walk the first plies in Python, where Ctrl-C is heard, and leave the rest to the kernel."""
    from knightfall.kernel.rules import perft_of

    if depth <= 1 or (position.placed and depth <= AT_ONCE):
        return perft_of(position, depth)
    return sum(_count(position.play(move), depth - 1) for move in position.legal_moves)
