"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from knightfall.agents import Agent
    from knightfall.board import Board
    from knightfall.position import Position

PLAIN_HELP: Any = {
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
"""How every group of commands shows its help: as plain text, in lines that can be read."""

STARTPOS = "startpos"
MOST = 2**63 - 1

Fen = Annotated[
    str,
    typer.Argument(
        metavar="FEN", help="The position, in quotes; startpos and 8x8 are empty boards."
    ),
]
MaybeFen = Annotated[
    str | None,
    typer.Argument(
        metavar="FEN", help="Where to start, in quotes; startpos and 8x8 are empty boards."
    ),
]


def whole(given: str | int, least: int = 0) -> int:
    """Return the whole number that was typed; raise BadParameter if it is none or too small."""
    text = str(given)  # Typer sends defaults through here, too
    if not re.fullmatch(r"[0-9]{1,4000}", text, re.ASCII) or int(text) < least:
        raise typer.BadParameter(f"{text!r} is not accepted: give a whole number, at least {least}")
    if int(text) > MOST:
        raise typer.BadParameter(f"{text!r} is not accepted: give at most {MOST:,}")
    return int(text)


Out = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", help="The folder to write into or go on with.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def at_least_one(given: str | int) -> int:
    """A whole number from 1 on."""
    return whole(given, 1)


Threads = Annotated[
    int, typer.Option("--threads", metavar="N", parser=at_least_one, help="Processors to use.")
]
TableMb = Annotated[
    int | None,
    typer.Option("--table-mb", metavar="MB", parser=at_least_one, help="Memory for the table."),
]

BoardName = Annotated[str, typer.Argument(metavar="BOARD", help="Width and height, as in 7x7.")]


def agent_named(text: str, *, quiet: bool = False) -> Agent:
    """Return the agent of a string; say whose it is if its name does not, unless `quiet`."""
    from knightfall.agents import parse_agent
    from knightfall.agents.course import borrowed
    from knightfall.cli.screen.guard import say

    agent = parse_agent(text)
    if not quiet and borrowed(agent.name, agent):
        say(borrowed(agent.name, agent))
    return agent


def position_named(text: str) -> Position:
    """The position of a FEN; startpos is the empty 7×7 board, and 8x8 an empty one of that size."""
    from knightfall.position import Position

    if text == STARTPOS:
        return Position.start()
    if re.fullmatch(r"[0-9]+[x×][0-9]+", text, re.ASCII):
        board = board_named(text)
        return Position.start(board.width, board.height)
    return Position.from_fen(text)


def board_named(text: str) -> Board:
    """The board that 7x7 or 7×8 names."""
    from knightfall.board import Board

    return Board.named(text)
