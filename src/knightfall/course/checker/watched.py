"""A course board that notes what is done with it, and a clock that counts that instead of time.

The same submission is seen doing the same, however busy the machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course import board_2017a
from knightfall.course.knights import Cell

MOST_CALLS = 60_000
"""What a search may ask of boards before it counts as one that does not end."""

CALL_MILLIS = 0.05
"""What a question costs by the counted clock: 3,000 of them are the course's 150 ms."""

Path = tuple[Cell, ...]
"""The moves from the position in question to one that was looked at."""

ScoreFn = Callable[[Any, Any], float]


class Endless(BaseException):
    """A search has asked so much that it will not end.  No `except Exception` catches it."""


class Watch:
    """What was done with a board and with all that came of it."""

    def __init__(self, most: int = MOST_CALLS) -> None:
        self.most = most
        self.calls = 0
        self.visited: list[Path] = []
        self.scored: list[tuple[Path, Any]] = []
        self._aside = False

    def count(self) -> None:
        """Somebody asks something of a board."""
        if self._aside:
            return
        self.calls += 1
        if self.calls > self.most:
            raise Endless

    def scorer(self, value: ScoreFn) -> ScoreFn:
        """A `score_fn` with these values that notes what it is asked; itself it costs nothing."""

        def score(game: Any, player: Any) -> float:
            self.count()
            self.scored.append((getattr(game, "path", ()), player))
            before, self._aside = self._aside, True
            try:
                return value(game, player)
            finally:
                self._aside = before

        return score

    def leaves(self, depth: int) -> list[Path]:
        """The positions so many plies ahead that were scored, each once, in that order."""
        return list(dict.fromkeys(path for path, _ in self.scored if len(path) == depth))

    @property
    def depths(self) -> list[int]:
        """How many plies ahead positions were scored, in the order in which that began."""
        return list(dict.fromkeys(len(path) for path, _ in self.scored if path))


class Clock:
    """`time_left` that falls with every question asked of it or of a watched board."""

    def __init__(self, watch: Watch, millis: float) -> None:
        self._watch = watch
        self._millis = millis
        self.questions = 0
        self.calls_at_end: int | None = None

    def __call__(self) -> float:
        """The milliseconds left."""
        self.questions += 1
        if self.questions > self._watch.most:
            raise Endless
        left = self.left()
        if left < 0 and self.calls_at_end is None:
            self.calls_at_end = self._watch.calls
        return left

    def left(self) -> float:
        """The same without asking."""
        return self._millis - CALL_MILLIS * (self._watch.calls + self.questions)


class WatchedBoard(board_2017a.Board):
    """The course's board (2017b's and 2017a's in one); moves always come in the same order.

    That is the order in which the course's board finds them before it shuffles them.
    """

    watch: Watch
    path: Path = ()

    def __get_moves__(self, loc: Cell | None) -> list[Cell]:
        """See `Board`; by rows, then columns.  `get_legal_moves` comes this way, too."""
        self.watch.count()
        return sorted(super().__get_moves__(loc))

    _Board__get_moves = __get_moves__

    def copy(self) -> WatchedBoard:
        """See `Board`; a watched one."""
        board = object.__new__(WatchedBoard)
        board.__dict__.update(super().copy().__dict__, watch=self.watch, path=self.path)
        return board

    def apply_move(self, move: Cell) -> None:
        """See `Board`.  `forecast_move` comes this way, too."""
        self.watch.count()
        super().apply_move(move)
        self.path = (*self.path, move)
        self.watch.visited.append(self.path)


# -- values ----------------------------------------------------------------------------------


def scrambled(salt: int) -> ScoreFn:
    """A score without sense, so that no two positions are worth the same; ±inf at the end."""

    def score(game: Any, player: Any) -> float:
        if not game.get_legal_moves():
            return -inf if player == game.active_player else inf
        state = game._board_state
        mixed = salt
        for place, value in enumerate(state[:-3]):
            if value:
                mixed = (mixed * 31 + place + 7) % 1_000_003
        mixed = (mixed * 31 + 53 * (state[-1] or 0) + 97 * (state[-2] or 0)) * 7919 % 1_000_003
        own = player == game._player_1
        return float(mixed % 2001 - 1000) / (10.0 if own else -10.0)

    return score
