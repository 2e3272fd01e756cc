"""Measured costs of heuristics and of a student's search steps, to count time without a clock.

Games with a clock never repeat, so time is counted. At equal time a heuristic gets as many nodes as
its compiled search handles while `improved` searches 2,500. An agent that plays like a student adds
up the cost in plain Python of each forecast, list of moves, call of the search and evaluation. All
were measured on two boards: the course's first (`early`: a forecast copies nested lists, which is
slow) and its last (`later`: one flat list, and shuffled moves).

``python -m benchmarks.costs`` and ``python -m benchmarks.costs.students`` in a checkout measure
again and write the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

from knightfall.agents import COURSE_NODES
from knightfall.errors import KnightfallError, nearest
from knightfall.heuristics.registry import CODED
from knightfall.untrusted_input import Between, Whole, check, decoded, parse_toml

# -- nodes of compiled searches ------------------------------------------------------------


COMPILED_FILE = "compiled_costs.toml"
WISH_FILE = "wish_costs.toml"
LARGE_FILE = "compiled_costs_8x8.toml"
BASELINE = "improved"


@dataclass(frozen=True)
class NodeCosts:
    """The cost of a node with each heuristic, relative to a node of `improved`."""

    ratios: Mapping[str, float]
    conditions: str
    """What was measured, in words."""
    microseconds: float | None = None
    """The time of 2,500 nodes of `improved`, if it was recorded."""

    def nodes(self, heuristic: str) -> int:
        """Return how many nodes a heuristic gets in the time of 2,500 nodes of `improved`."""
        if heuristic not in self.ratios:
            raise KnightfallError(
                f"the cost of {heuristic!r} in {self.conditions} was not measured"
                f"{nearest(heuristic, self.ratios)} (python -m benchmarks.costs in a checkout "
                "measures the studies' heuristics)"
            )
        return max(1, round(COURSE_NODES / self.ratios[heuristic]))


@cache
def compiled_costs() -> NodeCosts:
    """Return the node costs of the studies' heuristics in knightfall's compiled searches."""
    return _recorded(COMPILED_FILE, "compiled searches")


@cache
def wish_costs() -> NodeCosts:
    """Return the node costs of heuristics that authors of studies proposed but did not play."""
    return _recorded(WISH_FILE, "compiled searches")


@cache
def large_costs() -> NodeCosts:
    """Return the costs of a node on 8×8, relative to a node of `improved` on 8×8."""
    return _recorded(LARGE_FILE, "compiled searches on 8×8")


def equal_time_nodes(heuristic: str) -> int:
    """Return how many nodes a heuristic gets in the time of 2,500 nodes of `improved`.

    Its cost is among `compiled_costs`, or among `wish_costs` if no study entered it.
    """
    entered, wished = compiled_costs(), wish_costs()
    known = heuristic in entered.ratios or heuristic not in wished.ratios
    return (entered if known else wished).nodes(heuristic)


def _recorded(file: str, conditions: str) -> NodeCosts:
    return read_costs(_recorded_text(file), conditions)


def _recorded_text(file: str) -> str:
    there = resources.files("knightfall.studies") / "data" / file
    return decoded(there.read_bytes(), file)


def read_costs(text: str, conditions: str) -> NodeCosts:
    """Parse node costs from TOML. Raise a KnightfallError if they are invalid."""
    try:
        table = parse_toml(text)
        check(_NODES_SHAPE, table)
    except KnightfallError as error:
        raise KnightfallError(
            f"the time per node of each heuristic ({conditions}) cannot be read: {error}"
        ) from None
    ratios = {id: float(row["ratio"]) for id, row in table["cost"].items()}
    return NodeCosts(ratios, conditions, table.get("microseconds"))


_NODES_SHAPE = {
    "date": date,
    "machine": str,
    "python": str,
    "positions": Whole(),
    "rounds": Whole(),
    "microseconds?": Between(0, 1e12),
    "cost": {str: {"ratio": Between(1e-6, 1e6), "nodes": Whole(1)}},
}


# -- steps of a student's search -----------------------------------------------------------


STUDENT_FILE = "student_costs.toml"
BOARDS = ("early", "later")
LIKE_UNTIMED = "improved"
"""The heuristic whose cost is used for one that was not timed."""


@dataclass(frozen=True, slots=True)
class StudentCosts:
    """Costs of the steps of a student's search, in nanoseconds.

    A list of n moves costs ``listing + per_move·n``, an evaluation
    ``score + score_open·(open cells) + score_move·(M(me) + M(opp))``.
    """

    forecast: int
    listing: int
    per_move: int
    call: int
    score: int
    score_open: int
    score_move: int


@cache
def student_costs(board: str, heuristic: str) -> StudentCosts:
    """Return the costs of a student's search steps with a heuristic; `board` is one of `BOARDS`.

    A sum that was not timed as a whole costs the sum of its parts, those of all its stages
    included. A member of a family costs as much as the nearest timed one, ``coded:X`` as much as X.
    A heuristic that was not timed, such as a user's function, costs as much as `improved`.
    """
    if board not in BOARDS:
        raise KnightfallError(
            f"unknown board {board!r}{nearest(board, BOARDS)} (there are {' and '.join(BOARDS)})"
        )
    table = _recorded_steps()[board]
    rows = _rows(table["score"], heuristic)
    return StudentCosts(
        *(table[name] for name in ("forecast", "listing", "per_move", "call")),
        *(sum(row[name] for row in rows) for name in ("score", "open", "move")),
    )


def _rows(known: Mapping[str, Any], heuristic: str) -> list[Any]:
    """Return a heuristic's timing or, if it was not timed as a whole, those of its parts."""
    for id in (heuristic, heuristic.removeprefix(CODED)):
        if id in known:
            return [known[id]]
    from knightfall.heuristics.expression import parse_heuristic  # seldom needed

    expression = parse_heuristic(heuristic)
    parts = [expression] if str(expression) in known else [*expression.atoms()]
    return [known[_like(known, str(part))] for part in parts]


