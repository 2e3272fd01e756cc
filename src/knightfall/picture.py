"""Pictures of a position: plain text for a terminal, SVG for a page or a notebook.

The SVG stands on its own: no fonts beyond a generic sans-serif, no ids (so that many pictures
may share one page), and a background of its own (so that it reads on light and dark pages).
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator
from xml.sax.saxutils import escape

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side, other

_PLAYER: dict[Side, str] = {"w": "first player", "b": "second player"}
_KNIGHT: dict[Side, str] = {"w": "N", "b": "n"}


# -- plain text ------------------------------------------------------------------------------


def text(position: Position, marked: Container[int] = ()) -> str:
    """Return the board as text (``N n`` knights, ``*`` blocked, ``.`` open) with a status line.

    Brackets enclose the `marked` cells of each row.  The text does not end with a newline.
    """
    board = position.board
    letters = {position.white: _KNIGHT["w"], position.black: _KNIGHT["b"]}
    margin = len(str(board.height))
    lines = []
    for row in range(board.height):
        cells = range(board.at(row, 0), board.at(row, 0) + board.width)
        line, inside = f"{board.height - row:>{margin}} ", False
        for cell in cells:
            edge = "[" if cell in marked and not inside else "]" if inside else " "
            line += " " if inside and cell in marked else edge
            line += letters.get(cell, "." if cell in position.open else "*")
            inside = cell in marked
        lines.append(f"{line}{']' if inside else ''}")
    lines.append(f"{'':>{margin}}  {' '.join(_files(board))}")
    lines.append(_status(position))
    return "\n".join(lines)


def _status(position: Position) -> str:
    """Return one line about the side to move or to place, or about the winner."""
    winner = position.winner
    if winner:
        return f"{player(winner)} won: {player(other(winner))} has no move"
    if position.placed:
        return f"{player(position.to_move)} to move"
    pocket = " ".join(_KNIGHT[side] for side in _in_pocket(position))
    return f"{player(position.to_move)} to place a knight; in the pocket: {pocket}"


def player(side: Side) -> str:
    """Return the player of a side with the letter of its knight: "first player (N)"."""
    return f"{_PLAYER[side]} ({_KNIGHT[side]})"


def _in_pocket(position: Position) -> list[Side]:
    return [side for side in _PLAYER if position.knight(side) is None]


def _files(board: Board) -> Iterator[str]:
    return (board.name(column)[0] for column in range(board.width))


# -- SVG -------------------------------------------------------------------------------------
#
# One cell is 40 units wide; `size` only scales the finished drawing.
#
#     ┌──────────────────────┐
#     │     PAD              │
#     │ 3 ┌────────────┐     │
#     │ 2 │   cells    │ PAD │
#     │ 1 └────────────┘     │
#     │     a  b  c          │   FILES
#     │  ♞ to move     [♘ ♞] │   FOOT: whose turn, and the pocket while it holds a knight
#     └──────────────────────┘

_CELL = 40
_PAD = 12
_RANKS = 24
_FILES = 20
_FOOT = 30

_PAPER = "#fbf7ee"
_EDGE = "#d8cdb8"
_INK = "#6d6353"
_LIGHT, _DARK = "#f3ead6", "#e3d2b0"
_PIT, _HATCH = "#5d6470", "#737b88"
_LAST = "#f2b632"
_STUCK = "#d4493a"
_TARGET = "#2a8573"
_ARROW = "#2f6fc4"
_HOLLOW = ' stroke-width="2.5"'

# Fill and outline of each side's knight.
_COAT: dict[Side, tuple[str, str]] = {"w": ("#ffffff", "#2a2420"), "b": ("#2b2f3a", "#f7f1e3")}

# A knight looking left, in a square of 100 units.
_HEAD = (
    "M29 80C29 66 47 63 50 48C44 53 39 54 35 59C32 64 24 65 20 59C17 54 18 50 22 45"
    "C27 38 29 34 32 28C33 24 33 19 32 12C38 14 42 17 45 20C47 17 48 14 49 10"
    "C52 13 54 16 55 20C71 28 79 48 77 80Z"
)
_MANE = "M59 28C69 38 72 54 70 73"
_BASE = "M25 80H81Q84 80 84 84V88Q84 91 81 91H25Q22 91 22 88V84Q22 80 25 80Z"


def svg(
    position: Position,
    *,
    arrows: Iterable[tuple[str, str]] = (),
    mistakes: Iterable[tuple[str, str]] = (),
    marked: Container[int] = (),
    size: int = 360,
) -> str:
    """Return the position as a standalone SVG image, `size` pixels wide.

    It shows blocked cells, the last move, the mover's targets as dots, a stuck knight in red, and
    `arrows` from cell to cell by name; an arrow from a cell to itself is a ring around it.
    `mistakes` are arrows that are hollow and red; cells in `marked` are tinted.  Each cell is a
    group with its name in ``data-cell``, so that a page can tell which cell was clicked.
    """
    if type(size) is not int or size < 1:
        raise KnightfallError(f"size {size!r} must be a positive whole number of pixels")
    board = position.board
    width = _RANKS + board.width * _CELL + _PAD
    height = _PAD + board.height * _CELL + _FILES + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{size}" height="{max(1, round(size * height / width))}" role="img">',
        f"<title>{escape(position.fen)}</title>",
        f"<desc>{escape(_status(position))}</desc>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{_PAPER}" stroke="{_EDGE}"/>',
        *_coordinates(board),
        *_cells(position, marked),
        *(_arrow(board, start, end) for start, end in arrows),
        *(_arrow(board, start, end, mistake=True) for start, end in mistakes),
        *_foot(position, width, height),
        "</svg>",
    ]
    return "\n".join(parts)


def _corner(board: Board, cell: int) -> tuple[int, int]:
    """Return the coordinates of the top left corner of a cell."""
    return _RANKS + board.column(cell) * _CELL, _PAD + board.row(cell) * _CELL


def _centre(board: Board, cell: int) -> tuple[float, float]:
    x, y = _corner(board, cell)
    return x + _CELL / 2, y + _CELL / 2


def _coordinates(board: Board) -> Iterator[str]:
    """Yield the edge of the board, the rank numbers and the file letters."""
    bottom = _PAD + board.height * _CELL
    yield (
        f'<rect x="{_RANKS - 0.75}" y="{_PAD - 0.75}" width="{board.width * _CELL + 1.5}" '
        f'height="{board.height * _CELL + 1.5}" fill="none" stroke="{_INK}" stroke-width="1.5"/>'
    )
    yield f'<g font-family="sans-serif" font-size="11" fill="{_INK}" text-anchor="middle">'
    for rank in range(1, board.height + 1):
        y = bottom - (rank - 0.5) * _CELL + 4
        yield f'<text x="{_RANKS / 2:g}" y="{y:g}">{rank}</text>'
    for column, name in enumerate(_files(board)):
        x = _RANKS + (column + 0.5) * _CELL
        yield f'<text x="{x:g}" y="{bottom + 14}">{name}</text>'
    yield "</g>"


def _cells(position: Position, marked: Container[int]) -> Iterator[str]:
    board = position.board
    knights: dict[int | None, Side] = {position.white: "w", position.black: "b"}
    targets = frozenset(position.targets(position.to_move))
    left, reached = position.last or (None, None)
    stuck = position.knight(position.to_move) if position.winner else None
    for cell in range(board.cells):
        x, y = _corner(board, cell)
        square = f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}"'
        yield f'<g data-cell="{board.name(cell)}">'
        yield f'{square} fill="{_DARK if board.colour(cell) else _LIGHT}"/>'
        if cell not in position.open and cell not in knights:
            yield _blocked(x, y)
        if cell in marked:
            yield f'{square} class="marked" fill="{_ARROW}" fill-opacity=".3"/>'
        if cell == stuck:
            yield f'{square} class="stuck" fill="{_STUCK}" fill-opacity=".75"/>'
        elif cell == reached:
            yield f'{square} class="reached" fill="{_LAST}" fill-opacity=".6"/>'
        elif cell == left:
            yield (
                f'<rect class="left" x="{x + 3}" y="{y + 3}" width="{_CELL - 6}" '
                f'height="{_CELL - 6}" rx="3" fill="none" stroke="{_LAST}" stroke-width="3"/>'
            )
        if cell in targets:
            yield (
                f'<circle class="target" cx="{x + _CELL // 2}" cy="{y + _CELL // 2}" r="5.5" '
                f'fill="{_TARGET}" fill-opacity=".75"/>'
            )
        if cell in knights:
            yield _knight(knights[cell], *_centre(board, cell), _CELL)
        yield "</g>"


def _blocked(x: int, y: int) -> str:
    """Return a dark square with three diagonal strokes that stay clear of its round corners."""
    return (
        f'<rect class="blocked" x="{x + 1.5}" y="{y + 1.5}" width="{_CELL - 3}" '
        f'height="{_CELL - 3}" rx="4" fill="{_PIT}"/>'
        f'<path d="M{x + 6} {y + 18}L{x + 18} {y + 6}M{x + 6} {y + 34}L{x + 34} {y + 6}'
        f'M{x + 22} {y + 34}L{x + 34} {y + 22}" stroke="{_HATCH}" stroke-width="2.5" '
        'stroke-linecap="round"/>'
    )


def _knight(side: Side, x: float, y: float, width: float) -> str:
    """Return a side's knight, centred on a point."""
    fill, line = _COAT[side]
    outline = _COAT["w"][1]
    return (
        f'<g class="knight {side}" stroke-linejoin="round" stroke-linecap="round" '
        f'transform="translate({x - width / 2:g} {y - width / 2:g}) scale({width / 100:g})">'
        f'<path d="{_HEAD}{_BASE}" fill="{fill}" stroke="{outline}" stroke-width="4.5"/>'
        f'<path d="{_MANE}" fill="none" stroke="{line}" stroke-width="3.5"/>'
        f'<circle cx="39" cy="34" r="3.2" fill="{line}"/>'
        f'<circle cx="25.5" cy="53" r="2" fill="{line}"/></g>'
    )


