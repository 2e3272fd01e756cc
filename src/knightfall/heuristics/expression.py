"""The grammar of heuristic ids, their parser, and their printed form.

::

    expression  =  ["-"] term  { ("+" | "-") term }
    term        =  [ number "*" ] { factor "*" } ( atom | stages )
    factor      =  "phase"  |  "(1-phase)"
    stages      =  "stage(" number ":" expression { "," number ":" expression } "," expression ")"
    atom        =  id  |  id "(" number ")"  |  file.py ":" function [ "@" revision ]
                   |  function "~" digits  |  "course:" path "#" score
    id          =  name  |  "coded:" name  |  [ study ":" ] name as that study printed it
    number      =  2  |  0.5  |  1/3

A name as a study printed it is replaced by the id it stands for.

The phase is the share of the board's cells that are open: near 1 at the start, near 0 at the end.
``stage(0.7: A, 0.2: B, C)`` is A while the phase is at least 0.7, then B while it is at least 0.2,
then C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec

from knightfall.errors import KnightfallError, nearest
from knightfall.extensions import added, load_added
from knightfall.heuristics.registry import REGISTRY, USER, all_printed_names, canonical, meanings
from knightfall.user_files import (
    LOCAL,
    REVISION,
    LocalFunction,
    PackageFunction,
    UserFunction,
    local_function,
)

# A decimal prints as a fraction, whose parts may be twice as long.
_NUMBER = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}|[0-9]{1,18}(?:/[0-9]{1,18})?", re.ASCII)
# Any prefix is accepted here, so that errors show a misspelt one; only declared ids have one.
_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*:)?[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FILE = re.compile(r"((?!-)[^,()*+\x00-\x1f]+?\.py):([A-Za-z_][A-Za-z0-9_]*)" + REVISION, re.ASCII)
_SCHEME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*:", re.ASCII)
_SPACE = re.compile(r"\s*")
_PHASE = re.compile(r"phase\s*\*")
_FILLED = re.compile(r"\(\s*1\s*-\s*phase\s*\)\s*\*")
_STAGE = re.compile(r"stage\s*\(")

FORMS = (
    "an id, sums and multiples such as 2*open-improved, phase*near_edges+(1-phase)*near_center, "
    "stage(0.7: improved, 0.2: open_space, open), file.py:function, or course:PATH#custom_score"
)


@dataclass(frozen=True, slots=True)
class Id:
    """A declared heuristic, or a member of a declared family."""

    name: str
    parameter: Fraction | None = None

    def __str__(self) -> str:
        return self.name if self.parameter is None else f"{self.name}({self.parameter})"

    def absolute(self) -> Atom:
        """Return the id itself; of a heuristic that this process declared, its present function."""
        declared = REGISTRY[self.name]
        return local_function(declared.score) if declared.study == USER else self


Atom = Id | UserFunction
"""One heuristic: a declared one, or a user's function."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Expressions that replace each other as the board fills.

    Each stage applies while the phase is at least its threshold, then the next, at the end `last`.
    Thresholds decrease.
    """

    stages: tuple[tuple[Fraction, Expression], ...]
    last: Expression

    def __str__(self) -> str:
        return self.text()

    def text(self, number: Callable[[Fraction], str] = str, gap: str = "") -> str:
        """Return text that parses to the same value, in which `number` formats the numbers."""
        stages = [f"{number(least)}: {part.text(number, gap)}" for least, part in self.stages]
        return f"stage({', '.join([*stages, self.last.text(number, gap)])})"

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions of all stages, in order."""
        return (*(part for _, part in self.stages), self.last)

    def at(self, phase: Fraction) -> Expression:
        """Return the expression that applies at a phase."""
        return next((part for least, part in self.stages if phase >= least), self.last)


@dataclass(frozen=True, slots=True)
class Phased:
    """A heuristic, or stages, multiplied by phase^`open` · (1 − phase)^`filled`."""

    inner: Atom | Stages
    open: int
    filled: int

    def __str__(self) -> str:
        return _spelt(self)

    @property
    def factors(self) -> str:
        """The factors as they are written in front of the heuristic."""
        return "phase*" * self.open + "(1-phase)*" * self.filled


