"""What a document is made of, and how numbers are written in it.

Texts may hold `code` and **bold**; a line break inside of a table's cell is a newline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from knightfall.studies.judging.measured import Rate

MARKS = {"holds": "✓", "does not hold": "✗", "cannot be told apart": "?"}


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 4; `id` is what links to it name."""

    level: int
    text: str
    id: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; its first column are names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: bool = True
    """Whether the other columns are numbers, to be set to the right."""


@dataclass(frozen=True)
class Chart:
    """A chart by its name."""

    name: str


@dataclass(frozen=True)
class Command:
    """Something to type."""

    text: str


@dataclass(frozen=True)
class Timing:
    """What differs from run to run: marked, so that a comparison can leave it out."""

    text: str


@dataclass(frozen=True)
class Fold:
    """Blocks that are only shown to whoever asks."""

    title: str
    blocks: Sequence[Block] = field(default_factory=list)


Block = Heading | Text | Bullets | Table | Chart | Command | Timing | Fold


# -- numbers -------------------------------------------------------------------------------


def rate(found: Rate, digits: int = 1) -> str:
    """A rate and its interval."""
    return f"{found.rate:.{digits}f} ({found.low:.{digits}f}–{found.high:.{digits}f})"


def gap(points: float, low: float, high: float, digits: int = 1) -> str:
    """A difference and its interval."""
    return f"{signed(points, digits)} ({signed(low, digits)} to {signed(high, digits)})"


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, −0.0 being 0.0."""
    text = f"{value:+.{digits}f}"
    return "0" + text[2:] if float(text) == 0 else text.replace("-", "−")


def mark(verdict: str) -> str:
    """A verdict and its sign."""
    return f"{MARKS[verdict]} {verdict}"
