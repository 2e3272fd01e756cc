"""What is known about a position: the solver's answer, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from knightfall.display.numbers import count, duration
from knightfall.display.report import Displayable, Part
from knightfall.display.table import facts
from knightfall.position import Position, Side

PLAYER: dict[Side, str] = {"w": "the first player (N)", "b": "the second player (n)"}
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Solution(Displayable):
    """What is known about a position.

    `winner` is None, and `winning_moves` and `plies` are None, where the budget ended first.
    Then `known_wins` still has the moves that were seen to win by then, and `at_least` says how
    many plies the game is known to last.
    """

    position: Position
    winner: Side | None
    winning_moves: tuple[str, ...] | None
    plies: int | None
    pv: tuple[str, ...]
    nodes: int
    seconds: float
    at_least: int = 0
    known_wins: tuple[str, ...] = ()
    from_atlas: bool = False
    by_reflection: bool = False
    """The winner needs no search: it answers each move with its image in the board's centre."""
    interrupted: bool = False
    distance: bool = True
    """Whether it was asked how long the game lasts."""

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        rows = {"winner": UNKNOWN if self.winner is None else PLAYER[self.winner]}
        if self.distance or self.plies is not None:
            rows["plies"] = self._plies()
        rows["moves"] = self._moves()
        if self.pv:
            rows["line"] = " ".join(self.pv)
        if self.from_atlas and not self.nodes:
            rows["source"] = "the atlas"
        elif self.by_reflection:
            rows["source"] = "reflection: the winner mirrors each move in the board's centre"
        if not self.from_atlas or self.nodes:
            rows["nodes"] = f"{self.nodes:,}"
        rows["time"] = duration(self.seconds)
        yield facts(rows)

    def _plies(self) -> str:
        if self.plies is not None:
            return f"{self.plies}"
        if self.at_least:
            return f"at least {self.at_least}"
        if self.by_reflection and not self.nodes:
            return "unknown (not searched for without --time or --nodes)"
        return UNKNOWN

    def _moves(self) -> str:
        moves, winning = len(self.position.legal_moves), self.winning_moves
        if winning is None and self.known_wins:
            return f"{' '.join(self.known_wins)} (which others win is unknown)"
        if winning is None:
            return "which moves win is unknown"
        if winning:
            return f"{' '.join(winning)} ({len(winning)} of {moves} win)"
        return f"none of {moves} wins" if moves else "none: the game is over"

    def to_dict(self) -> dict[str, Any]:
        """What is not known is None."""
        winning = self.winning_moves
        return {
            "winner": self.winner,
            "winning_moves": None if winning is None else list(winning),
            "plies": self.plies,
            "pv": list(self.pv),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "at_least": self.at_least,
            "known_wins": list(self.known_wins),
            "from_atlas": self.from_atlas,
            "by_reflection": self.by_reflection,
        }


@dataclass
class SolveProgress:
    """How far a solve has got."""

    nodes: int = 0
    seconds: float = 0.0
    fill: float = 0.0
    winner: Side | None = None
    at_least: int = 0
    """Plies the game is known to last."""
    known_wins: set[str] = field(default_factory=set)
    stage: str = ""

    def __str__(self) -> str:
        parts = [self.stage]
        if self.winner is not None:
            parts.append(f"{PLAYER[self.winner]} wins")
        if self.at_least:
            parts.append(f"not before ply {self.at_least}")
        speed = self.nodes / max(self.seconds, 1e-9)
        parts += [
            count(self.nodes, "node"),
            f"{speed / 1e6:.0f} million a second",
            f"table {self.fill:.0%} full",
            f"{self.seconds:.0f} s",
        ]
        return " · ".join(parts)
