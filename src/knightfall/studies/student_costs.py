"""What each step of a student's search cost, as measured once: time without a clock.

A move of the course has so many milliseconds.  Games by the clock never repeat, so an agent that
plays as a student's did adds up what its search would have paid in plain Python over the course's
board: so much per forecast, per list of moves, per call of the search and per evaluation.  All of
it was measured over two boards, the course's first (`early`: a forecast copies nested lists, which
is dear) and its last (`later`: one flat list, and moves that are shuffled).

``python -m benchmarks.costs.students`` in a checkout measures anew and writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

from knightfall.errors import KnightfallError, nearest
from knightfall.reading import decoded, parse_toml
from knightfall.shape import Between, Whole, check

FILE = "student_costs.toml"
BOARDS = ("early", "later")
UNKNOWN = "improved"
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
    table = _recorded()[board]
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

    return min(members, key=distance, default=UNKNOWN)


@cache
def _recorded() -> dict[str, Any]:
    there = resources.files("knightfall.studies").joinpath(FILE)
    return read_student_costs(decoded(there.read_bytes(), FILE))


def read_student_costs(text: str) -> dict[str, Any]:
    """The two boards' tables that a file of TOML tells; an error says what is wrong with it."""
    try:
        table = parse_toml(text)
        check(_SHAPE, table)
        missing = [board for board in BOARDS if UNKNOWN not in table[board]["score"]]
        if missing:
            raise KnightfallError(f'"{UNKNOWN}" is missing in {missing[0]}.score')
    except KnightfallError as error:
        raise KnightfallError(f"what a move cost a student cannot be read: {error}") from None
    return {board: table[board] for board in BOARDS}


_NS = Whole(0, 10**12)
_ROW = {"score": _NS, "open": _NS, "move": _NS, "residual": Between(0, 1e6)}
_BOARD: dict[str, Any] = {"forecast": _NS, "listing": _NS, "per_move": _NS, "call": _NS}
_BOARD |= {"whole": Between(0.01, 100), "score": {str: _ROW}}
_SHAPE = {"date": date, "machine": str, "python": str, "positions": Whole(), "rounds": Whole()}
_SHAPE |= dict.fromkeys(BOARDS, _BOARD)
