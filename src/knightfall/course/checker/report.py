"""What an examination says, for people and for scripts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knightfall.course.checker.outcome import BY_ID, Mark, Outcome
from knightfall.display.printable import printable
from knightfall.display.report import Displayable, Heading, Part, unicode_is_shown

COLUMNS = 80
NAMES = max(len(check.name) for check in BY_ID.values()) + 2
PRINTED = 300

_HELD = "\0"
"""A space at which no line ends."""

SIGNS: dict[Mark, tuple[str, str]] = {
    "ok": ("✓", "+"),
    "wrong": ("✗", "x"),
    "warning": ("!", "!"),
    "skipped": ("–", "-"),
}


@dataclass(frozen=True)
class Examination(Displayable):
    """The outcomes of all checks; what the submission `printed` meanwhile, and how much."""

    path: str
    generation: str
    why: str
    """What told its generation."""
    outcomes: tuple[Outcome, ...]
    printed: str = ""
    printed_bytes: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong; warnings and what could not be tried do not count."""
        return not any(outcome.mark == "wrong" for outcome in self.outcomes)

    @property
    def tally(self) -> str:
        """Return how many of the checks were passed, such as "13 of 14"."""
        return f"{sum(one.mark == 'ok' for one in self.outcomes)} of {len(self.outcomes)}"

    @property
    def complaints(self) -> list[str]:
        """Return what is wrong or worth a warning, in a line for each check."""
        return [
            f"{one.mark}: {BY_ID[one.id].name}: {one.short}"
            for one in self.outcomes
            if one.mark in ("wrong", "warning")
        ]

    def parts(self) -> Iterator[Part]:
        """A line for each check, then what there is to explain, then the sum."""
        yield Heading(_fit(self.path))
        yield from _wrapped(f"generation {self.generation}: {self.why}", "", "  ")
        yield ""
        names = {id: check.name for id, check in BY_ID.items()}
        for outcome in self.outcomes:
            short = printable(" ".join(outcome.short.split()))
            yield _fit(f"{_sign(outcome.mark)} {names[outcome.id]:<{NAMES}}{short}")
        for outcome in self.outcomes:
            if outcome.mark in ("wrong", "warning"):
                yield ""
                yield Heading(_fit(f"{_sign(outcome.mark)} {names[outcome.id]}: {outcome.short}"))
                yield from _explained(outcome)
        if self.printed_bytes:
            yield ""
            yield from _wrapped(
                f"It printed {self.printed_bytes:,} bytes meanwhile, which begin: "
                + " ".join(self.printed[:PRINTED].split())
            )
        yield ""
        yield self._sum()

    def _sum(self) -> str:
        counts = {mark: sum(o.mark == mark for o in self.outcomes) for mark in SIGNS}
        told = [f"{self.tally} checks passed"]
        told += [f"{counts['wrong']} failed"] if counts["wrong"] else []
        told += [f"{counts['skipped']} not tried"] if counts["skipped"] else []
        many = "warnings" if counts["warning"] > 1 else "warning"
        told += [f"{counts['warning']} {many}"] if counts["warning"] else []
        return ", ".join(told)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "path": self.path,
            "generation": self.generation,
            "why": self.why,
            "ok": self.passed,
            "checks": [outcome.to_dict() for outcome in self.outcomes],
            "printed": self.printed[:PRINTED],
            "printed_bytes": self.printed_bytes,
        }


def _sign(mark: Mark) -> str:
    return SIGNS[mark][0 if unicode_is_shown() else 1]


def _fit(line: str) -> str:
    line = printable(line)
    return line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…"


def _wrapped(text: str, first: str = "  ", then: str = "  ") -> Iterator[str]:
    """Lines of a paragraph; no cell is torn apart."""
    text = re.sub(r"\((-?\d+), (-?\d+)\)", rf"(\1,{_HELD}\2)", printable(text))
    lines = textwrap.wrap(
        text, COLUMNS, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
    )
    yield from (line.replace(_HELD, " ") for line in lines)


def _explained(outcome: Outcome) -> Iterator[str]:
    for text in outcome.why:
        yield from _wrapped(text)
    if outcome.expected:
        yield from _wrapped(outcome.expected, "  expected: ", "            ")
    if outcome.got:
        yield from _wrapped(outcome.got, "  came:     ", "            ")
    for line in outcome.trace:
        yield from _wrapped(line, "    ", "      ")
    if outcome.picture:
        yield ""
        yield from (_fit(f"    {line}") for line in outcome.picture.splitlines())
        label = "" if outcome.fen.startswith("Isolation") else "FEN "
        yield _fit(f"    {label}{outcome.fen}")
