"""What is played and what came of it: plain values that travel between processes.

A pair is one opening played twice, each agent once on either side.  Nothing smaller is scheduled,
stored or counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from knightfall.errors import Ending, ending_of
from knightfall.position import Position, Side

Reason = Literal["no moves", "timeout", "forfeit", "illegal", "crash"]
"""Why the loser lost: it had no move left (the ordinary end), answered too late or never, gave up
(answered nothing), answered with something that is no legal move, or raised an error or died."""

REASONS: tuple[Reason, ...] = ("no moves", "timeout", "forfeit", "illegal", "crash")

# How the numbers of a game are kept: little-endian, one item per move.
CELL, SCORE, DEPTH, NODES, MICROSECONDS = "u1", "<f8", "u1", "<u8", "<u4"


@dataclass(frozen=True, slots=True)
class PairTask:
    """A pair to be played: `a` is the first player (N) in game 0, `b` in game 1.

    Agents are strings, the opening is a FEN with both knights placed.  `seed` breaks the ties of
    every agent that brings no seed of its own.
    """

    number: int
    a: str
    b: str
    opening: str
    seed: int

    def seats(self, game: int) -> dict[Side, str]:
        """Who plays which knight in game 0 or 1."""
        return {"w": self.a, "b": self.b} if game == 0 else {"w": self.b, "b": self.a}


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game, whole.  The columns are bytes, one item per move (see the formats above).

    `scores` are for the side that moved: ±inf where it was proven.  `detail` says more of an
    unusual end: the error, or the answer that was no move.  To decide something by how a game
    ended, ask for its `ending`: the detail is for people.
    """

    winner: Side
    reason: Reason
    cells: bytes
    scores: bytes
    depths: bytes
    nodes: bytes
    microseconds: bytes = field(compare=False)  # no two runs take the same time
    detail: str = ""

    @property
    def ending(self) -> Ending:
        """The kind of ending, finer than the reason: whether a forfeit was a resignation, say."""
        return ending_of(self.reason, self.detail)

    @property
    def plies(self) -> int:
        """How many moves were made."""
        return len(self.cells)

    def moves(self, opening: Position) -> tuple[str, ...]:
        """The names of the cells moved to."""
        return tuple(opening.board.name(cell) for cell in self.cells)

    def column(self, name: Literal["scores", "depths", "nodes", "microseconds"]) -> npt.NDArray:  # type: ignore[type-arg]
        """A column as an array."""
        formats = {"scores": SCORE, "depths": DEPTH, "nodes": NODES, "microseconds": MICROSECONDS}
        return np.frombuffer(getattr(self, name), formats[name])


def one_line(text: str) -> str:
    """What somebody's error says, on one line and in letters that can be stored."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def game_record(
    winner: Side,
    reason: Reason,
    *,
    cells: npt.ArrayLike,
    scores: npt.ArrayLike,
    depths: npt.ArrayLike,
    nodes: npt.ArrayLike,
    seconds: npt.ArrayLike,
    detail: str = "",
) -> GameRecord:
    """A record, its columns packed."""
    microseconds = np.rint(np.asarray(seconds, "f8") * 1e6)
    return GameRecord(
        winner,
        reason,
        cells=np.asarray(cells, CELL).tobytes(),
        scores=np.asarray(scores, SCORE).tobytes(),
        depths=np.minimum(np.asarray(depths, "i8"), 255).astype(DEPTH).tobytes(),
        nodes=np.asarray(nodes, NODES).tobytes(),
        microseconds=np.minimum(microseconds, 2**32 - 1).astype(MICROSECONDS).tobytes(),
        detail=one_line(detail),
    )


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A pair that was played: game 0 with `a` as the first player, then game 1 with `b`."""

    task: PairTask
    games: tuple[GameRecord, GameRecord]

    @property
    def score(self) -> int:
        """How many of the two games `a` won: 0 is LL, 1 is WL, 2 is WW."""
        return (self.games[0].winner == "w") + (self.games[1].winner == "b")

    @property
    def first(self) -> int:
        """1 if `a` won the game in which it moves first, else 0.

        That is game 0, unless the opening is one in which b is to move.
        """
        if self.task.opening.split()[1] == "w":
            return int(self.games[0].winner == "w")
        return int(self.games[1].winner == "b")
