"""`Budget`, the limits of a search, and `Report`, its result.

Budgets are ``depth=5``, ``nodes=2500``, ``time=150ms``.  Depth and node budgets are deterministic:
use them for experiments, and time budgets for games against people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from knightfall.errors import KnightfallError

DEEPEST = 64
MOST_NODES = 10**15
LONGEST = 24 * 3600 * 1_000_000

LEAF_STEP_LIMIT = 1000
"""Steps that a costly heuristic may take per evaluation in a search: well under 0.1 ms."""

KINDS = ("depth", "nodes", "time")
ACCEPTED = "depth=5, nodes=2500, time=150ms or time=2s"


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search for a move; the first one that is reached ends it.

    `time` is in microseconds.
    """

    depth: int | None = None
    nodes: int | None = None
    time: int | None = None

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds."""
        return None if self.time is None else self.time / 1e6

    def __bool__(self) -> bool:
        return any(limit is not None for limit in (self.depth, self.nodes, self.time))

    def __str__(self) -> str:
        parts = []
        if self.depth is not None:
            parts.append(f"depth={self.depth}")
        if self.nodes is not None:
            parts.append(f"nodes={self.nodes}")
        if self.time is not None:
            parts.append(f"time={print_time(self.time)}")
        return ", ".join(parts)


def parse_budget(given: Mapping[str, str]) -> Budget:
    """Return the budget of a mapping such as ``{"nodes": "2500"}``.  Other keys are refused."""
    for key in given:
        if key not in KINDS:
            raise KnightfallError(f"{key}={given[key]!r} is not a budget: accepted are {ACCEPTED}")
    depth, nodes, time = (given.get(kind) for kind in KINDS)
    return Budget(
        None if depth is None else read_whole("budget depth=", depth, 1, DEEPEST),
        None if nodes is None else read_whole("budget nodes=", nodes, 1, MOST_NODES),
        None if time is None else read_time(time, "budget time="),
    )


def read_budget(text: str | Budget | None) -> Budget | None:
    """Return the budget of a text such as ``nodes=2500``; a `Budget` or None is returned as is."""
    if text is None or isinstance(text, Budget):
        return text
    given: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key in given:
            raise KnightfallError(f"budget {text!r} cannot be read: accepted are {ACCEPTED}")
        given[key] = value
    return parse_budget(given)


def read_whole(name: str, text: str, least: int, most: int) -> int:
    """Return the whole number of a text; `name` precedes it in the error."""
    if re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) and least <= int(text) <= most:
        return int(text)
    raise KnightfallError(f"{name}{text} must be a whole number from {least} to {most:,}")


def read_time(text: str, name: str, least: int = 1) -> int:
    """Return the microseconds of a text such as ``150ms``; `name` precedes it in the error."""
    match = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?(ms|s)", text, re.ASCII)
    if match:
        digits = 3 if match[3] == "ms" else 6
        fraction = match[2] or ""
        if len(fraction) <= digits:
            time = int(match[1] + fraction.ljust(digits, "0"))
            if least <= time <= LONGEST:
                return time
    key = name.rpartition(" ")[2] if name.endswith("=") else name
    raise KnightfallError(
        f"{name}{text} must be a number of ms or s, at most 24 hours, as in {key}150ms or {key}1.5s"
    )


def print_time(time: int) -> str:
    """Return microseconds as `read_time` reads them, such as ``150ms`` or ``1.5s``."""
    unit, digits = ("s", 6) if time >= 1_000_000 else ("ms", 3)
    whole, fraction = divmod(time, 10**digits)
    decimals = f"{fraction:0{digits}d}".rstrip("0")
    return f"{whole}.{decimals}{unit}" if decimals else f"{whole}{unit}"


def without_reserve(seconds: float, share: float, least: float, most: float) -> float:
    """Return the seconds of a time budget that are left for searching after the reserve."""
    return seconds - min(max(seconds * share, least), most, seconds / 2)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a search.

    `move` is the chosen cell and `pv` the expected line.  `score` is for the side to move: a
    heuristic value, or ±inf if `proven`, and then `plies` is the length of the rest of the game (an
    upper bound if it is more than `depth`, the plies searched).  It took `nodes` positions and
    `seconds`; `cut` counts evaluations that ran out of steps; `note` is a remark for the user.
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

    def _repr_html_(self) -> str:
        from knightfall.display.numbers import duration
        from knightfall.display.table import facts

        score = f"{self.score:+.4g}".replace("-", "−").replace("inf", "∞")
        proof = "" if self.plies is None else f", the game ends within {self.plies} plies"
        rows = {"move": self.move, "score": f"{score}{', proven' * self.proven}{proof}"}
        rows |= {"depth": f"{self.depth}", "nodes": f"{self.nodes:,}"}
        rows |= {"time": duration(self.seconds), "line": " ".join(self.pv), "note": self.note}
        return facts({name: text for name, text in rows.items() if text}).html()
