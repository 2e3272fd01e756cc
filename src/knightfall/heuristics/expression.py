"""Heuristic ids as expressions: parsed to a value, printed back.

::

    expression  =  ["-"] term  { ("+" | "-") term }
    term        =  [ number "*" ] atom
    atom        =  id  |  id "(" number ")"  |  file.py ":" function [ "@" revision ]
                   |  "course:" path "#" score
    id          =  name  |  "coded:" name  |  [ study ":" ] name as that study printed it
    number      =  2  |  0.5  |  1/3

A name that a study printed is read as the id it stands for, and prints back as that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from knightfall.errors import KnightfallError, nearest
from knightfall.heuristics.printed_names import all_printed, canonical, meanings
from knightfall.heuristics.registry import REGISTRY
from knightfall.heuristics.students.named import FORM, StudentScore
from knightfall.user_files import REVISION, UserFunction

# A decimal prints as a fraction, whose parts may be twice as long.
_NUMBER = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}|[0-9]{1,18}(?:/[0-9]{1,18})?", re.ASCII)
# Any prefix is read, so that a misspelt one is told as a whole; only declared ids have one.
_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*:)?[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FILE = re.compile(r"((?!-)[^,()*+\x00-\x1f]+?\.py):([A-Za-z_][A-Za-z0-9_]*)" + REVISION, re.ASCII)
_STUDENTS = "course:"
_SCORE = re.compile(
    _STUDENTS + r"\s*((?!-)[^,()*+#\x00-\x1f]+?)\s*#([A-Za-z_][A-Za-z0-9_]*)", re.ASCII
)
_SPACE = re.compile(r"\s*")

FORMS = (
    "an id, sums and multiples such as 2*open-improved, file.py:function, "
    "or course:PATH#custom_score"
)


@dataclass(frozen=True, slots=True)
class Id:
    """A declared heuristic, or a member of a declared family."""

    name: str
    parameter: Fraction | None = None

    def __str__(self) -> str:
        return self.name if self.parameter is None else f"{self.name}({self.parameter})"

    def absolute(self) -> Id:
        """The same: it is one everywhere."""
        return self


Atom = Id | UserFunction
"""One heuristic: a declared one, or a function in a user's file."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A weighted sum of heuristics."""

    terms: tuple[tuple[Fraction, Atom], ...]

    def __str__(self) -> str:
        text, revision = "", ""
        for weight, atom in self.terms:
            sign = "-" if weight < 0 else "+" if text else ""
            if sign == "-" and revision:
                text += " "  # or the minus would be part of the revision
            revision = atom.revision if isinstance(atom, UserFunction) else ""
            factor = "" if abs(weight) == 1 else f"{abs(weight)}*"
            text += f"{sign}{factor}{_spelt(atom)}"
        return text

    def absolute(self) -> Expression:
        """The same, its files named by their full paths."""
        return Expression(tuple((weight, atom.absolute()) for weight, atom in self.terms))


def is_name(name: str) -> bool:
    """Whether a name is a declared id, or a printed one that stands for an id."""
    return name in REGISTRY or canonical(name) is not None


