"""A board to click in a cell of a notebook: `Board`, which shares its position with Python.

The widget's script is one ES module: the page's board, game and engine, with the page's style.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.optional_dependencies import require
from knightfall.position import Position
from knightfall.web.site import PAGE, bundle

require("knightfall.notebook", "anywidget")

import anywidget  # noqa: E402
import traitlets  # noqa: E402

__all__ = ["Board"]

HERE = Path(__file__).parent


def widget_script() -> str:
    """Return an ES module whose default export is a widget of anywidget; it fetches nothing."""
    own = (HERE / "widget.css").read_text(encoding="utf-8")
    return f"""
{bundle(HERE / "widget.js", style=page_style() + own)}
const source = unpacked();
export default {{
async render(place) {{
const {{ ladder, style }} = parts;
return notebook_widget.render({{ source: await source, ladder, style }}, place);
}},
}};
"""


def page_style() -> str:
    """Return the page's style for a shadow root, in the theme that the widget's host names."""
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    dark = r"@media \(prefers-color-scheme: dark\) \{\s*:root (\{[^}]*\})\s*\}"
    style, found = re.subn(dark, r':host([data-theme="dark"]) \1', style)
    assert found == 1
    return re.sub(r"(?m)^(\s*)body \{", r"\1.page {", style.replace(":root", ":host"))


class Board(anywidget.AnyWidget):
    """A board for Jupyter, marimo and other notebooks that show widgets of anywidget.

    `fen` is the position on the board: a click on a legal move changes it, and setting it redraws
    the board.  While `truth` is true, each move is marked as winning or losing with the plies
    that the game then lasts.  Both can be observed: ``board.observe(function, "fen")``.

    >>> board = Board("7/7/1N5/7/7/4n2/7 w")
    >>> board.position.legal_moves
    ('a7', 'c7', 'd6', 'd4', 'a3', 'c3')
    >>> board.position = board.position.play("d4")
    >>> board.fen
    '7/7/1*5/3N3/7/4n2/7 b'
    """

    _esm = widget_script()

    fen = traitlets.Unicode().tag(sync=True)
    truth = traitlets.Bool(False).tag(sync=True)

    def __init__(self, position: Position | str | None = None, *, truth: bool = False) -> None:
        """Show a position or a FEN; without one, the empty 7×7 board with both knights to place.

        Raise a KnightfallError if `position` is no FEN.
        """
        start = Position.start() if position is None else position
        super().__init__(fen=_fen_of(start), truth=truth)

    @property
    def position(self) -> Position:
        """The position on the board; it can be set to a `Position` or a FEN."""
        return Position.from_fen(self.fen)

    @position.setter
    def position(self, position: Position | str) -> None:
        self.fen = _fen_of(position)

    @traitlets.validate("fen")
    def _valid_fen(self, proposal: dict[str, Any]) -> str:
        """Return the FEN as `Position.fen` writes it.  Raise a KnightfallError if it is none."""
        return _fen_of(proposal["value"])

    def __repr__(self) -> str:
        return f"Board({self.fen!r})"


def _fen_of(position: Position | str) -> str:
    if isinstance(position, Position):
        return position.fen
    if isinstance(position, str):
        return Position.from_fen(position).fen
    raise KnightfallError(f"a board shows a Position or a FEN, not {position!r}")
