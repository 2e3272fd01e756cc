"""The colours and characters a board is drawn with, as many as the terminal can show."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.style import Style

from knightfall.position import Side


@dataclass(frozen=True)
class Colours:
    """The styles of a board."""

    tile: tuple[Style, Style]
    """An open cell, by the colour of the cell."""
    gone: Style
    left: Style
    """The cell the last move came from."""
    target: Style
    knight: dict[Side, Style]
    beside: dict[Side, Style]
    """A knight in the text beside the board, on whatever background the terminal has."""


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


# By number in the table of 256: a wooden board that truecolour terminals show just the same.
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
    """The styles for this console; one without colours ignores them."""
    return _SIXTEEN if console.color_system in ("standard", "windows") else _MANY


def coloured(console: Console) -> bool:
    """Whether backgrounds will be visible."""
    return console.color_system is not None and not console.no_color


@dataclass(frozen=True)
class Signs:
    """The characters of a board; `box` is corners and crossings row by row, then the lines."""

    knight: dict[Side, str]
    gone: str
    dot: str
    box: str


_UNICODE = Signs({"w": "♘", "b": "♞"}, "▒", "·", "┌┬┐├┼┤└┴┘─│")
_ASCII = Signs({"w": "N", "b": "n"}, "#", ".", "+++++++++-|")


def signs(console: Console) -> Signs:
    """The characters this console can show."""
    return _UNICODE if console.encoding.lower().startswith("utf") else _ASCII
