"""The geometry of an empty W×H board: cells, names, knight moves, distances, symmetries.

A *cell* is a small integer that counts through the board as a FEN is read, row by row from
the top left.  Rows and columns are the course's (row 0 on top); names are chess's (rank 1 at
the bottom)::

        7×7, cells                    names                  (row, column)
     0  1  2  3  4  5  6       a7 b7 c7 d7 e7 f7 g7       (0,0) …       (0,6)
     7  8  9 10 11 12 13       a6 b6 c6 d6 e6 f6 g6
    14 15 16 17 18 19 20       a5 b5 c5 d5 e5 f5 g5
    21 22 23 24 25 26 27       a4 b4 c4 d4 e4 f4 g4             (3,3)
    28 29 30 31 32 33 34       a3 b3 c3 d3 e3 f3 g3
    35 36 37 38 39 40 41       a2 b2 c2 d2 e2 f2 g2
    42 43 44 45 46 47 48       a1 b1 c1 d1 e1 f1 g1       (6,0) …       (6,6)
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import cached_property, lru_cache

from knightfall.errors import KnightfallError

SMALLEST_SIDE = 3
MOST_CELLS = 64

# In the order in which the course's board generates them; nothing here depends on the order.
KNIGHT_STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
KING_STEPS = tuple((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0))

UNREACHABLE = 127
"""The knight distance between cells that no sequence of knight moves connects."""


class Board:
    """An empty board.  Boards of equal size are equal; `Board.of` creates each size only once."""

    def __init__(self, width: int, height: int) -> None:
        for side in (width, height):
            if type(side) is not int:
                raise KnightfallError(f"the side of a board must be a whole number, not {side!r}")
        if width < SMALLEST_SIDE or height < SMALLEST_SIDE:
            raise KnightfallError(
                f"a {width}×{height} board is too small: each side must be at least {SMALLEST_SIDE}"
            )
        if width * height > MOST_CELLS:
            raise KnightfallError(
                f"a {width}×{height} board has {width * height} cells: "
                f"at most {MOST_CELLS} are supported"
            )
        self.width = width
        self.height = height
        self.cells = width * height

    @staticmethod
    @lru_cache(maxsize=None, typed=True)
    def of(width: int, height: int) -> Board:
        """Return the board of a size, creating it on first use."""
        return Board(width, height)

    @staticmethod
    def named(text: str) -> Board:
        """Return the board that a text such as 7x7 or 7×8 names: width, then height."""
        match = re.fullmatch(r"([0-9]{1,3})[x×]([0-9]{1,3})", str(text), re.ASCII)
        if match is None:
            raise KnightfallError(
                f"board {text!r} cannot be read: write width and height, as in 7x7"
            )
        return Board.of(int(match[1]), int(match[2]))

    @property
    def text(self) -> str:
        """The size as text, such as 7x8; `named` reads it back."""
        return f"{self.width}x{self.height}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return (self.width, self.height) == (other.width, other.height)

    def __hash__(self) -> int:
        return hash((self.width, self.height))

    def __repr__(self) -> str:
        return f"Board.of({self.width}, {self.height})"

    def __reduce__(self) -> tuple[object, tuple[int, int]]:
        return (Board.of, (self.width, self.height))

    # -- cells, coordinates and names ------------------------------------------------------

    def row(self, cell: int) -> int:
        """Return the row of a cell, 0 on top."""
        return cell // self.width

    def column(self, cell: int) -> int:
        """Return the column of a cell, 0 on the left."""
        return cell % self.width

    def at(self, row: int, column: int) -> int:
        """Return the cell at a row (0 on top) and a column (0 on the left)."""
        if not (0 <= row < self.height and 0 <= column < self.width):
            raise KnightfallError(
                f"({row}, {column}) is off the board: rows are 0 to {self.height - 1}, "
                f"columns 0 to {self.width - 1}"
            )
        return row * self.width + column

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The chess names of all cells, in order."""
        files = "abcdefghijklmnopqrstuvwxyz"[: self.width]
        return tuple(f"{file}{rank}" for rank in range(self.height, 0, -1) for file in files)

    @cached_property
    def _cells(self) -> dict[str, int]:
        return {name: cell for cell, name in enumerate(self.names)}

    def name(self, cell: int) -> str:
        """Return the chess name of a cell, such as ``c4``."""
        return self.names[cell]

    def cell(self, name: str) -> int:
        """Return the cell of a chess name."""
        found = self._cells.get(str(name))
        if found is not None:
            return found
        raise KnightfallError(
            f"{name!r} is not a cell of a {self.width}×{self.height} board: "
            f"cells are {self.names[-self.width]} to {self.names[self.width - 1]}"
        )

    def colour(self, cell: int) -> int:
        """Return the colour of a cell, 0 or 1.  Every knight move changes it."""
        return (self.row(cell) + self.column(cell)) % 2

    # -- steps and distances ---------------------------------------------------------------

    def _targets(self, steps: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
        """Return, for each cell, the cells to which one of the steps leads, in board order."""

        def reached(cell: int) -> Iterator[int]:
            for down, right in steps:
                row, column = self.row(cell) + down, self.column(cell) + right
                if 0 <= row < self.height and 0 <= column < self.width:
                    yield row * self.width + column

        return tuple(tuple(sorted(reached(cell))) for cell in range(self.cells))

    @cached_property
    def knight(self) -> tuple[tuple[int, ...], ...]:
        """For each cell, the cells a knight's move away."""
        return self._targets(KNIGHT_STEPS)

    @cached_property
    def touching(self) -> tuple[tuple[int, ...], ...]:
        """For each cell, the up to eight cells that touch it."""
        return self._targets(KING_STEPS)

    @cached_property
    def distance(self) -> tuple[tuple[int, ...], ...]:
        """The number of knight moves between any two cells of the empty board, or `UNREACHABLE`."""
        table = []
        for start in range(self.cells):
            steps = [UNREACHABLE] * self.cells
            steps[start] = 0
            queue = deque([start])
            while queue:
                here = queue.popleft()
                for there in self.knight[here]:
                    if steps[there] == UNREACHABLE:
                        steps[there] = steps[here] + 1
                        queue.append(there)
            table.append(tuple(steps))
        return tuple(table)

    # -- symmetries ------------------------------------------------------------------------

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """The board's symmetries as permutations: ``symmetry[cell]`` is where the cell goes.

        Eight for a square, four for any other rectangle; the identity comes first.
        """
        last_row, last_column = self.height - 1, self.width - 1
        transposes = (False, True) if self.width == self.height else (False,)
        found = []
        for transpose in transposes:
            for flip_rows in (False, True):
                for flip_columns in (False, True):
                    image = []
                    for cell in range(self.cells):
                        row, column = self.row(cell), self.column(cell)
                        row = last_row - row if flip_rows else row
                        column = last_column - column if flip_columns else column
                        if transpose:
                            row, column = column, row
                        image.append(row * self.width + column)
                    found.append(tuple(image))
        return tuple(found)

    def canonical(self, *cells: int) -> tuple[int, ...]:
        """Return the canonical form of a tuple of cells: the smallest tuple symmetric to it."""
        return min(tuple([image[cell] for cell in cells]) for image in self.symmetries)
