"""A player whose games are noted down while they are graded."""

from __future__ import annotations

from typing import Any

from knightfall.oracle.record import Analyst, Record, for_game
from knightfall.position import Position
from knightfall.search.budget import Report


class Noting:
    """Asks another player, and remembers the game that it plays against itself."""

    def __init__(self, player: Analyst) -> None:
        self._player = player
        self._opening: Position | None = None
        self._moves: list[str] = []
        self._now: Position | None = None

    def analyse(self, position: Position) -> Report:
        """The other one's move."""
        if self._now is None or position.fen != self._now.fen:  # another game
            self._opening, self._moves = position, []
            self._player = for_game(self._player, position.board)
        report = self._player.analyse(position)
        self._moves.append(report.move)
        self._now = position.play(report.move)
        return report

    def game(self, record: Record) -> dict[str, Any]:
        """The game that has just ended, with the plies at which a win was given away."""
        assert self._opening is not None
        moves, opening, self._now = self._moves, self._opening, None
        return {
            "opening": opening.fen,
            "moves": moves,
            "blunders": [one.ply for one in record.decisions if one.blunder],
        }
