"""Start positions: all openings of a board in a seeded order, or the positions of a book."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.untrusted_input import read_text

Item = TypeVar("Item")


def openings(board: Board) -> list[str]:
    """Return, as FENs, all positions with both knights placed, no move made and a legal move."""
    everywhere = frozenset(range(board.cells))
    found = []
    for first in everywhere:
        for second in everywhere - {first}:
            position = Position(board, everywhere - {first, second}, first, second, "w")
            if position.winner is None:
                found.append(position.fen)
    return found


def shuffled(fens: Sequence[str], seed: int, series: int = 0) -> list[str]:
    """Return the positions in a pseudo-random order, fixed by `seed` and the number `series`.

    They are sorted by their hashes, so the order is the same on every machine and in every version
    of Python, and a position keeps its place relative to the others when some are left out.
    Positions that a book repeats stay, next to each other.
    """

    return seeded_order(fens, lambda fen: f"{seed}/{series}/{fen}")


def seeded_order(items: Iterable[Item], text: Callable[[Item], str]) -> list[Item]:
    """Return items sorted by a hash of `text(item)`: a shuffle that is equal on every machine.

    The text contains the seed and everything else that the order may depend on.
    """
    return sorted(items, key=lambda item: hashlib.sha256(text(item).encode()).digest())


def seed_of(text: str, bits: int = 32) -> int:
    """Return a pseudo-random number below 2 to the power of `bits`, fixed by a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - bits)


def alternate_hunter(fens: Sequence[str]) -> list[str]:
    """Return the positions so that the side to move is alternately hunter and runner.

    If there are more of one kind, the surplus comes last.
    """
    hunting: list[str] = []
    running: list[str] = []
    for fen in fens:
        position = Position.from_fen(fen)
        (hunting if position.hunter == position.to_move else running).append(fen)
    both = chain.from_iterable(zip_longest(hunting, running))
    return [fen for fen in both if fen is not None]


def read_book(path: str) -> list[str]:
    """Return the positions of a file: one FEN per line, empty lines and # comments skipped."""
    try:
        text = read_text(path)
    except KnightfallError as error:
        raise KnightfallError(f"book {path}: {error}") from None
    lines = (re.sub(r"#.*", "", line).strip() for line in text.splitlines())
    book = [
        _checked_start(fen, f"book {path}, line {number}")
        for number, fen in enumerate(lines, start=1)
        if fen
    ]
    if not book:
        raise KnightfallError(f"book {path} has no positions: write one FEN per line")
    return book


def checked_book(fens: Sequence[str]) -> list[str]:
    """Return the FENs of a list after checking that a game can begin with each."""
    if not fens:
        raise KnightfallError("the book is empty: it must have at least one position, as a FEN")
    return [
        _checked_start(fen, f"book, position {number}") for number, fen in enumerate(fens, start=1)
    ]


def _checked_start(fen: str, where: str) -> str:
    """Return the FEN of a position in standard form.  Raise an error if no game can begin there."""
    try:
        position = Position.from_fen(fen)
    except KnightfallError as error:
        raise KnightfallError(f"{where}: {error}") from None
    if not position.placed:
        raise KnightfallError(
            f"{where}: {fen!r} still has a knight to place; games begin with both on the board"
        )
    if position.winner is not None:
        raise KnightfallError(f"{where}: the game is over in {fen!r}")
    return position.fen
