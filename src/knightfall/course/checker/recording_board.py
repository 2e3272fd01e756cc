"""A course board that records all calls, and a clock that counts calls instead of time.

A submission therefore behaves the same on a busy machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

from knightfall.course.board_common import Cell, cells_by_column

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
        self.visited: list[Path] = []
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
        self.visited.clear()
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
        self.watch.visited.append(self.path)

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
