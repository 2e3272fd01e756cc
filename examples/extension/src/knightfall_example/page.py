"""The view "Replies" of ``knightfall serve``: how many replies each move of a position leaves."""

from __future__ import annotations

from html import escape

from knightfall.extensions import PagePart
from knightfall.position import Position

POSITION = Position.from_fen("7/7/1N5/7/7/4n2/7 w")


def fragment() -> str:
    """Return the moves of the position with the number of replies to each, as HTML."""
    rows = "".join(
        f'<tr><th scope="row">{escape(move)}</th>'
        f"<td>{len(POSITION.play(move).legal_moves)}</td></tr>"
        for move in POSITION.legal_moves
    )
    return f"<h2>Replies</h2><p>To each move in {escape(POSITION.fen)}:</p><table>{rows}</table>"


REPLIES = PagePart("Replies", fragment)