Term = Atom | Phased | Stages
"""A summand without its weight."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A weighted sum of heuristics."""

    terms: tuple[tuple[Fraction, Term], ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, number: Callable[[Fraction], str] = str, gap: str = "") -> str:
        """Return text that parses to the same value, with a `gap` around each sign.

        Numbers are written by `number`.
        """
        text, revision = "", ""
        for weight, term in self.terms:
            sign = "-" if weight < 0 else "+" if text else ""
            # Without a space the minus would be read as part of the revision.
            text += gap or " " if text and sign == "-" and revision else gap if text else ""
            inner = term.inner if isinstance(term, Phased) else term
            revision = inner.revision if isinstance(inner, UserFunction) else ""
            factor = "" if abs(weight) == 1 else f"{number(abs(weight))}*"
            text += f"{sign}{gap if text else ''}{factor}{_spelt(term, number, gap)}"
        return text

    def atoms(self) -> Iterator[Atom]:
        """Yield every heuristic of the expression in order, those inside stages included."""
        for _, term in self.terms:
            inner = term.inner if isinstance(term, Phased) else term
            if isinstance(inner, Stages):
                for part in inner.parts:
                    yield from part.atoms()
            else:
                yield inner

    def with_atoms(self, change: Callable[[Atom], Atom]) -> Expression:
        """Return the expression with every heuristic replaced by `change(heuristic)`."""

        def within(inner: Atom | Stages) -> Atom | Stages:
            if not isinstance(inner, Stages):
                return change(inner)
            stages = ((least, part.with_atoms(change)) for least, part in inner.stages)
            return Stages(tuple(stages), inner.last.with_atoms(change))

        def changed(term: Term) -> Term:
            if isinstance(term, Phased):
                return Phased(within(term.inner), term.open, term.filled)
            return within(term)

        return Expression(tuple((weight, changed(term)) for weight, term in self.terms))

    def at(self, phase: Fraction) -> Iterator[tuple[Fraction, Atom]]:
        """Yield the weights and heuristics whose weighted sum is the value at a phase."""
        for weight, term in self.terms:
            inner: Term = term
            if isinstance(term, Phased):
                weight *= phase**term.open * (1 - phase) ** term.filled
                inner = term.inner
            if isinstance(inner, Stages):
                yield from ((weight * one, atom) for one, atom in inner.at(phase).at(phase))
            elif not isinstance(inner, Phased):
                yield weight, inner

    def absolute(self) -> Expression:
        """Return the expression with absolute paths of its files."""
        return self.with_atoms(lambda atom: atom.absolute())


def is_name(name: str) -> bool:
    """Return whether a name is the id or an alias (used in a study) of a declared heuristic."""
    return name in REGISTRY or canonical(name) is not None


def _spelt(term: Term, number: Callable[[Fraction], str] = str, gap: str = "") -> str:
    """Return a term as text that parses to it; a file ``open-2.py`` becomes ``./open-2.py``."""
    if isinstance(term, Phased):
        return term.factors + _spelt(term.inner, number, gap)
    if isinstance(term, Stages):
        return term.text(number, gap)
    text = str(term)
    name = _NAME.match(text)
    rest = text[name.end() :].lstrip() if name and is_name(name[0]) else text
    threshold = _NUMBER.match(text)  # a stage begins like this
    misread = rest[:1] == "-" or text[:1].isspace()
    misread |= threshold is not None and text[threshold.end() :].lstrip()[:1] == ":"
    return f"./{text}" if misread and isinstance(term, UserFunction) else text


MOST_TERMS = 200
"""How many terms a heuristic may have in all: each takes a tenth of a second to compile."""


