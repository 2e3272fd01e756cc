"""What was found out about a heuristic, as a value and as a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knightfall.board import Board
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.oracle.measures import Auc

BASELINE = "improved"
"""What a heuristic is compared with."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question; `wrong` if a promise is broken, `example` shows where."""

    about: str
    text: str
    wrong: bool = False
    example: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds an evaluation takes, and one of the baseline's in the same moments."""

    nanoseconds: float
    baseline: float

    @property
    def ratio(self) -> float:
        """How many times as long."""
        return self.nanoseconds / self.baseline


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well values tell positions that are won for the mover from lost ones."""

    positions: int
    auc: Auc
    baseline: Auc


@dataclass(frozen=True)
class Check(Displayable):
    """What was found out about a heuristic.

    `cost` and `truth` are None if it raised an error or did not return, `truth` also where all
    positions have the same winner.
    """

    heuristic: str
    board: Board
    positions: int
    findings: tuple[Finding, ...]
    cost: Cost | None = None
    truth: Agreement | None = None

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The promises that are broken."""
        return tuple(finding for finding in self.findings if finding.wrong)

    def parts(self) -> Iterator[Part]:
        """What was examined, the findings, and what is wrong, if anything is."""
        board = f"{self.board.width}×{self.board.height}"
        yield Heading(f"{self.heuristic} on {board}, {self.positions} positions from random games")
        yield ""
        table = Table(("promise", "what was found"), labels=2)
        for finding in self.findings:
            table.add(finding.about, f"{'WRONG: ' if finding.wrong else ''}{finding.text}")
        yield table
        yield ""
        if self.wrong:
            yield f"wrong: {', '.join(finding.about for finding in self.wrong)}"
        else:
            yield "nothing is wrong with it"

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        told: dict[str, Any] = {
            "heuristic": self.heuristic,
            "board": self.board.text,
            "positions": self.positions,
            "ok": not self.wrong,
            "findings": {
                f.about: {"ok": not f.wrong, "text": f.text, "example": f.example}
                for f in self.findings
            },
            "cost": None,
            "truth": None,
        }
        if self.cost is not None:
            told["cost"] = {
                "nanoseconds": self.cost.nanoseconds,
                BASELINE: self.cost.baseline,
                "ratio": self.cost.ratio,
            }
        if self.truth is not None:
            mine, usual = self.truth.auc, self.truth.baseline
            told["truth"] = {
                "positions": self.truth.positions,
                "auc": mine.value,
                "error": mine.error,
                BASELINE: {"auc": usual.value, "error": usual.error},
                "null": {"auc": 0.5, "error": 0.0},
            }
        return told
