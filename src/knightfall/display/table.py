"""Tables that fit the screen: columns without room continue below, and no number is cut.

::

    Agent     Elo   Games   hunter           Agent     Elo   Games
    main      +12   200     61 %     →       main      +12   200
    open      −12   200     39 %             open      −12   200

                                             Agent     hunter
                                             main      61 %
                                             open      39 %
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Literal, Self

from knightfall.display.numbers import NOTHING
from knightfall.display.printable import printable

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Align = Literal["left", "right", "center"]

NAME_WIDTH = 14
"""The least width of a label column; if the table still does not fit, it continues below."""

GAP = 2
"""Spaces between two columns."""


class Lines(str):
    """The text of a cell that has several lines; a line break within one of them is escaped."""

    def __new__(cls, lines: Iterable[str]) -> Self:
        """Join lines."""
        return super().__new__(cls, "\n".join(map(printable, lines)))


@dataclass
class Table:
    """Headings and rows of text.

    The first `labels` columns name a row: they may be folded if they are long, and are repeated in
    front of every continuation.  All other columns have numbers and are never folded.  They are
    aligned to the right unless `align` or `left` says otherwise; labels always to the left.
    `footer` is a last row, set apart from the others.  Headings may have several lines.
    """

    titles: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    labels: int = 1
    align: Align = "right"
    footer: Sequence[str] = ()
    left: Sequence[int] = ()
    """The indices of columns that are aligned to the left although they are not labels."""

    def add(self, *cells: str) -> None:
        """Add a row."""
        assert len(cells) == len(self.titles), cells
        self.rows.append(cells)

    def drop_empty_columns(self, *titles: str) -> Table:
        """Return the table without the named columns that are empty in every row."""
        empty = {
            column
            for column, title in enumerate(self.titles)
            if title in titles and all(row[column] in ("", NOTHING) for row in self.rows)
        }
        kept = [column for column in range(len(self.titles)) if column not in empty]

        def cut(row: Sequence[str]) -> list[str]:
            return [row[column] for column in kept] if row else []

        left = [place for place, column in enumerate(kept) if column in self.left]
        rows: list[Sequence[str]] = [cut(row) for row in self.rows]
        footer = cut(self.footer)
        return replace(self, titles=cut(self.titles), rows=rows, footer=footer, left=left)

    # -- on a screen -----------------------------------------------------------------------

    def blocks(self, width: int) -> list[RichTable]:
        """Split the table into as few blocks of columns as a screen of this width allows."""
        return self._printable()._blocks(width)

    def _printable(self) -> Table:
        """Return the table with control characters as escapes; titles and `Lines` keep breaks."""
        rows: list[Sequence[str]] = [
            [cell if isinstance(cell, Lines) else printable(cell) for cell in row]
            for row in self.rows
        ]
        titles = [printable(title, keep="\n") for title in self.titles]
        return replace(self, titles=titles, rows=rows, footer=[*map(printable, self.footer)])

    def _blocks(self, width: int) -> list[RichTable]:
        widths = [self._width(column) for column in range(len(self.titles))]
        longest = sum(widths[: self.labels]) + GAP * self.labels
        folded = sum(min(w, NAME_WIDTH) for w in widths[: self.labels]) + GAP * self.labels
        columns = range(self.labels, len(self.titles))
        # Labels are folded before columns continue below, and only as much as necessary.
        everything = longest + sum(widths[column] + GAP for column in columns) - GAP
        if everything <= width:
            return [self._block(columns, None)]
        names = max(folded, width - (everything - longest))
        pieces: list[list[int]] = [[]]
        used = names
        for column in columns:
            wanted = widths[column] + GAP
            if pieces[-1] and used + wanted - GAP > width:
                pieces.append([])
                used = names
            pieces[-1].append(column)
            used += wanted
        return [self._block(piece, width) for piece in pieces]

    def _cells(self, column: int) -> list[str]:
        rows = [self.titles, *self.rows, *([self.footer] if self.footer else [])]
        return [line for row in rows for line in row[column].split("\n")]

    def _width(self, column: int) -> int:
        from rich.cells import cell_len

        return max((cell_len(text) for text in self._cells(column)), default=0)

    def _align(self, column: int) -> Align:
        return "left" if column < self.labels or column in self.left else self.align

    def _block(self, columns: Sequence[int], width: int | None) -> RichTable:
        from rich.table import Table as RichTable
        from rich.text import Text

        # Titles as Text, so that users' words are not interpreted as markup.
        block = RichTable(
            box=None,
            header_style="bold",
            footer_style="bold",
            padding=(0, GAP, 0, 0),
            pad_edge=False,
            show_header=any(self.titles),
            show_footer=bool(self.footer),
        )
        chosen = [*range(self.labels), *columns]
        for column in chosen:
            label = column < self.labels
            align = self._align(column)
            block.add_column(
                Text(self.titles[column], justify=align),
                footer=Text("\n" + self.footer[column], justify=align) if self.footer else "",
                justify=align,
                no_wrap=not label,
                overflow="fold",
                min_width=None if label else self._width(column),
            )
        for row in self.rows:
            block.add_row(*(Text(row[column]) for column in chosen))
        return block

    # -- in a notebook ---------------------------------------------------------------------

    def html(self) -> str:
        """Return the table as HTML."""
        return self._printable()._html()

    def _html(self) -> str:

        def row(cells: Sequence[str], tag: str) -> str:
            parts = []
            for column, cell in enumerate(cells):
                align = self._align(column)
                text = escape(cell).replace("\n", "<br>")
                parts.append(f'<{tag} style="text-align:{align}">{text}</{tag}>')
            return f"<tr>{''.join(parts)}</tr>"

        head = f"<thead>{row(self.titles, 'th')}</thead>" if any(self.titles) else ""
        body = "".join(row(cells, "td") for cells in self.rows)
        foot = f"<tfoot>{row(self.footer, 'th')}</tfoot>" if self.footer else ""
        return f"<table>{head}<tbody>{body}</tbody>{foot}</table>"


def facts(rows: Mapping[str, str]) -> Table:
    """Return a table of two columns, names and values, that may both be folded."""
    table = Table(["", ""], labels=2)
    for name, value in rows.items():
        table.add(name, value)
    return table