class _Reader:
    """A text, and the index up to which it has been parsed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.in_stage = False
        self.terms = 0

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
    """Parse an id.  Every declared name in it must exist; files are not opened yet."""
    reader = _Reader(text)
    reader.skip()
    return _sum(reader)


def _sum(reader: _Reader) -> Expression:
    """Parse terms up to the end, or up to the comma or parenthesis that ends a stage."""
    terms: list[tuple[Fraction, Term]] = []
    sign = -1 if reader.take_sign("-") else 1
    while True:
        reader.terms += 1
        if reader.terms > MOST_TERMS:
            named = f"{reader.text[:40]}…"
            raise KnightfallError(f"heuristic {named!r}: more than {MOST_TERMS} terms")
        terms += _term(reader, sign)
        rest = reader.text[reader.at :]
        if not rest or (reader.in_stage and rest[0] in ",)"):
            return Expression(tuple(terms))
        if reader.take_sign("+"):
            sign = 1
        elif reader.take_sign("-"):
            sign = -1
        else:
            raise reader.error(f"cannot read {rest!r}")


def _term(reader: _Reader, sign: int) -> list[tuple[Fraction, Term]]:
    """Parse one term; return several if its name is an alias, used in a study, of a sum."""
    weight = Fraction(sign)
    start = reader.at
    number = reader.take(_NUMBER)
    if number:
        if reader.take_sign("*"):
            weight *= _fraction(reader, number[0])
        else:
            reader.at = start  # a file may begin with a digit
    open = filled = 0
    while True:
        if reader.take(_PHASE):
            open += 1
        elif reader.take(_FILLED):
            filled += 1
        else:
            break
    parts: Sequence[tuple[Fraction, Atom | Stages]]
    parts = [(Fraction(1), _stages(reader))] if reader.take(_STAGE) else _atoms(reader)
    return [
        (weight * factor, Phased(inner, open, filled) if open or filled else inner)
        for factor, inner in parts
    ]


def _atoms(reader: _Reader) -> Sequence[tuple[Fraction, Atom]]:
    start = reader.at
    name = reader.take(_NAME)
    # A file's name is followed by something else, and needs no lookup of printed names.
    ends = reader.text[reader.at : reader.at + 1] in ("", "+", "-", "(", ",", ")")
    id = canonical(name[0]) if name and ends and name[0] not in REGISTRY else None
    if name and id:
        if reader.take_sign("("):
            raise reader.error(f"{name[0]} takes no parameter")
        return list(parse_heuristic(id).at(Fraction(1)))
    reader.at = start
    return [(Fraction(1), _atom(reader))]


def _stages(reader: _Reader) -> Stages:
    """Parse the text after ``stage(``."""
    if reader.in_stage:
        raise reader.error("a stage cannot stand inside a stage: give the outer one more stages")
    reader.in_stage = True
    stages: list[tuple[Fraction, Expression]] = []
    while True:
        start = reader.at
        number = reader.take(_NUMBER)
        if not number or not reader.take_sign(":"):
            reader.at = start
            break
        least = _fraction(reader, number[0])
        if not 0 < least < 1:
            raise reader.error(f"a stage's threshold must be between 0 and 1, not {number[0]}")
        if stages and least >= stages[-1][0]:
            raise reader.error(
                f"thresholds of stages must decrease: {number[0]} follows {float(stages[-1][0]):g}"
            )
        stages.append((least, _sum(reader)))
        if not reader.take_sign(","):
            raise reader.error("the last stage, which has no threshold, is missing")
    last = _sum(reader)
    if not stages:
        raise reader.error("the first stage needs a threshold, as in stage(0.5: improved, open)")
    if not reader.take_sign(")"):
        rest = reader.text[reader.at :]
        raise reader.error(
            f"{rest!r} follows the stage without a threshold, which must be the last"
            if rest
            else "the closing parenthesis of stage(…) is missing"
        )
    reader.in_stage = False
    return Stages(tuple(stages), last)


def _atom(reader: _Reader) -> Atom:
    start = reader.at
    if local := reader.take(LOCAL):
        return LocalFunction("", local[1], local[2])
    scheme = _SCHEME.match(reader.text, start)
    if scheme and scheme[0] in added("heuristics"):
        return _of_scheme(reader, scheme[0])
    name = reader.take(_NAME)
    after = reader.text[reader.at : reader.at + 1]
    # A minus sign may be part of a file's name; after a declared id it is a minus.
    if name is None or after not in ("", "+", "-", "(") or name[0] not in REGISTRY:
        end = reader.at
        reader.at = start
        file = reader.take(_FILE)
        if file:
            return UserFunction(file[1], file[2], file[3] or "")
        reader.at = end
        if name is None:
            rest = reader.text[start:]
            if rest.startswith("("):
                raise reader.error(f"{rest!r}: parentheses are accepted only in (1-phase)*")
            raise reader.error(f"cannot read {rest!r}" if rest else "a term is missing")
    declared = REGISTRY.get(name[0])
    if declared is None:
        if name[0] in ("phase", "stage"):
            raise reader.error(f"{name[0]} is not a heuristic")
        if ".py" in reader.text[start:]:
            raise reader.error(f"{reader.text[start:]!r} has no function: write file.py:function")
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
        f"unknown heuristic {name!r}{nearest(name, [*REGISTRY, *all_printed_names()])} "
        "(knightfall heuristics lists them all; your own is file.py:function)"
    )


def _of_scheme(reader: _Reader, scheme: str) -> UserFunction:
    """Parse a function whose scheme, such as ``course:``, comes from an extension."""
    extension, path = added("heuristics")[scheme]
    if ":" not in path:
        reader.at += len(scheme)
        name = reader.take(_NAME)
        spec = find_spec(path)
        if name is None or spec is None or spec.origin is None:
            raise reader.error(
                f"{scheme} must be followed by the name of a heuristic of extension {extension!r}"
            )
        return PackageFunction(spec.origin, name[0], scheme=scheme)
    try:
        function, length = load_added("heuristics", scheme)(reader.text[reader.at :])
    except ValueError as error:
        raise reader.error(str(error)) from None
    reader.at += length
    reader.skip()
    found: UserFunction = function
    return found


def _fraction(reader: _Reader, text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    if denominator and int(denominator) == 0:
        raise reader.error(f"{text} divides by zero")
    return Fraction(numerator) / Fraction(denominator or 1)
