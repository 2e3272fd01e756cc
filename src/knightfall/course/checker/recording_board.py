"""The boards on which submissions are checked: positions, and boards that record all calls.

Time is counted in calls, too, so a submission behaves the same on a busy machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

from knightfall.course.board_common import Cell, cells_by_column
from knightfall.course.generation_2017b import Board, RandomPlayer
from knightfall.course.scores import improved_score
from knightfall.position import Position

MOST_CALLS = 60_000
"""Number of board calls after which a search is considered endless."""

CALL_MILLIS = 0.05
"""Milliseconds that each call costs by the counted clock: 3,000 calls are the course's 150 ms."""

Path = tuple[Cell, ...]
"""The moves from the root position to a visited position."""

ScoreFn = Callable[[Any, Any], float]


class Endless(BaseException):
    """Raised in a search that makes too many calls.  `except Exception` does not catch it."""


class Watch:
    """A record of the calls to a board and to all boards derived from it."""

    def __init__(self, most: int = MOST_CALLS, worst: float = -inf) -> None:
        self.most = most
        self.worst = worst
        """The value of a lost game in `utility` and `scorer`."""
        self.calls = 0
        self.scored: list[tuple[Path, Any]] = []
        self._aside = False

    def count(self) -> None:
        """Count a call to a board; raise `Endless` if there are too many."""
        if self._aside:
            return
        self.calls += 1
        if self.calls > self.most:
            raise Endless

    def scorer(self, value: ScoreFn) -> ScoreFn:
        """Wrap a score function so that its calls are recorded and count like calls to a board."""

        def score(game: Any, player: Any) -> float:
            self.count()
            self.scored.append((getattr(game, "path", ()), player))
            before, self._aside = self._aside, True
            try:
                return self.bounded(value(game, player))
            finally:
                self._aside = before

        return score

    def forget(self) -> None:
        """Clear the record."""
        self.calls = 0
        self.scored.clear()

    def bounded(self, value: float) -> float:
        """Limit a value to the range from `worst` (the value of a loss) to `-worst` (of a win)."""
        return min(max(value, self.worst), -self.worst)

    def leaves(self, depth: int) -> list[Path]:
        """Return the distinct positions scored `depth` plies ahead, in order of first scoring."""
        return list(dict.fromkeys(path for path, _ in self.scored if len(path) == depth))

    @property
    def depths(self) -> list[int]:
        """Return the distinct depths in plies at which positions were scored, in order."""
        return list(dict.fromkeys(len(path) for path, _ in self.scored if path))


class Clock:
    """A `time_left` function that decreases with every call of it or of a recording board."""

    def __init__(self, watch: Watch, millis: float) -> None:
        self._watch = watch
        self._millis = millis
        self.questions = 0
        self.least = millis
        """The least time left, in milliseconds, that was returned to the player."""
        self.read_elsewhere = 0
        """How often the player read one of Python's clocks instead."""

    def __call__(self) -> float:
        """Return the milliseconds left; the call itself costs time."""
        self.questions += 1
        if self.questions > self._watch.most:
            raise Endless
        self.least = min(self.least, self.left())
        return self.least

    def left(self) -> float:
        """Return the milliseconds left; costs no time."""
        return self._millis - CALL_MILLIS * (self._watch.calls + self.questions)

    def seconds(self) -> float:
        """Return the seconds since the start, for a player that reads Python's clocks."""
        self._watch.count()
        self.read_elsewhere += 1
        return CALL_MILLIS * (self._watch.calls + self.questions) / 1000.0


# -- boards ------------------------------------------------------------------------------------


class Watching:
    """A mixin that makes a course board record its calls in `watch`.

    Moves always come in the same order: by row, then by column.
    """

    watch: Watch
    path: Path = ()

    def __get_moves__(self, loc: Cell | None) -> list[Cell]:
        """See `Board`; `get_legal_moves` calls this method, too."""
        self.watch.count()
        return sorted(super().__get_moves__(loc))  # type: ignore[misc]

    _Board__get_moves = __get_moves__

    def copy(self) -> Any:
        """See `Board`; the copy records in the same `watch`."""
        board = object.__new__(type(self))
        plain = super().copy()  # type: ignore[misc]
        board.__dict__.update(plain.__dict__, watch=self.watch, path=self.path)
        return board

    def apply_move(self, move: Cell) -> None:
        """See `Board`; `forecast_move` calls this method, too."""
        self.watch.count()
        super().apply_move(move)  # type: ignore[misc]
        self.path = (*self.path, move)

    def utility(self, player: Any) -> float:
        """See `Board`."""
        return self.watch.bounded(super().utility(player))  # type: ignore[misc]


@cache
def recording(board: Any) -> type[Any]:
    """Return a subclass of a course board that records its calls."""
    return type("WatchedBoard", (Watching, board), {})


# -- values ----------------------------------------------------------------------------------


def scrambled(salt: int) -> ScoreFn:
    """Return a score function with pseudo-random values by position; ±inf at the game's end.

    The values for the two players are independent of each other.
    """

    def score(game: Any, player: Any) -> float:
        if not game.get_legal_moves():
            return -inf if player == game.active_player else inf
        first = game.__player_1__ if hasattr(game, "__player_1__") else game._player_1
        places = {cell: at for at, cell in enumerate(cells_by_column(game.width, game.height))}
        own, other = (
            places.get(game.get_player_location(one), 0)
            for one in (first, game.get_opponent(first))
        )
        blank = set(game.get_blank_spaces())
        mixed = salt if player == first else salt + 500_000
        for cell, place in places.items():
            if cell not in blank:
                mixed = (mixed * 31 + place + 7) % 1_000_003
        mixed = (mixed * 31 + 53 * own + 97 * other) * 7919 % 1_000_003
        return float(mixed % 2001 - 1000) / 10.0

    return score


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
