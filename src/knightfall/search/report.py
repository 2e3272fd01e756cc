"""What a search found out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to "what would you play here?".

    `score` is for the side to move: a heuristic value, or ±inf when `proven`, and then `plies`
    is the length of the rest of the game (at most, if it lies beyond `depth`).  `cut` counts
    evaluations that ran out of steps; `note` is what else there is to say.
    """

    move: str
    score: float
    proven: bool
    plies: int | None
    depth: int
    nodes: int
    seconds: float
    pv: tuple[str, ...]
    cut: int = 0
    note: str = ""
