"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.board import Board

MOST = 2**63 - 1

Fen = Annotated[
    str, typer.Argument(metavar="FEN", help="The position, in quotes.", show_default=False)
]
MaybeFen = Annotated[
    str | None,
    typer.Argument(metavar="FEN", help="Where to start, in quotes.", show_default=False),
]


def whole(given: str | int) -> int:
    """A whole number from 0 on; the error names what was given instead."""
    text = str(given)  # Typer sends defaults through here, too
    if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) and int(text) <= MOST:
        return int(text)
    raise typer.BadParameter(f"{text!r} is not a whole number from 0 to {MOST}")


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def at_least_one(given: str | int) -> int:
    """A whole number from 1 on."""
    number = whole(given)
    if number == 0:
        raise typer.BadParameter("'0' is not a whole number from 1 on")
    return number


Threads = Annotated[
    int, typer.Option("--threads", metavar="N", parser=at_least_one, help="Processors to use.")
]
TableMb = Annotated[
    int | None,
    typer.Option("--table-mb", metavar="MB", parser=at_least_one, help="Memory for the table."),
]

BoardName = Annotated[
    str, typer.Argument(metavar="BOARD", help="Width and height, as in 7x7.", show_default=False)
]


def board_named(text: str) -> Board:
    """The board that 7x7 or 7×8 names."""
    from knightfall.board import Board

    match = re.fullmatch(r"([0-9]{1,3})[x×]([0-9]{1,3})", text, re.ASCII)
    if match is None:
        raise KnightfallError(f"board {text!r} cannot be read: write width and height, as in 7x7")
    return Board.of(int(match[1]), int(match[2]))
