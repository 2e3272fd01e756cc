"""The atlas: the stored values of all openings of some boards.

An opening is a position in which both knights have just been placed.  Mirror images share an
entry: 7×7 has 2,352 openings in 315 classes.  An entry has three bytes::

    plies           length of the game; odd: the side to move wins
    winning moves   bit i: the i-th move of the representative (in board order) wins
    best move       i: the i-th move is best: quickest win, or hardest to answer if all lose

The file has one line of hexadecimal digits per board, in the order of the representatives.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import permutations
from pathlib import Path

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.untrusted_input import check, decoded, parse_json, read_text
from knightfall.user_folders import data_folder

FILE = USER_FILE = "atlas.json"
BYTES = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """The stored value of an opening."""

    plies: int
    winning_moves: tuple[str, ...]
    best: str | None
    """The move to play; None if there is no legal move."""

    @property
    def mover_wins(self) -> bool:
        """Whether the side to move wins."""
        return self.plies % 2 == 1


def representatives(board: Board) -> list[tuple[int, int]]:
    """Return the first opening of each class, as the cells of the side to move and of the other."""
    pairs = permutations(range(board.cells), 2)
    return sorted({(mover, waiter) for mover, waiter in (board.canonical(*p) for p in pairs)})


@cache
def _images(board: Board) -> dict[tuple[int, int], tuple[tuple[int, int], tuple[int, ...]]]:
    """Return, by opening, its representative on the upright board and how cells come from there.

    The atlas has only boards that are not wider than high; others are transposed.
    """
    upright = upright_board(board)
    place = tuple(range(board.cells))
    if upright != board:
        place = tuple(board.at(upright.column(cell), upright.row(cell)) for cell in place)
    found: dict[tuple[int, int], tuple[tuple[int, int], tuple[int, ...]]] = {}
    for first in representatives(upright):
        for symmetry in upright.symmetries:
            image = tuple(place[cell] for cell in symmetry)
            found.setdefault((image[first[0]], image[first[1]]), (first, image))
    return found


def upright_board(board: Board) -> Board:
    """Return the board as the atlas has it: not wider than high."""
    return board if board.width <= board.height else Board.of(board.height, board.width)


def _opening(position: Position) -> tuple[int, int] | None:
    """Return an opening's cells of the mover and the other side; None for any other position."""
    if not position.placed or len(position.open) != position.board.cells - 2:
        return None
    white, black = position.knight("w"), position.knight("b")
    assert white is not None
    assert black is not None
    return (white, black) if position.to_move == "w" else (black, white)


def canonical(position: Position) -> tuple[int, int] | None:
    """Return the representative of an opening's class; None for any other position."""
    cells = _opening(position)
    if cells is None:
        return None
    mover, waiter = position.board.canonical(*cells)
    return mover, waiter


def position_of(board: Board, mover: int, waiter: int) -> Position:
    """Return the opening with the knights on these cells, the first player to move."""
    return (
        Position.start(board.width, board.height).play(board.name(mover)).play(board.name(waiter))
    )


def first_moves(board: Board, cells: tuple[int, int]) -> list[int]:
    """Return the mover's moves in an opening in board order, the order of the bits of an entry."""
    return sorted(cell for cell in board.knight[cells[0]] if cell != cells[1])


@cache
def _stored() -> dict[str, str]:
    """Return the entries of the boards that come with knightfall, and of those the user built."""
    shipped = resources.files("knightfall.solver").joinpath(FILE)
    held = parse_json(decoded(shipped.read_bytes(), FILE)) if shipped.is_file() else {}
    own = data_folder() / "atlas" / USER_FILE
    try:
        found = read_atlas(own) if own.exists() else {}
    except KnightfallError as error:  # its content can be computed again
        warnings.warn(f"your own atlas is ignored: {error}", stacklevel=2)
        found = {}
    return {**found, **held}


def read_atlas(path: Path) -> dict[str, str]:
    """Return the boards of an atlas file.  Raise KnightfallError if it is damaged."""
    text = read_text(path)
    try:
        held = parse_json(text)
        check({str: str}, held)
        for name, entries in held.items():
            _check_board(name, entries)
    except KnightfallError as error:
        raise KnightfallError(f"{str(path)!r} is not an atlas, or damaged: {error}") from None
    return dict(held)


def _check_board(name: str, entries: str) -> None:
    board = Board.named(name)
    if board.text != name or board.width > board.height:
        raise KnightfallError(f"board {name!r} must be written like 7x8, not wider than high")
    try:
        data = bytes.fromhex(entries)
    except ValueError:
        data = b""
    classes = representatives(board)
    if len(data) != BYTES * len(classes):
        raise KnightfallError(
            f"{name} must have {2 * BYTES * len(classes)} hexadecimal digits, not {len(entries)}"
        )
    for at, cells in enumerate(classes):
        if not is_possible_entry(board, cells, data[BYTES * at : BYTES * (at + 1)]):
            raise KnightfallError(
                f"{name}: the entry of opening {at + 1} has an impossible winner, length or move"
            )


