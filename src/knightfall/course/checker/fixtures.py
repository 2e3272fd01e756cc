"""The positions in which submissions are checked, as boards, pictures and FENs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knightfall.course.board_common import Cell
from knightfall.course.checker.recording_board import ScoreFn, Watch, recording, scrambled
from knightfall.course.generation_2017b import Board, RandomPlayer
from knightfall.course.scores import improved_score
from knightfall.position import Position

RECORDING_BOARD = recording(Board)
"""The board of 2017b and 2017a that records all calls."""

OPPONENT = RandomPlayer()
"""The submission's opponent on the boards; it is never asked for a move."""


@dataclass(frozen=True)
class Place:
    """A position on 7×7, given by its moves from the empty board, such as ``"33 25"``.

    Each move is two digits: row and column, from 0.

    The submission is the player to move.
    """

    moves: str

    @property
    def cells(self) -> list[Cell]:
        """Return the moves as (row, column)."""
        return [(int(pair[0]), int(pair[1])) for pair in self.moves.split()]

    def board(
        self,
        player: Any,
        watch: Watch | None = None,
        opponent: Any = OPPONENT,
        kind: type[Any] = RECORDING_BOARD,
    ) -> Any:
        """Return the position as a board with `player` to move; calls are recorded in `watch`."""
        cells = self.cells
        players = (opponent, player) if len(cells) % 2 else (player, opponent)
        board = kind(*players)
        board.watch = Watch()
        for cell in cells:
            board.apply_move(cell)
        board.path = ()
        board.watch = watch or Watch()
        return board

    @property
    def picture(self) -> str:
        """Return the board as the course draws it, with a line that explains the symbols."""
        mine = "2" if len(self.cells) % 2 else "1"
        drawn = self.board("you").to_string().replace("\n\r", "\n")
        lines = [line.rstrip() for line in drawn.splitlines()]
        return "\n".join([*lines, f"You are {mine} and to move; - is a blocked cell."])

    @property
    def fen(self) -> str:
        """Return the position's FEN, for other commands of knightfall."""
        board = Position.start().board
        names = (board.name(row * board.width + column) for row, column in self.cells)
        return Position.from_moves(names).fen


# -- the positions -----------------------------------------------------------------------------

EARLY = Place("56 02 35 23 14 31 33 52 45")
MIDDLE = Place("01 46 22 65 41 53 60 61 52 40 44 32")
LATE = Place("15 36 23 24 04 03 25 11 06 32 14 40 22 52 30")
TIES = Place("15 13 34 01 22 20 14 12 35 31 23 43")
NEAR_THE_END = Place("32 64 53 43 41 35 20 14 12 06 24 25 03 33 15 52 34 44 55")
WON = Place("22 15 03 34 24 53 05 32 26 40 14 52 33 60")
"""Only (4, 1) wins at once."""
RISKY = Place("22 15 03 34 11 55 32 43 51 62 30 54 42 46 50 65 31 44 52")
"""After (6, 3) the opponent's best reply leaves the player without a move."""
STUCK = (
    Place("03 10 22 02 01 21 20 33 41 54 53 42 45 61 66 40"),
    Place("41 12 22 24 43 45 31 33 52 54 40 42 32 21 53 00 65"),
)

# In the first three positions a different move is best at each depth from 1 to 4, and none of them
# is best with reversed signs or with the opponent's score negated.  In the last two, some lines end
# before the horizon.
PUZZLES: tuple[tuple[Place, ScoreFn, str], ...] = (
    (EARLY, scrambled(24624), "made-up scores"),
    (MIDDLE, scrambled(69693), "made-up scores"),
    (LATE, scrambled(12770), "made-up scores"),
    (NEAR_THE_END, improved_score, "improved_score"),
    (MIDDLE, improved_score, "improved_score"),  # has ties, unlike made-up scores
    (WON, scrambled(25753), "made-up scores"),
    (RISKY, scrambled(39493), "made-up scores"),
)

LOST = (
    Place("65 22 53 10 41 31 33 23 54 35 66 16 45 24 26 05 14 13"),
    Place("62 04 43 12 31 24 10 32 22 51 34 30 13 11 25 23 44 15 63"),
)
"""Positions in which every move loses against best play."""
