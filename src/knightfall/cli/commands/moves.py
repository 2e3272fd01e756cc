"""``knightfall moves``: the legal moves of a position."""

from __future__ import annotations

from knightfall.cli.options.common import Fen, Json, position_named
from knightfall.cli.screen.output import print_json, print_line


def moves(fen: Fen, json: Json = False) -> None:
    """List the legal moves of a position.

    \b
    Examples:
      knightfall moves "7/7/1N5/7/7/4n2/7 w"
      knightfall moves --json "7/7/7/3N3/7/7/7[n] b"
    """
    legal = position_named(fen).legal_moves
    if json:
        print_json({"moves": list(legal)})
    else:
        print_line(" ".join(legal) or "no legal moves: the game is over")
