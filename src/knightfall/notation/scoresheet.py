r"""A game that was written down: where it began, what was played, and how it ended.

`Scoresheet.to_dict` is the game in JSON.  `Scoresheet.to_text` is what people read, tags in
brackets and numbered moves::

    [White "AB_Improved"]
    [Black "MM_Open"]
    [Opening "7/7/1N5/7/7/4n2/7 w"]
    [Result "1-0"]
    [Reason "no moves"]

    1. d4 f4 2. e6 d3 3. c5 b2 1-0

White is the first player, whose knight is N.  A quote in a tag is written \", a backslash \\.
Where Black begins, the moves do so with 1... and its move.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side, other

NO_MOVES = "no moves left"
RESIGNED = "resigned"
SEAT: dict[Side, str] = {"w": "first", "b": "second"}
SIDE: dict[str, Side] = {seat: side for side, seat in SEAT.items()}
NAME_TAG: dict[Side, str] = {"w": "White", "b": "Black"}
"""The tags that tell who played."""
RESULT: dict[Side | None, str] = {"w": "1-0", "b": "0-1", None: "*"}

_WIDTH = 80


@dataclass(frozen=True)
class Scoresheet:
    """A game.  `winner` is None if it was left unfinished; `reason` is why the loser lost.

    `tags` say the rest, such as who played (White and Black).  Nothing is checked here: `played`
    makes one whose moves are legal.
    """

    start: Position
    moves: tuple[str, ...]
    winner: Side | None = None
    reason: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def played(
        start: Position,
        moves: Iterable[str],
        winner: Side | None = None,
        reason: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Scoresheet:
        """Play a game over: an illegal move is named with its number, and so is a wrong winner.

        Whoever has no moves left has lost, whether that is said or not.
        """
        positions, names = [start], []
        for number, move in enumerate(moves, start=1):
            try:
                positions.append(positions[-1].play(move))
            except KnightfallError as error:
                raise KnightfallError(f"move {number}: {error}") from None
            names.append(move)
        right = positions[-1].winner
        if right is not None:
            if winner not in (None, right):
                raise KnightfallError(f"the winner is {right}, not {winner!r}")
            winner, reason = right, reason or NO_MOVES
        sheet = Scoresheet(start, tuple(names), winner, reason, tags or {})
        vars(sheet)["positions"] = tuple(positions)
        return sheet

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """Every position from the start on, one more than there are moves."""
        return self.played(self.start, self.moves).positions

    @property
    def final(self) -> Position:
        """The position after the last move."""
        return self.positions[-1]

    @property
    def loser(self) -> Side | None:
        """Who lost, or None if the game was left unfinished."""
        return None if self.winner is None else other(self.winner)

    def name(self, side: Side) -> str | None:
        """Who played a side, where that is known."""
        return self.tags.get(NAME_TAG[side])

    # -- writing -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The game as JSON has it; who played is for whoever writes it to add."""
        return {
            "fen": self.start.fen,
            "moves": list(self.moves),
            "final": self.final.fen,
            "winner": self.winner,
            "reason": self.reason,
        }

    def to_text(self) -> str:
        """Tags, an empty line, and the moves; the moves are not played over."""
        ours = {"Opening": self.start.fen, "Result": RESULT[self.winner]}
        if self.reason is not None:
            ours["Reason"] = self.reason
        tags = "".join(
            f'[{name} "{_escaped(value)}"]\n' for name, value in {**self.tags, **ours}.items()
        )
        words = " ".join([*self._numbered(), RESULT[self.winner]])
        wrapped = textwrap.fill(words, _WIDTH, break_long_words=False, break_on_hyphens=False)
        return f"{tags}\n{wrapped}\n"

    def _numbered(self) -> Iterator[str]:
        """Moves with the numbers of White's before them."""
        turn = 0 if self.start.to_move == "w" else 1
        for at, move in enumerate(self.moves, start=turn):
            if at % 2 == 0:
                yield f"{at // 2 + 1}."
            elif at == turn:
                yield "1..."
            yield move


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
