"""The verdict on a claim, with the numbers and the words it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from knightfall.display.numbers import signed

ClaimVerdict = Literal[
    "holds", "does not hold", "cannot be told apart", "not a claim that can be tested"
]

MARKS: Mapping[ClaimVerdict, str] = {
    "holds": "✓",
    "does not hold": "✗",
    "cannot be told apart": "?",
    "not a claim that can be tested": "–",
}


@dataclass(frozen=True)
class Judgement:
    """What the results say of a claim.

    `difference`, `low` and `high` (in `unit`) are of the comparison that decided; None where
    nothing was compared.  `games` is how many each heuristic played, 0 where none were needed.
    """

    verdict: ClaimVerdict
    difference: float | None
    low: float | None
    high: float | None
    games: int
    words: str
    unit: str = "points"

    @property
    def mark(self) -> str:
        """The verdict and its sign."""
        return f"{MARKS[self.verdict]} {self.verdict}"

    def measured(self, digits: int = 1) -> str:
        """The difference that decided, with its interval and, unless it is points, its unit."""
        if self.difference is None or self.low is None or self.high is None:
            return "" if self.verdict == "not a claim that can be tested" else "computed"
        if self.unit == "times the cost":
            return f"{self.difference:,.2g} times the cost ({self.low:,.2g} to {self.high:,.2g})"
        ends = f"{signed(self.low, digits)} to {signed(self.high, digits)}"
        unit = "" if self.unit == "points" else f" {self.unit}"
        return f"{signed(self.difference, digits)}{unit} ({ends})"


def settled(holds: bool, words: str) -> Judgement:
    """The verdict on a statement that was computed."""
    return Judgement("holds" if holds else "does not hold", None, None, None, 0, words)
