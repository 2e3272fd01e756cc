"""The list of checks, the outcome of each, and the report of ``knightfall course check``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, get_args

from knightfall.course.generations import Generation
from knightfall.display.printable import printable
from knightfall.display.report import Displayable, Heading, Part, unicode_is_shown
from knightfall.isolation.host_process import check_answer
from knightfall.untrusted_input import OneOf

Mark = Literal["ok", "wrong", "warning", "skipped"]
Kind = Literal["minimax", "alphabeta"]

KINDS: tuple[Kind, ...] = ("minimax", "alphabeta")
LONGEST = 4000
"""Maximum characters of one text in a report."""


@dataclass(frozen=True)
class Check:
    """A check, made only if the file loads and the checks in `needs` pass.

    `about` is the search that it belongs to.
    """

    id: str
    name: str
    about: Kind | None = None
    needs: tuple[str, ...] = ()


CHECKS = (
    Check("load", "file loads"),
    Check("interface", "interface"),
    Check("scores", "scores"),
    Check("minimax-values", "minimax: best moves", "minimax"),
    Check("minimax-timeout", "minimax: timeout", "minimax"),
    Check("minimax-get-move", "minimax: get_move", "minimax", ("minimax-timeout",)),
    Check("minimax-no-moves", "minimax: no moves", "minimax"),
    Check("alphabeta-values", "alphabeta: best moves", "alphabeta"),
    Check("alphabeta-pruning", "alphabeta: pruning", "alphabeta", ("alphabeta-values",)),
    Check("alphabeta-timeout", "alphabeta: timeout", "alphabeta"),
    Check("alphabeta-get-move", "alphabeta: get_move", "alphabeta", ("alphabeta-timeout",)),
    Check("alphabeta-deepening", "alphabeta: deepening", "alphabeta",
          ("alphabeta-timeout", "alphabeta-get-move")),
    Check("alphabeta-no-moves", "alphabeta: no moves", "alphabeta"),
    Check("resigning", "never resigns"),
)  # fmt: skip

SUCCESSOR_CHECKS = (
    CHECKS[0],
    Check("player", "interface"),
    Check("actions", "legal actions", needs=("player",)),
    Check("ends", "near the end", needs=("player", "actions")),
    Check("games", "whole games", needs=("player", "actions")),
    Check("further", "deepening", needs=("player", "actions")),
)
"""The checks of a submission for the successor's 11×9 game."""

BY_ID = {check.id: check for check in (*CHECKS, *SUCCESSOR_CHECKS)}


def checks_of(generation: Generation) -> tuple[Check, ...]:
    """Return the checks of a generation, in the order in which they are made."""
    return SUCCESSOR_CHECKS if generation.on_11x9 else CHECKS


@dataclass(frozen=True)
class Outcome:
    """The result of one check.

    `short` is half a line, `why` the explanation in paragraphs; `expected` and `got` may be empty.
    After a `fatal` outcome, further checks of the same search are skipped.
    """

    id: str
    mark: Mark
    short: str
    why: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    picture: str = ""
    fen: str = ""
    trace: tuple[str, ...] = ()
    fatal: bool = False


class Shown(Protocol):
    """A position that a report can show."""

    @property
    def picture(self) -> str:
        """Return the board as a text picture."""

    @property
    def fen(self) -> str:
        """Return the position as one machine-readable line."""


@dataclass
class Finding(Exception):
    """Raised by a check that has found a problem; converted into an `Outcome`."""

    short: str
    why: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    place: Shown | None = None
    trace: tuple[str, ...] = ()
    fatal: bool = False
    mark: Mark = field(default="wrong", kw_only=True)
    code: Literal["", "endless", "stays"] = field(default="", kw_only=True)
    """For checks that catch the finding: a search that does not end, or does not deepen."""

    def outcome(self, id: str) -> Outcome:
        """Return the finding as the outcome of a check."""
        return Outcome(
            id,
            self.mark,
            self.short,
            self.why,
            self.expected,
            self.got,
            self.place.picture if self.place else "",
            self.place.fen if self.place else "",
            self.trace,
            self.fatal,
        )


def read_outcome(said: Any, id: str) -> Outcome:
    """Read an outcome sent by another process; raise `Broken` if it is malformed."""
    texts = ("short", "expected", "got", "picture", "fen")
    shape: dict[Any, Any] = {
        "id": OneOf((id,)), "mark": OneOf(get_args(Mark)), "fatal": bool, "why": [str],
        "trace": [str], **dict.fromkeys(texts, str), ...: object,
    }  # fmt: skip
    check_answer(shape, said)
    return Outcome(
        id=id,
        mark=said["mark"],
        fatal=said["fatal"],
        why=tuple(text[:LONGEST] for text in said["why"][:20]),
        trace=tuple(text[:LONGEST] for text in said["trace"][:20]),
        **{name: said[name][:LONGEST] for name in texts},
    )


