"""The board of the course's successor: 11 columns, 9 rows, and one integer for all of them.

A set bit is an open cell.  Rows lie 13 bits apart: two bits that are never set keep a knight from
jumping over the edge into the next row.  North is up and the columns count from the east, so that
the first cell is the south-eastern corner:

      114 113 … 105 104          NNE +25    NNW +27
      101 100 …  92  91          ENE +11    WNW +15
        …                        ESE −15    WSW −11
       10   9 …   1   0          SSE −27    SSW −25
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

_WIDTH = 11
_HEIGHT = 9
_ROW = _WIDTH + 2
_SIZE = _ROW * _HEIGHT - 2
"""The bits of a board: 115."""

_CELLS = tuple(cell for cell in range(_SIZE) if cell % _ROW < _WIDTH)
_BLANK_BOARD = sum(1 << cell for cell in _CELLS)

TIME_LIMIT_MILLIS = 150.0

Locations = tuple[int | None, int | None]


class StopSearch(Exception):
    """An agent has put an action after its time was up."""


class Action(IntEnum):
    """A knight's move, as what it adds to a cell; in the order in which moves are tried."""

    NNE = 25
    ENE = 11
    ESE = -15
    SSE = -27
    SSW = -25
    WSW = -11
    WNW = 15
    NNW = 27


@cache
def _steps(cell: int) -> tuple[tuple[Action, int, int], ...]:
    """The moves from a cell that stay on the board: each with where it leads, and the bit of it."""
    return tuple(
        (action, cell + action, 1 << (cell + action))
        for action in Action
        if 0 <= cell + action < _SIZE and (cell + action) % _ROW < _WIDTH
    )


class Isolation(NamedTuple):
    """A position.  Players are 0 and 1; a player that is not placed is nowhere: None."""

    board: int = _BLANK_BOARD
    ply_count: int = 0
    locs: Locations = (None, None)

    def player(self) -> int:
        """Whose turn it is."""
        return self.ply_count % 2

    def actions(self) -> list[Any]:
        """What the player to move can do: an open cell to be placed on, then an `Action`."""
        cell = self.locs[self.ply_count % 2]
        if cell is None:
            return self.liberties(None)
        board = self.board
        return [action for action, _, bit in _steps(cell) if board & bit]

    def liberties(self, loc: int | None) -> list[int]:
        """The open cells a knight's move from a cell; every open cell if it is None."""
        board = self.board
        if loc is None:
            return [cell for cell in _CELLS if board >> cell & 1]
        return [cell for _, cell, bit in _steps(loc) if board & bit]

    def result(self, action: int) -> Isolation:
        """The position after an action, which is not checked.  Of the class of this one."""
        board, ply, (first, second) = self
        start = second if ply % 2 else first
        cell = int(action) if start is None else int(start) + int(action)
        locs = (first, cell) if ply % 2 else (cell, second)
        return type(self)._make((board & ~(1 << cell), ply + 1, locs))

    def terminal_test(self) -> bool:
        """Whether the game is over: either player is stuck, whoever is to move."""
        return not (self._has_liberties(0) and self._has_liberties(1))

    def utility(self, player_id: int) -> float:
        """inf for the winner and −inf for the loser, 0 while the game goes on.

        The player to move loses if it is stuck; else the other one is.
        """
        if not self.terminal_test():
            return 0
        to_move = self.player()
        won = self._has_liberties(to_move) == (player_id == to_move)
        return float("inf") if won else float("-inf")

    def _has_liberties(self, player_id: int) -> bool:
        # The course asked any() of the cells' numbers: who can only go to cell 0 is stuck.
        return any(self.liberties(self.locs[player_id]))


_has_liberties = Isolation._has_liberties


class DebugState(Isolation):
    """A position that prints as a picture."""

    @classmethod
    def from_state(cls, state: Isolation) -> DebugState:
        """The same position, printable."""
        return cls(*state)

    @staticmethod
    def ind2xy(ind: int) -> tuple[int, int]:
        """The column of a cell, counted from the east, and its row, counted from the south."""
        return ind % _ROW, ind // _ROW

    def __str__(self) -> str:
        rows = (
            " ".join(self._symbol(row * _ROW + column) for column in reversed(range(_WIDTH)))
            for row in reversed(range(_HEIGHT))
        )
        return "\n".join(rows)

    def _symbol(self, cell: int) -> str:
        if cell in self.locs:
            return str(self.locs.index(cell) + 1)
        return "." if self.board >> cell & 1 else "X"


class TimedQueue:
    """What an agent puts its actions into: until its time is up, each with its `context`.

    `send` gets (action, context).  The last one counts.
    """

    def __init__(
        self,
        agent: Any,
        send: Callable[[tuple[Any, Any]], object],
        time_limit: float = TIME_LIMIT_MILLIS,
    ) -> None:
        self._agent = agent
        self._send = send
        self._deadline = perf_counter() + time_limit / 1000.0

    def put(self, action: Any, block: bool = True, timeout: float | None = None) -> None:
        """Answer with an action, until a better one is put; raises StopSearch when it is late."""
        if perf_counter() > self._deadline:
            raise StopSearch
        self._send((action, self._agent.context))

    def put_nowait(self, action: Any) -> None:
        """The same."""
        self.put(action)
