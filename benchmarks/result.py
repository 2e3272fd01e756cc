"""The result of a benchmark: named ratios with their goals, and the raw figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Ratio:
    """A measured ratio; `at_least` or `at_most` is its goal, if it has one."""

    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the goal is met; None if there is no goal."""
        if self.at_least is not None:
            return self.value >= self.at_least
        if self.at_most is not None:
            return self.value <= self.at_most
        return None

    @property
    def goal(self) -> str:
        """Return the goal in a few characters; empty if there is none."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        if self.at_most is not None:
            return f"≤ {self.at_most:.3g}"
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return the ratio as JSON values."""
        return {"value": self.value, "goal": self.goal, "met": self.met}


@dataclass(frozen=True)
class Result:
    """A benchmark's result.

    `figures` maps names to numbers or texts for JSON; `rows` is a table. `skipped` says why there
    is no result.
    """

    ratios: dict[str, Ratio] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "ratios": {name: ratio.to_json() for name, ratio in self.ratios.items()},
            "figures": self.figures,
            "rows": self.rows,
            "notes": self.notes,
            "skipped": self.skipped,
        }
