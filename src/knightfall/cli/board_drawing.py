"""Drawing a board on a terminal, with the colours and characters that the terminal supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console
from rich.style import Style
from rich.text import Text

from knightfall.board import Board
from knightfall.position import Position, Side


@dataclass(frozen=True)
class Colours:
    """The styles of a board."""

    tile: tuple[Style, Style]
    """An open cell, by the colour of the cell."""
    gone: Style
    left: Style
    """The cell that the last move left."""
    target: Style
    knight: dict[Side, Style]
    beside: dict[Side, Style]
    """A knight in the text beside the board, on the terminal's own background."""


def _colours(
    light: str, dark: str, gone: str, left: str, target: str, knights: tuple[str, str],
    beside: tuple[str, str],
) -> Colours:  # fmt: skip
    return Colours(
        tile=(Style.parse(light), Style.parse(dark)),
        gone=Style.parse(gone),
        left=Style.parse(left),
        target=Style.parse(target),
        knight={"w": Style.parse(knights[0]), "b": Style.parse(knights[1])},
        beside={"w": Style.parse(beside[0]), "b": Style.parse(beside[1])},
    )


# Numbers of the 256-colour palette, which truecolour terminals show, too.
_MANY = _colours(
    light="color(95) on color(223)",
    dark="color(95) on color(180)",
    gone="color(243) on color(239)",
    left="color(178) on color(136)",
    target="bold color(231) on color(30)",
    knights=("bold color(231) on color(25)", "bold color(231) on color(124)"),
    beside=("bold color(33)", "bold color(160)"),
)
_SIXTEEN = _colours(
    light="black on bright_white",
    dark="black on white",
    gone="bright_black on black",
    left="black on yellow",
    target="bold black on green",
    knights=("bold bright_white on blue", "bold bright_white on red"),
    beside=("bold bright_blue", "bold bright_red"),
)


def colours(console: Console) -> Colours:
    """Return the styles for this console; a console without colours ignores them."""
    return _SIXTEEN if console.color_system in ("standard", "windows") else _MANY


def coloured(console: Console) -> bool:
    """Return whether the console shows background colours."""
    return console.color_system is not None and not console.no_color


@dataclass(frozen=True)
class Signs:
    """The characters of a board.

    `box` holds the corners and crossings row by row, then the horizontal and the vertical line.
    """

    knight: dict[Side, str]
    gone: str
    dot: str
    box: str


_UNICODE = Signs({"w": "♘", "b": "♞"}, "▒", "·", "┌┬┐├┼┤└┴┘─│")
_ASCII = Signs({"w": "N", "b": "n"}, "#", ".", "+++++++++-|")


def signs(console: Console) -> Signs:
    """Return the characters that this console can show."""
    return _UNICODE if console.encoding.lower().startswith("utf") else _ASCII


# -- the drawing ------------------------------------------------------------------------------


# Lines of the terminal that stay free for the text below the board.
_BELOW = 4

# Columns that text beside the board needs; if there are fewer, it goes below the board.
_GAP, _ASIDE = 3, 28

_DIM = Style(dim=True)


@dataclass(frozen=True)
class Layout:
    """The width of a cell in columns, and whether lines are drawn between cells."""

    cell: int
    lines: bool

    def size(self, board: Board) -> tuple[int, int]:
        """Return the columns and rows of the whole drawing."""
        margin = len(str(board.height)) + 1
        if self.lines:
            return margin + board.width * (self.cell + 1) + 1, 2 * board.height + 2
        return margin + board.width * self.cell, board.height + 1


def layout(board: Board, columns: int, rows: int) -> Layout:
    """Return the largest layout that fits, or the smallest one if none does."""
    choices = [Layout(4, True), Layout(3, True), Layout(4, False), Layout(3, False)]
    for choice in choices:
        width, height = choice.size(board)
        if width <= columns and height + _BELOW <= rows:
            return choice
    return choices[-1]


def knight(console: Console, side: Side) -> Text:
    """Return the sign of a side's knight for text beside the board."""
    return Text(signs(console).knight[side], colours(console).beside[side])


def show(position: Position, console: Console, aside: Sequence[Text]) -> None:
    """Print the board with lines of text beside it, or below it on a narrow terminal."""
    board = draw(position, console)
    width = max(line.cell_len for line in board)
    room = console.width - width - _GAP
    beside = room >= _ASIDE
    texts = [
        line for text in aside for line in text.wrap(console, room if beside else console.width)
    ]
    if not beside:
        console.print(*board, *texts, sep="\n")
        return
    for left, right in zip_longest(board, texts, fillvalue=Text()):
        line = left.copy()
        if right:
            line.pad_right(width + _GAP - left.cell_len)
        console.print(line + right, soft_wrap=True)


def draw(position: Position, console: Console) -> list[Text]:
    """Return the lines of the drawn board."""
    board = position.board
    how = layout(board, console.width, console.height if console.is_terminal else 25)
    sign = signs(console)
    margin = len(str(board.height)) + 1
    box, across = sign.box, sign.box[9] * how.cell
    bar = sign.box[10] if how.lines else ""

    def rule(left: str, middle: str, right: str) -> list[Text]:
        if not how.lines:
            return []
        line = left + middle.join([across] * board.width) + right
        return [Text(" " * margin).append(line, _DIM)]

    lines = rule(*box[0:3])
    for row in range(board.height):
        if row:
            lines += rule(*box[3:6])
        line = Text().append(f"{board.height - row:>{margin - 1}} ", _DIM)
        for column in range(board.width):
            line.append(bar, _DIM)
            line.append_text(_tile(position, board.at(row, column), how, console))
        lines.append(line.append(bar, _DIM))
    lines += rule(*box[6:9])
    files = "".join(
        f"{'':{len(bar)}}{board.name(column)[0]:^{how.cell}}" for column in range(board.width)
    )
    lines.append(Text(" " * margin).append(files.rstrip(), _DIM))
    return lines


def _tile(position: Position, cell: int, how: Layout, console: Console) -> Text:
    board, sign, style = position.board, signs(console), colours(console)
    came_from, came_to = position.last or (None, None)
    for side in ("w", "b"):
        if cell == position.knight(side):
            mark = sign.knight[side]
            mark = f"[{mark}]" if cell == came_to else f" {mark} "
            return Text(f"{mark:<{how.cell}}", style.knight[side])
    if cell not in position.open:
        return Text(sign.gone * how.cell, style.left if cell == came_from else style.gone)
    plain = style.tile[board.colour(cell)]
    if cell in position.targets(position.to_move):
        # Before a knight is placed every open cell is a target: no highlight then.
        bright = style.target if position.knight(position.to_move) is not None else plain
        return Text(f"{board.name(cell):^{how.cell}}", bright)
    empty = "" if how.lines or coloured(console) else sign.dot
    return Text(f"{empty:^{how.cell}}", plain)
