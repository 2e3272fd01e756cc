"""A course board that notes what is done with it, and a clock that counts that instead of time.

The same submission is seen doing the same, however busy the machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

from knightfall.course.board_common import Cell, cells_by_column

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

    def __init__(self, most: int = MOST_CALLS, worst: float = -inf) -> None:
        self.most = most
        self.worst = worst
        """What a lost game is worth by `utility` and `scorer`."""
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
                return self.bounded(value(game, player))
            finally:
                self._aside = before

        return score

    def forget(self) -> None:
        """Forget what was done so far."""
        self.calls = 0
        self.visited.clear()
        self.scored.clear()

    def bounded(self, value: float) -> float:
        """Return a value of the scale in which a loss is worth `worst` and a win `-worst`."""
        return min(max(value, self.worst), -self.worst)

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
        self.least = millis
        """The least time that the player was told it had left."""
        self.read_elsewhere = 0
        """How often the player asked a clock of Python's instead."""

    def __call__(self) -> float:
        """Return the milliseconds left; asking costs time."""
        self.questions += 1
        if self.questions > self._watch.most:
            raise Endless
        self.least = min(self.least, self.left())
        return self.least

    def left(self) -> float:
        """Return the milliseconds left without asking."""
        return self._millis - CALL_MILLIS * (self._watch.calls + self.questions)

    def seconds(self) -> float:
        """Return the seconds since it began, for a player with a clock of its own."""
        self._watch.count()
        self.read_elsewhere += 1
        return CALL_MILLIS * (self._watch.calls + self.questions) / 1000.0


# -- boards ------------------------------------------------------------------------------------


class Watching:
    """What a watched board does otherwise than the board that comes after it among its bases.

    Moves always come in the same order: by rows, then columns.
    """

    watch: Watch
    path: Path = ()

    def __get_moves__(self, loc: Cell | None) -> list[Cell]:
        """See `Board`.  `get_legal_moves` comes this way, too."""
        self.watch.count()
        return sorted(super().__get_moves__(loc))  # type: ignore[misc]

    _Board__get_moves = __get_moves__

    def copy(self) -> Any:
        """See `Board`; a watched one."""
        board = object.__new__(type(self))
        plain = super().copy()  # type: ignore[misc]
        board.__dict__.update(plain.__dict__, watch=self.watch, path=self.path)
        return board

    def apply_move(self, move: Cell) -> None:
        """See `Board`.  `forecast_move` comes this way, too."""
        self.watch.count()
        super().apply_move(move)  # type: ignore[misc]
        self.path = (*self.path, move)
        self.watch.visited.append(self.path)

    def utility(self, player: Any) -> float:
        """See `Board`."""
        return self.watch.bounded(super().utility(player))  # type: ignore[misc]


@cache
def recording(board: Any) -> type[Any]:
    """Return a board that is watched, made of one of the course's."""
    return type("WatchedBoard", (Watching, board), {})


# -- values ----------------------------------------------------------------------------------


def scrambled(salt: int) -> ScoreFn:
    """Return a score without sense, by which no two positions are equal; ±inf at the end.

    What a position is worth to one player says nothing about its worth to the other.
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