def is_possible_entry(board: Board, cells: tuple[int, int], entry: bytes) -> bool:
    """Return whether three bytes are a possible entry of an opening, with existing moves."""
    if len(entry) != BYTES:
        return False
    plies, winning, best = entry
    moves = len(first_moves(board, cells))
    if not moves:
        return entry == bytes(BYTES)
    if plies % 2 == 1 and not winning >> best & 1:  # the best move is one of those that win
        return False
    return (
        0 < plies <= board.cells - 2
        and winning >> moves == 0
        and best < moves
        and (plies % 2 == 1) == (winning > 0)
    )


def entries_of(board: Board) -> bytes | None:
    """Return all entries of a board with width ≤ height; None if the atlas does not have it."""
    text = _stored().get(f"{board.width}x{board.height}")
    return None if text is None else bytes.fromhex(text)


def forget() -> None:
    """Empty the caches; call this after an atlas file has changed."""
    for cached in (_stored, _entries, _find):
        cached.cache_clear()


def boards() -> list[str]:
    """Return the boards of the atlas, such as '7x7'; the longer side is the height."""
    return list(_stored())


@cache
def _entries(board: Board) -> dict[tuple[int, int], bytes] | None:
    data = entries_of(board)
    if data is None:
        return None
    names = representatives(board)
    return {name: data[BYTES * at : BYTES * (at + 1)] for at, name in enumerate(names)}


def lookup(position: Position) -> Entry | None:
    """Return the atlas's entry of a position; None if it is not an opening of a stored board."""
    cells = _opening(position)
    return None if cells is None else _find(position.board, cells)


@cache
def _find(board: Board, cells: tuple[int, int]) -> Entry | None:
    upright = upright_board(board)
    entries = _entries(upright)
    if entries is None:
        return None
    first, image = _images(board)[cells]
    moves = first_moves(upright, first)
    plies, winning, best = entries[first]
    wins = sorted(image[cell] for i, cell in enumerate(moves) if winning >> i & 1)
    return Entry(
        plies, tuple(map(board.name, wins)), board.name(image[moves[best]]) if moves else None
    )


# -- statistics of a board ----------------------------------------------------------------------


@dataclass(frozen=True)
class Opening:
    """An opening with its value."""

    mover: int
    waiter: int
    entry: Entry
    hunter_wins: bool


@dataclass(frozen=True)
class Survey:
    """All openings of a board with their values, and statistics of them."""

    board: Board
    openings: dict[tuple[int, int], Opening]

    @property
    def first_wins(self) -> int:
        """How many openings the first player wins."""
        return sum(opening.entry.mover_wins for opening in self.openings.values())

    @property
    def second_wins(self) -> int:
        """How many openings the second player wins."""
        return len(self.openings) - self.first_wins

    @property
    def hunter_wins(self) -> int:
        """How many openings the hunter wins; the colour law of docs/theory.md predicts all."""
        return sum(opening.hunter_wins for opening in self.openings.values())

    def replies(self, cell: int) -> list[Opening]:
        """Return the openings with the first knight on a cell, ordered by the second one's cell."""
        return [opening for (mover, _), opening in self.openings.items() if mover == cell]

    def winning_replies(self, cell: int) -> int:
        """Return how many second placements win against a first one."""
        return sum(not opening.entry.mover_wins for opening in self.replies(cell))

    @property
    def second_wins_from_the_empty_board(self) -> bool:
        """Whether the second player has a winning reply to every first placement."""
        return all(self.winning_replies(cell) for cell in range(self.board.cells))

    def exceptions(self) -> list[Opening]:
        """Return the openings that the runner wins, one of each class."""
        return [
            self.openings[cells]
            for cells in representatives(self.board)
            if not self.openings[cells].hunter_wins
        ]

    @property
    def classes(self) -> int:
        """The number of classes: openings that are mirror images count once."""
        return len(representatives(self.board))


def survey(board: Board) -> Survey:
    """Return the statistics of a board.  Raise KnightfallError if the atlas does not have it."""
    found = {(opening.mover, opening.waiter): opening for opening in _openings(board)}
    if not found:
        raise KnightfallError(
            f"the atlas has no board {board.width}x{board.height}: it has {', '.join(boards())} "
            "and these transposed; knightfall atlas build adds others"
        )
    return Survey(board, found)


def _openings(board: Board) -> Iterator[Opening]:
    for mover in range(board.cells):
        for waiter in range(board.cells):
            if mover == waiter:
                continue
            position = position_of(board, mover, waiter)
            entry = lookup(position)
            if entry is None:
                return
            winner = position.to_move if entry.mover_wins else "b"
            yield Opening(mover, waiter, entry, winner == position.hunter)