def _spelt(atom: Atom) -> str:
    """An atom so that it reads back; a file called open-2.py is no difference."""
    text = str(atom)
    name = _NAME.match(text)
    rest = text[name.end() :].lstrip() if name and is_name(name[0]) else text
    misread = isinstance(atom, UserFunction) and (rest[:1] == "-" or text[:1].isspace())
    return f"./{text}" if misread else text


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
            self.skip()
        return match

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take_sign(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            self.skip()
            return True
        return False

    def error(self, what: str) -> KnightfallError:
        return KnightfallError(f"heuristic {self.text!r}: {what}; accepted is {FORMS}")


def parse_heuristic(text: str) -> Expression:
    """Read an id; every declared name in it must exist (files are looked at later)."""
    reader = _Reader(text)
    reader.skip()
    terms: list[tuple[Fraction, Atom]] = []
    sign = -1 if reader.take_sign("-") else 1
    while True:
        terms += _term(reader, sign)
        if reader.at == len(text):
            return Expression(tuple(terms))
        if reader.take_sign("+"):
            sign = 1
        elif reader.take_sign("-"):
            sign = -1
        else:
            raise reader.error(f"cannot read {text[reader.at :]!r}")


def _term(reader: _Reader, sign: int) -> list[tuple[Fraction, Atom]]:
    """Read one term; a printed name may stand for a sum of several."""
    weight = Fraction(sign)
    start = reader.at
    number = reader.take(_NUMBER)
    if number:
        if reader.take_sign("*"):
            weight *= _fraction(reader, number[0])
        else:
            reader.at = start  # a file may begin with a digit
    return [(weight * factor, atom) for factor, atom in _atoms(reader)]


def _atoms(reader: _Reader) -> Sequence[tuple[Fraction, Atom]]:
    start = reader.at
    name = reader.take(_NAME)
    id = canonical(name[0]) if name and name[0] not in REGISTRY else None
    if name and id and reader.text[reader.at : reader.at + 1] in ("", "+", "-", "("):
        if reader.take_sign("("):
            raise reader.error(f"{name[0]} takes no parameter")
        return parse_heuristic(id).terms
    reader.at = start
    return [(Fraction(1), _atom(reader))]


def _atom(reader: _Reader) -> Atom:
    start = reader.at
    if reader.text.startswith(_STUDENTS, start):
        return _students(reader)
    name = reader.take(_NAME)
    after = reader.text[reader.at : reader.at + 1]
    # A minus sign may be part of a file's name; after a declared id it is a minus.
    if name is None or name[0] not in REGISTRY or after not in ("", "+", "-", "("):
        end = reader.at
        reader.at = start
        file = reader.take(_FILE)
        if file:
            return UserFunction(file[1], file[2], file[3] or "")
        reader.at = end
        if name is None:
            rest = reader.text[start:]
            raise reader.error(f"cannot read {rest!r}" if rest else "a term is missing")
    declared = REGISTRY.get(name[0])
    if declared is None:
        if ".py" in reader.text[start:]:
            raise reader.error(
                f"{reader.text[start:]!r} lacks the function: write file.py:function"
            )
        raise _unknown(name[0])
    if not reader.take_sign("("):
        if declared.parameter:
            raise reader.error(
                f"{name[0]} needs its parameter, as in {name[0]}({declared.published[0]})"
            )
        return Id(name[0])
    if not declared.parameter:
        raise reader.error(f"{name[0]} takes no parameter")
    number = reader.take(_NUMBER)
    value = _fraction(reader, number[0]) if number else None
    if value is None or not reader.take_sign(")") or not 0 < value < 1:
        raise reader.error(
            f"the parameter of {name[0]} must be a number between 0 and 1, "
            f"as in {name[0]}({declared.published[0]})"
        )
    return Id(name[0], value)


def _unknown(name: str) -> KnightfallError:
    several = meanings(name)
    if several:
        return KnightfallError(
            f"heuristic {name!r} is a name in several studies: write {', '.join(several)}"
        )
    return KnightfallError(
        f"unknown heuristic {name!r}{nearest(name, [*REGISTRY, *all_printed()])} "
        "(knightfall heuristics lists them all; your own is file.py:function)"
    )


def _students(reader: _Reader) -> StudentScore:
    score = reader.take(_SCORE)
    if score is None:
        raise reader.error(
            f"{reader.text[reader.at :]!r} names no student's score: write {FORM}, with a path "
            "without , ( ) * + and #"
        )
    return StudentScore(score[1], score[2])


def _fraction(reader: _Reader, text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    if denominator and int(denominator) == 0:
        raise reader.error(f"{text} divides by zero")
    return Fraction(numerator) / Fraction(denominator or 1)