def _like(known: Mapping[str, Any], atom: str) -> str:
    """Return the timed heuristic whose cost is used for a heuristic: itself or the nearest one."""
    for id in (atom, atom.removeprefix(CODED)):
        if id in known:
            return id
    family, _, parameter = atom.rstrip(")").partition("(")
    members = [other for other in known if parameter and other.startswith(f"{family}(")]

    def distance(member: str) -> Fraction:
        return abs(Fraction(member[len(family) + 1 : -1]) - Fraction(parameter))

    return min(members, key=distance, default=LIKE_UNTIMED)


@cache
def _recorded_steps() -> dict[str, Any]:
    return read_student_costs(_recorded_text(STUDENT_FILE))


def read_student_costs(text: str) -> dict[str, Any]:
    """Parse the costs on all `BOARDS` from TOML. Raise a KnightfallError if they are invalid."""
    try:
        table = parse_toml(text)
        check(_STEPS_SHAPE, table)
        missing = [board for board in BOARDS if LIKE_UNTIMED not in table[board]["score"]]
        if missing:
            raise KnightfallError(f'"{LIKE_UNTIMED}" is missing in {missing[0]}.score')
    except KnightfallError as error:
        raise KnightfallError(f"the costs of a student's search cannot be read: {error}") from None
    return {board: table[board] for board in BOARDS}


_NS = Whole(0, 10**12)
_ROW = {"score": _NS, "open": _NS, "move": _NS, "residual": Between(0, 1e6)}
_BOARD: dict[str, Any] = {"forecast": _NS, "listing": _NS, "per_move": _NS, "call": _NS}
_BOARD |= {"whole": Between(0.01, 100), "score": {str: _ROW}}
_STEPS_SHAPE = {
    "date": date,
    "machine": str,
    "python": str,
    "positions": Whole(),
    "rounds": Whole(),
}
_STEPS_SHAPE |= dict.fromkeys(BOARDS, _BOARD)
