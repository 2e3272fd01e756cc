"""The rules of Knight's Isolation in plain Python: the reference for the compiled kernel.

There are two knights and no captures.  First each player places its knight on any open cell, then
they alternate knight moves to open cells.  A cell that was ever occupied is never open again.
A player who is to move and has no legal move has lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from knightfall.board import MOST_CELLS, Board
from knightfall.errors import KnightfallError

Side = Literal["w", "b"]
"""``w`` is the first player (its knight is ``N``), ``b`` the second (``n``)."""

_LETTER: dict[Side, str] = {"w": "N", "b": "n"}


def other(side: Side) -> Side:
    """Return the opponent of a side."""
    return "b" if side == "w" else "w"


@dataclass(frozen=True, slots=True)
class Position:
    """A position: which cells are open, where the knights stand, and who is to move.

    Immutable and hashable.  Cells are numbers on the `board`: the `open` ones, and those of the
    `white` (first) and `black` knight, None if it is not placed yet.  `to_move` is the side to
    move.  `last` is the move that led here, for pictures only: equality ignores it.
    """

    board: Board
    open: frozenset[int]
    white: int | None
    black: int | None
    to_move: Side
    last: tuple[int | None, int] | None = field(default=None, compare=False)

    # -- making one ------------------------------------------------------------------------

    @staticmethod
    def start(width: int = 7, height: int = 7) -> Position:
        """Return an empty board of `width` × `height` cells, with both knights to be placed."""
        board = Board.of(width, height)
        return Position(board, frozenset(range(board.cells)), None, None, "w")

    @staticmethod
    def from_fen(fen: str) -> Position:
        """Return the position of a `fen` such as ``7/7/1N5/7/7/4n2/7 w``; ignore further fields."""
        if not isinstance(fen, str):
            raise KnightfallError(f"a FEN must be a string, not {fen!r}")
        return _parse_fen(fen)

    @staticmethod
    def from_moves(moves: Iterable[str], width: int = 7, height: int = 7) -> Position:
        """Return the position after `moves`, the placements first, on `width` × `height` cells."""
        position = Position.start(width, height)
        for move in moves:
            position = position.play(move)
        return position

    # -- the rules -------------------------------------------------------------------------

    def knight(self, side: Side) -> int | None:
        """Return the cell of a side's knight, or None before its placement."""
        return self.white if side == "w" else self.black

    @property
    def placed(self) -> bool:
        """Whether both knights are on the board."""
        return self.white is not None and self.black is not None

    def targets(self, side: Side) -> list[int]:
        """Return the open cells a side's knight could go to if it were its turn, in board order."""
        start = self.knight(side)
        if start is None:
            return sorted(self.open)
        return [cell for cell in self.board.knight[start] if cell in self.open]

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The names of the cells the side to move may go to, in board order."""
        return tuple(self.board.name(cell) for cell in self.targets(self.to_move))

    def play(self, move: str) -> Position:
        """Return the position after a legal move, given as the destination's name."""
        cell = self.board.cell(move)
        if cell not in self.targets(self.to_move):
            legal = " ".join(self.legal_moves) or "none: the game is over"
            raise KnightfallError(f"{move!r} is not a legal move here; legal moves: {legal}")
        start = self.knight(self.to_move)
        return Position(
            board=self.board,
            open=self.open - {cell},
            white=cell if self.to_move == "w" else self.white,
            black=cell if self.to_move == "b" else self.black,
            to_move=other(self.to_move),
            last=(start, cell),
        )

    @property
    def winner(self) -> Side | None:
        """The side that has won, or None while the side to move can still move."""
        return None if self.targets(self.to_move) else other(self.to_move)

    @property
    def hunter(self) -> Side | None:
        """The only side whose moves can block a move of the other; None before both are placed.

        The knights of a mover and its opponent stand on the same colour at every one of the
        mover's turns or at none, so this never changes during a game.
        """
        if self.white is None or self.black is None:
            return None
        same = self.board.colour(self.white) == self.board.colour(self.black)
        return self.to_move if same else other(self.to_move)

    def perft(self, depth: int) -> int:
        """Return the number of lines of exactly `depth` plies from here."""
        if depth < 0:
            raise KnightfallError(f"perft depth {depth} is negative: it must be 0 or more")
        if depth == 0:
            return 1
        if depth == 1:
            return len(self.targets(self.to_move))
        return sum(self.play(move).perft(depth - 1) for move in self.legal_moves)

    # -- notation --------------------------------------------------------------------------

    @property
    def fen(self) -> str:
        """The position as a FEN; `from_fen` reads it back."""
        letters = ["." if cell in self.open else "*" for cell in range(self.board.cells)]
        pocket = ""
        for cell, letter in ((self.white, "N"), (self.black, "n")):
            if cell is None:
                pocket += letter
            else:
                letters[cell] = letter
        ends = range(self.board.width, self.board.cells + 1, self.board.width)
        rows = "/".join("".join(letters[end - self.board.width : end]) for end in ends)
        rows = re.sub(r"\.+", lambda run: str(len(run[0])), rows)
        return rows + (f"[{pocket}]" if pocket else "") + f" {self.to_move}"

    def __str__(self) -> str:
        return self.fen

    def __repr__(self) -> str:
        return f"Position.from_fen({self.fen!r})"

    # -- pictures --------------------------------------------------------------------------

    def text(self) -> str:
        """Return the board as plain text, with coordinates."""
        from knightfall.picture import text

        return text(self)

    def svg(self, *, arrows: Iterable[tuple[str, str]] = (), size: int = 360) -> str:
        """Return the board as an SVG image, `size` pixels wide, with arrows between named cells."""
        from knightfall.picture import svg

        return svg(self, arrows=arrows, size=size)

    def _repr_svg_(self) -> str:
        return self.svg()


