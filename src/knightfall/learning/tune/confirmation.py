"""Whether anything was gained: a sequential test on openings that the tuning never saw.

It is made at the budget that was tuned at, and at a second one: weights may suit a search of one
depth and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knightfall.arena.events import match
from knightfall.display.numbers import for_json
from knightfall.heuristics.expression import Expression
from knightfall.learning.tune.settings import Settings, agent_of
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.sprt import Sprt

FILE = "confirmation.sqlite"

GAINED, NOTHING, UNDECIDED = "gained", "nothing was gained", "cannot tell"
_WORDS = {"H1": GAINED, "H0": NOTHING, None: UNDECIDED}


@dataclass(frozen=True)
class Confirmation:
    """The tuned weights against those given, at one budget; every number is that of the tuned."""

    nodes: int
    pairs: tuple[int, int, int]
    """How many ended LL, WL and WW."""
    statistics: MatchEstimate
    llr: float
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """As plain values that JSON can hold."""
        told = ("score", "low", "high", "elo", "elo_error", "nelo", "nelo_error")
        return {
            "nodes": self.nodes,
            "pairs": list(self.pairs),
            **{name: for_json(getattr(self.statistics, name)) for name in told},
            "llr": for_json(self.llr),
            "verdict": self.verdict,
        }


def confirmed(
    folder: Path, settings: Settings, tuned: Expression, nodes: int, workers: int, progress: bool
) -> Confirmation:
    """Play the test of one budget to its end, or show it again; the folder keeps its games."""
    test = Sprt(*settings.sprt)
    report = match(
        agent_of(tuned, nodes),
        agent_of(settings.given, nodes),
        sprt=test,
        seed=settings.seed,
        book=settings.starts.confirmation,
        workers=0 if workers == 1 else workers,
        store=folder / FILE,
        progress=progress,
    )
    if report.interrupted:
        raise KeyboardInterrupt
    assert report.llr is not None
    return Confirmation(nodes, report.pairs, report.statistics, report.llr, _WORDS[report.accepted])


def overall(verdicts: Sequence[str]) -> str:
    """What may be claimed: a gain only if every budget shows it."""
    if not verdicts or NOTHING in verdicts:  # without any, the weights are those given
        return NOTHING
    return GAINED if set(verdicts) == {GAINED} else UNDECIDED
