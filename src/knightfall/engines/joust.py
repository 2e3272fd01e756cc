"""Positions, moves and results as UCI engines write them: the variant Joust of Fairy-Stockfish.

A move is written with the knight's origin, and after a comma with the wall that it leaves there:
``b5d4,d4b5``.  A knight is placed by ``N@b5``; Fairy-Stockfish adds a wall to that, which
knightfall ignores.  A position is a FEN with further fields, which have no meaning here.
"""

from __future__ import annotations

import re
from functools import cache

from knightfall.board import MOST_CELLS, SMALLEST_SIDE, Board
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.untrusted_input import shown

STANDARD = "joust"
"""Fairy-Stockfish's own variant: 8×8, with the knights on d4 and e5 at the beginning."""

STANDARD_START = "8/8/8/4n3/3N4/8/8/8 w"

NO_MOVE = "(none)"
"""What an engine answers when the game is over."""

LARGEST_SCORE = 300.0
"""The largest heuristic score that is printed: a heuristic may return infinity."""

_CELL = "[a-z][0-9]{1,2}"
_MOVE = re.compile(rf"(?:N@|({_CELL}))({_CELL})(?:,({_CELL})({_CELL}))?", re.ASCII)


def uci_fen(position: Position) -> str:
    """Return the FEN of a position with the fields that chess engines expect."""
    return f"{position.fen} - - 0 1"


def uci_move(position: Position, move: str) -> str:
    """Return a legal move, given as its destination, in the notation of UCI engines."""
    knight = position.knight(position.to_move)
    if knight is None:
        return f"N@{move}"
    origin = position.board.name(knight)
    return f"{origin}{move},{move}{origin}"


def destination(position: Position, text: str) -> str:
    """Return the destination of a move in the notation of UCI engines.

    The wall may be left out.  Raise a `KnightfallError` if the move is not legal.
    """
    match = _MOVE.fullmatch(text)
    if match is not None and match[2] in position.legal_moves:
        origin, target, *wall = match.groups()
        known = [None, None], [target, origin] if origin else [target, wall[1]]
        if uci_move(position, target).startswith(f"{origin or 'N@'}{target}") and wall in known:
            return str(target)
    example = next((uci_move(position, move) for move in position.legal_moves), NO_MOVE)
    raise KnightfallError(f"{shown(text)} is not a legal move here; one is {example}")


def uci_line(position: Position, moves: tuple[str, ...]) -> str:
    """Return a principal variation in the notation of UCI engines, as far as it is legal."""
    found = []
    for move in moves:
        if move not in position.legal_moves:
            break
        found.append(uci_move(position, move))
        position = position.play(move)
    return " ".join(found)


# -- results ------------------------------------------------------------------------------------


def info(report: Report, position: Position) -> str:
    """Return the ``info`` line of a report."""
    line = uci_line(position, report.pv) or uci_move(position, report.move)
    effort = effort_text(report.nodes, report.seconds)
    return f"info depth {report.depth} score {score(report, position)} {effort} pv {line}"


def effort_text(nodes: int, seconds: float) -> str:
    """Return nodes, speed and time as an ``info`` line has them."""
    return f"nodes {nodes} nps {int(nodes / max(seconds, 1e-3))} time {int(1000 * seconds)}"


def score(report: Report, position: Position) -> str:
    """Return a score for the side to move as UCI writes it: ``cp 120``, ``mate 5`` or ``mate -4``.

    A proven result is a ``mate`` in so many moves of the winner or fewer; if the length of the game
    is unknown, it is that of the longest possible one.
    """
    if not report.proven:
        return f"cp {round(100 * max(-LARGEST_SCORE, min(LARGEST_SCORE, report.score)))}"
    plies = len(position.open) if report.plies is None else report.plies
    return f"mate {(plies + 1) // 2}" if report.score > 0 else f"mate {-(plies // 2)}"


# -- variants: one for each size of the board ------------------------------------------------------


def variant_of(board: Board) -> str:
    """Return the name of the variant on a board, such as ``joust7x7``."""
    return f"{STANDARD}{board.text}"


@cache
def variants() -> dict[str, Position]:
    """Return the first positions of all variants by name; all but `STANDARD` begin empty."""
    largest = MOST_CELLS // SMALLEST_SIDE
    sides = range(SMALLEST_SIDE, largest + 1)
    found = {STANDARD: Position.from_fen(STANDARD_START)}
    for width in sides:
        for height in sides:
            if width * height <= MOST_CELLS:
                start = Position.start(width, height)
                found[variant_of(start.board)] = start
    return found


def variant_ini(board: Board) -> str:
    """Return the file that defines the variant on a board for Fairy-Stockfish."""
    rows = "/".join([str(board.width)] * board.height)
    return f"""\
[{variant_of(board)}:{STANDARD}]
maxFile = {board.width}
maxRank = {board.height}
startFen = {rows}[Nn] w - - 0 1
pieceDrops = true
mustDrop = true
"""