_EXAMPLE = "7/7/1N5/7/7/4n2/7 w"


def _parse_fen(fen: str) -> Position:
    fields = fen.split()
    if not fields:
        raise KnightfallError(f"the FEN is empty; a FEN looks like {_EXAMPLE!r}")
    if len(fields) < 2:
        raise KnightfallError(
            f"FEN {fen!r} has no side to move: add w or b after a space (and quote the whole "
            f"FEN), as in {_EXAMPLE!r}"
        )
    if fields[1] not in ("w", "b"):
        raise KnightfallError(f"FEN {fen!r}: side to move {fields[1]!r} must be w or b")
    to_move: Side = "w" if fields[1] == "w" else "b"

    match = re.fullmatch(r"([^\[\]]*)(?:\[([^\[\]]*)\])?", fields[0])
    if match is None:
        raise KnightfallError(f"FEN {fen!r}: the pocket must be one [..] after the rows")
    letters = [_parse_row(row, fen) for row in match[1].split("/")]
    pocket = match[2] or ""
    for letter in pocket:
        if letter not in "Nn":
            raise KnightfallError(f"FEN {fen!r}: pocket holds {letter!r}; only N and n are knights")

    width = len(letters[0])
    for number, row in enumerate(letters, start=1):
        if len(row) != width:
            raise KnightfallError(
                f"FEN {fen!r}: row {number} has {len(row)} cells, row 1 has {width}; "
                "all rows must be equally wide"
            )
    board = Board.of(width, len(letters))

    everything = "".join(letters)
    where: dict[Side, int | None] = {}
    for side, letter in _LETTER.items():
        found = everything.count(letter) + pocket.count(letter)
        if found != 1:
            raise KnightfallError(
                f"FEN {fen!r} has {found} knights {letter!r}: exactly one is needed, on the "
                f"board or in the pocket [{letter}]"
            )
        where[side] = everything.index(letter) if letter in everything else None
    expected = {(False, False): "w", (True, False): "b"}.get(
        (where["w"] is not None, where["b"] is not None)
    )
    if where["w"] is None and where["b"] is not None:
        raise KnightfallError(f"FEN {fen!r}: the first player (N) places its knight before n does")
    if expected is not None and expected != to_move:
        raise KnightfallError(
            f"FEN {fen!r}: with pocket [{pocket}] it is {expected}'s turn to place, not {to_move}'s"
        )
    if everything.count(".") < len(pocket):
        raise KnightfallError(
            f"FEN {fen!r}: too few open cells ({everything.count('.')}) to place the pocket "
            f"[{pocket}] on"
        )
    is_open = frozenset(cell for cell, letter in enumerate(everything) if letter == ".")
    return Position(board, is_open, where["w"], where["b"], to_move)


def _parse_row(row: str, fen: str) -> str:
    """Return one row of a FEN with each open cell as a dot."""
    text = ""
    for part in re.findall(r"[0-9]+|.", row, re.ASCII | re.DOTALL):
        if part in ("*", "N", "n"):
            text += part
        elif part.isascii() and part.isdigit():
            if part.startswith("0") or len(part) > 2 or int(part) > MOST_CELLS:
                raise KnightfallError(
                    f"FEN {fen!r}: a run of {part} open cells is not from 1 to {MOST_CELLS}"
                )
            text += "." * int(part)
        else:
            raise KnightfallError(
                f"FEN {fen!r}: unknown letter {part!r}; rows hold digits (open cells), "
                "* (blocked), N and n"
            )
    return text