def _arrow(board: Board, start: str, end: str, *, mistake: bool = False) -> str:
    """Return an arrow, or a ring if start and end are the same cell.

    The arrow is one filled outline: its transparency is even where shaft and head meet.
    """
    colour, inside = (_STUCK, _PAPER) if mistake else (_ARROW, _ARROW)
    x0, y0 = _centre(board, board.cell(start))
    x1, y1 = _centre(board, board.cell(end))
    kind = "mistake" if mistake else "arrow"
    mark = f'class="{kind}" data-from="{start}" data-to="{end}"'
    length = math.hypot(x1 - x0, y1 - y0)
    if length == 0:
        return (
            f'<circle {mark} cx="{x0:g}" cy="{y0:g}" r="{_CELL / 2 - 3:g}" fill="none" '
            f'stroke="{colour}" stroke-opacity=".85" stroke-width="4"/>'
        )
    along_x, along_y = (x1 - x0) / length, (y1 - y0) / length

    def point(along: float, aside: float) -> str:
        x = x0 + along * along_x - aside * along_y
        y = y0 + along * along_y + aside * along_x
        return f"{x:.2f},{y:.2f}"

    tail, neck, tip = 13, length - 20, length - 7
    outline = [(tail, -3), (neck, -3), (neck, -8), (tip, 0), (neck, 8), (neck, 3), (tail, 3)]
    points = " ".join(point(along, aside) for along, aside in outline)
    return (
        f'<polygon {mark} points="{points}" fill="{inside}" fill-opacity=".85" '
        f'stroke="{colour}" stroke-opacity=".85" stroke-linejoin="round"'
        f"{_HOLLOW if mistake else ''}/>"
    )


def _foot(position: Position, width: int, height: int) -> Iterator[str]:
    """Yield the footer: side to move or winner on the left, knights to be placed on the right."""
    middle = height - _FOOT / 2 - 1
    winner = position.winner
    side = winner or position.to_move
    deed = "won" if winner else "to move" if position.placed else "to place"
    # The narrowest boards have room for the knight and the verb only.
    words = f"{_PLAYER[side]} {deed}" if position.board.width > 4 else deed
    yield _knight(side, _RANKS + 9, middle, 20)
    yield (
        f'<text x="{_RANKS + 22}" y="{middle + 4:g}" font-family="sans-serif" font-size="11" '
        f'fill="{_INK}">{words}</text>'
    )
    pocket = _in_pocket(position)
    if pocket:
        room = 20 * len(pocket) + 6
        left = width - _PAD - room
        yield (
            f'<rect class="pocket" x="{left}" y="{middle - 13:g}" width="{room}" height="26" '
            f'rx="6" fill="{_DARK}" stroke="{_EDGE}"/>'
        )
        for place, owner in enumerate(pocket):
            yield _knight(owner, left + 13 + 20 * place, middle, 20)
