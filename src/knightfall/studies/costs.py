"""What heuristics and the steps of a student's search cost, as measured once: time without a clock.

Games by the clock never repeat, so time is counted.  At equal time a heuristic gets as many nodes
as its compiled search gets through in the time in which that of `improved` gets through 2,500.  An
agent that plays as a student's did adds up what its search would have paid in plain Python over the
course's board: so much per forecast, per list of moves, per call of the search and per evaluation.
All of that was measured over two boards, the course's first (`early`: a forecast copies nested
lists, which is dear) and its last (`later`: one flat list, and moves that are shuffled).

``python -m benchmarks.costs`` and ``python -m benchmarks.costs.students`` in a checkout measure
anew and write the files.
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
from knightfall.reading import Between, Whole, check, decoded, parse_toml

# -- nodes of compiled searches ------------------------------------------------------------


COMPILED_FILE = "compiled_costs.toml"
WISH_FILE = "wish_costs.toml"
LARGE_FILE = "compiled_costs_8x8.toml"
BASELINE = "improved"


@dataclass(frozen=True)
class NodeCosts:
    """What a node costs with each heuristic, in nodes of `improved`."""

    ratios: Mapping[str, float]
    conditions: str
    """Where that was measured, in words."""
    microseconds: float | None = None
    """What 2,500 nodes of `improved` took, where anybody noted it."""

    def nodes(self, heuristic: str) -> int:
        """What is left of the course's 2,500 nodes at this price: at least one."""
        if heuristic not in self.ratios:
            raise KnightfallError(
                f"nobody has timed {heuristic!r} in {self.conditions}"
                f"{nearest(heuristic, self.ratios)} (python -m benchmarks.costs in a checkout "
                "times the studies' heuristics)"
            )
        return max(1, round(COURSE_NODES / self.ratios[heuristic]))


@cache
def compiled_costs() -> NodeCosts:
    """The costs in our own searches."""
    return _recorded(COMPILED_FILE, "compiled searches")


@cache
def wish_costs() -> NodeCosts:
    """The same of the heuristics that the studies' authors wished for."""
    return _recorded(WISH_FILE, "compiled searches")


@cache
def large_costs() -> NodeCosts:
    """The costs on 8×8, in nodes of `improved` there, of the heuristics that are played there."""
    return _recorded(LARGE_FILE, "compiled searches on 8×8")


def equal_time_nodes(heuristic: str) -> int:
    """Return the nodes of a heuristic at equal time, whether a study entered or wished for it."""
    entered, wished = compiled_costs(), wish_costs()
    known = heuristic in entered.ratios or heuristic not in wished.ratios
    return (entered if known else wished).nodes(heuristic)


def _recorded(file: str, conditions: str) -> NodeCosts:
    return read_costs(_recorded_text(file), conditions)


def _recorded_text(file: str) -> str:
    there = resources.files("knightfall.studies") / "data" / file
    return decoded(there.read_bytes(), file)


def read_costs(text: str, conditions: str) -> NodeCosts:
    """The costs that a file of TOML tells; an error says what is wrong with it."""
    try:
        table = parse_toml(text)
        check(_NODES_SHAPE, table)
    except KnightfallError as error:
        raise KnightfallError(
            f"what a node costs in {conditions} cannot be read: {error}"
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
"""What a heuristic is taken for that nobody has timed."""

CODED = "coded:"


@dataclass(frozen=True, slots=True)
class StudentCosts:
    """Nanoseconds: a list of n moves costs ``listing + per_move·n``, an evaluation
    ``score + score_open·(open cells) + score_move·(M(me) + M(opp))``."""

    forecast: int
    listing: int
    per_move: int
    call: int
    score: int
    score_open: int
    score_move: int


@cache
def student_costs(board: str, heuristic: str) -> StudentCosts:
    """The costs over a board (``early`` or ``later``) with a heuristic as agents print it.

    A sum that was not timed as a whole costs what its parts do, those of all its stages included,
    a member of a family what the nearest one that was timed does, ``coded:X`` what X does.  What
    nobody has timed, a user's function say, costs what `improved` does.
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
    """What was measured of a heuristic as a whole, or else of each of its parts."""
    for id in (heuristic, heuristic.removeprefix(CODED)):
        if id in known:
            return [known[id]]
    from knightfall.heuristics.expression import parse_heuristic  # here: it need not be loaded

    expression = parse_heuristic(heuristic)
    parts = [expression] if str(expression) in known else [*expression.atoms()]
    return [known[_like(known, str(part))] for part in parts]


def _like(known: Mapping[str, Any], atom: str) -> str:
    """The id under which to look an atom up."""
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
    """The two boards' tables that a file of TOML tells; an error says what is wrong with it."""
    try:
        table = parse_toml(text)
        check(_STEPS_SHAPE, table)
        missing = [board for board in BOARDS if LIKE_UNTIMED not in table[board]["score"]]
        if missing:
            raise KnightfallError(f'"{LIKE_UNTIMED}" is missing in {missing[0]}.score')
    except KnightfallError as error:
        raise KnightfallError(f"what a move cost a student cannot be read: {error}") from None
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