# -- the report --------------------------------------------------------------------------------


COLUMNS = 80
NAMES = max(len(check.name) for check in BY_ID.values()) + 2
PRINTED = 300

_HELD = "\0"
"""A placeholder for a non-breaking space."""

SIGNS: dict[Mark, tuple[str, str]] = {
    "ok": ("✓", "+"),
    "wrong": ("✗", "x"),
    "warning": ("!", "!"),
    "skipped": ("–", "-"),
}


@dataclass(frozen=True, repr=False)
class Examination(Displayable):
    """The outcomes of all checks, and the beginning and length of the submission's output."""

    path: str
    generation: str
    why: str
    """The evidence for its generation."""
    outcomes: tuple[Outcome, ...]
    printed: str = ""
    printed_bytes: int = 0
    seconds: float | None = field(default=None, compare=False)
    """The time that the checks took."""

    @property
    def passed(self) -> bool:
        """Return whether no check failed; warnings and skipped checks do not count as failed."""
        return not any(outcome.mark == "wrong" for outcome in self.outcomes)

    @property
    def tally(self) -> str:
        """Return how many of the checks were passed, such as "13 of 14"."""
        return f"{sum(one.mark == 'ok' for one in self.outcomes)} of {len(self.outcomes)}"

    @property
    def complaints(self) -> list[str]:
        """Return one line for each failed check and each warning."""
        return [
            f"{one.mark}: {BY_ID[one.id].name}: {one.short}"
            for one in self.outcomes
            if one.mark in ("wrong", "warning")
        ]

    def parts(self) -> Iterator[Part]:
        """Yield a line for each check, then the explanations, then the totals."""
        yield Heading(_fit(self.path))
        yield from _wrapped(f"generation {self.generation}: {self.why}", "", "  ")
        yield ""
        for outcome in self.outcomes:
            short = printable(" ".join(outcome.short.split()))
            yield _fit(f"{_sign(outcome.mark)} {BY_ID[outcome.id].name:<{NAMES}}{short}")
        for outcome in self.outcomes:
            if outcome.mark in ("wrong", "warning"):
                yield ""
                name = BY_ID[outcome.id].name
                yield Heading(_fit(f"{_sign(outcome.mark)} {name}: {outcome.short}"))
                yield from explained(outcome)
        if self.printed_bytes:
            yield ""
            yield from _wrapped(
                f"During the checks it printed {self.printed_bytes:,} bytes, beginning with: "
                + " ".join(self.printed[:PRINTED].split())
            )
        yield ""
        yield self.totals

    @property
    def totals(self) -> str:
        """Return the numbers of checks, as in "11 of 14 checks passed, 2 failed, 1 warning"."""
        counts = {mark: sum(o.mark == mark for o in self.outcomes) for mark in SIGNS}
        parts = [f"{self.tally} checks passed"]
        parts += [f"{counts['wrong']} failed"] if counts["wrong"] else []
        parts += [f"{counts['skipped']} not tried"] if counts["skipped"] else []
        many = "warnings" if counts["warning"] > 1 else "warning"
        parts += [f"{counts['warning']} {many}"] if counts["warning"] else []
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-compatible values."""
        return {
            "path": self.path,
            "generation": self.generation,
            "why": self.why,
            "ok": self.passed,
            "checks": [asdict(outcome) for outcome in self.outcomes],
            "printed": self.printed[:PRINTED],
            "printed_bytes": self.printed_bytes,
        }


def _sign(mark: Mark) -> str:
    return SIGNS[mark][0 if unicode_is_shown() else 1]


def _fit(line: str) -> str:
    line = printable(line)
    return line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…"


def _wrapped(text: str, first: str = "  ", then: str = "  ") -> Iterator[str]:
    """Yield the wrapped lines of a paragraph; cells such as (1, 2) are not split."""
    text = re.sub(r"\((-?\d+), (-?\d+)\)", rf"(\1,{_HELD}\2)", printable(text))
    lines = textwrap.wrap(
        text, COLUMNS, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
    )
    yield from (line.replace(_HELD, " ") for line in lines)


def explained(outcome: Outcome) -> Iterator[str]:
    """Yield the lines that explain an outcome: why, expected, got, traceback, position."""
    for text in outcome.why:
        yield from _wrapped(text)
    if outcome.expected:
        yield from _wrapped(outcome.expected, "  expected: ", "            ")
    if outcome.got:
        yield from _wrapped(outcome.got, "  got:      ", "            ")
    for line in outcome.trace:
        yield from _wrapped(line, "    ", "      ")
    if outcome.picture:
        yield ""
        yield from (_fit(f"    {line}") for line in outcome.picture.splitlines())
        label = "" if outcome.fen.startswith("Isolation") else "FEN "
        yield _fit(f"    {label}{outcome.fen}")
