"""A sum of heuristics whose weights are looked for, and the thresholds of its stages.

A search does not mind by what positive number all its values are multiplied.  So the first term
keeps its weight, and the others are free: there are as many things to find as weights that matter.
A free weight is measured in sizes: at 1, its term varies as much from position to position as the
first one does.  The factor before ``stage(…)`` stays as it is, for the weights inside are free.  A
threshold changes by a fifth of the board for each size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import numpy as np

from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import Expression, Phased, Stages, Term, parse_heuristic
from knightfall.position import Position
from knightfall.search.budget import LEAF_STEP_LIMIT

DIGITS = 4
"""Of a weight that was found: more would not be told apart by any number of games."""
SMALLEST, LARGEST = 1e-9, 999_900_000.0
"""Beyond these an expression could not be read back; what is smaller is 0."""


THRESHOLD_UNIT = 0.2
"""The phase that a threshold moves by when it is changed by a size of 1."""
FINEST = Fraction(1, 1000)
"""To what a threshold is rounded, and by how much it stays away from the next."""


@dataclass(frozen=True)
class Number:
    """A number of an expression that may be tuned: a term's weight, or a stage's threshold."""

    name: str
    value: Fraction
    term: Term | None
    """None for a threshold."""


def numbers(expression: Expression) -> list[Number]:
    """Return the weights and thresholds of an expression as they read; the first stays as it is."""
    return list(_numbers(expression, ""))


def _numbers(expression: Expression, where: str) -> Iterator[Number]:
    for weight, term in expression.terms:
        stages = term.inner if isinstance(term, Phased) else term
        if not isinstance(stages, Stages):
            yield Number(f"{term}{where}", weight, term)
            continue
        for place, part in enumerate(stages.parts):
            if place:
                yield Number(f"start of stage {place + 1}", stages.stages[place - 1][0], None)
            yield from _numbers(part, f" (stage {place + 1})")


def with_numbers(expression: Expression, values: Iterator[Fraction]) -> Expression:
    """Return an expression with other numbers, given in the order of `numbers`."""
    terms: list[tuple[Fraction, Term]] = []
    for weight, term in expression.terms:
        stages = term.inner if isinstance(term, Phased) else term
        if not isinstance(stages, Stages):
            terms.append((next(values), term))
            continue
        parts = [with_numbers(stages.parts[0], values)]
        thresholds: list[Fraction] = []
        for part in stages.parts[1:]:
            thresholds.append(next(values))
            parts.append(with_numbers(part, values))
        found = Stages(tuple(zip(_falling(thresholds), parts, strict=False)), parts[-1])
        if isinstance(term, Phased):
            terms.append((weight, Phased(found, term.open, term.filled)))
        else:
            terms.append((weight, found))
    return Expression(tuple(terms))


def _falling(thresholds: Sequence[Fraction]) -> list[Fraction]:
    """Round thresholds, and move them as little as it takes to fall from below 1 to above 0."""
    found: list[Fraction] = []
    for place, value in enumerate(thresholds):
        most = (found[-1] if found else Fraction(1)) - FINEST
        least = FINEST * (len(thresholds) - place)
        found.append(max(least, min(most, round(value / FINEST) * FINEST)))
    return found


@dataclass(frozen=True)
class Sum:
    """An expression, and for each of its free numbers what is of size 1.

    `still` are the terms of which it is not known how much they vary.
    """

    given: Expression
    units: tuple[float, ...]
    still: tuple[str, ...] = ()

    def sizes_of(self, expression: Expression) -> tuple[float, ...]:
        """Return the free numbers of an expression of the same form, in sizes."""
        free = numbers(expression)[1:]
        return tuple(float(one.value) / unit for one, unit in zip(free, self.units, strict=True))

    @property
    def sizes(self) -> tuple[float, ...]:
        """The free numbers as given, in sizes."""
        return self.sizes_of(self.given)

    def at(self, sizes: Sequence[float]) -> Expression:
        """The sum with other free numbers, rounded to what is written down."""
        first, *_ = numbers(self.given)
        free = (rounded(size * unit) for size, unit in zip(sizes, self.units, strict=True))
        return with_numbers(self.given, chain([first.value], free))


def read_sum(text: str) -> Expression:
    """The sum of an id, with full paths, if it has weights that can be tuned."""
    found = parse_heuristic(text).absolute()
    first, *free = numbers(found)
    if not free:
        raise KnightfallError(
            f"heuristic {text!r}: there is nothing to tune: it has one term, and a search does not "
            "mind the scale of all values; write a sum, as in improved+0.5*bfs_reach"
        )
    names = [one.name for one in (first, *free) if one.term is not None]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise KnightfallError(f"heuristic {text!r}: {name} stands there twice: add them up")
    if first.value == 0:
        raise KnightfallError(
            f"heuristic {text!r}: the first term sets the scale, and its weight is 0: begin with "
            "another"
        )
    return found


def measured(given: Expression, positions: Sequence[Position]) -> Sum:
    """The sum with its units, by how much its terms vary in some positions."""
    first, *free = numbers(given)
    assert first.term is not None
    scale, weight = _spread(first.term, positions), abs(float(first.value))
    units, still = [], [] if scale else [first.name]
    for one in free:
        if one.term is None:
            units.append(THRESHOLD_UNIT)
            continue
        spread = _spread(one.term, positions)
        units.append(weight * scale / spread if scale and spread else weight)
        still += [] if spread else [one.name]
    return Sum(given, tuple(units), tuple(still))


def _spread(term: Term, positions: Sequence[Position]) -> float:
    """The standard deviation of a heuristic's values; 0 of one that only runs as plain Python.

    Such a one may do anything, and is asked in a process of its own.
    """
    one = evaluator(Expression(((Fraction(1), term),)))
    if not one.compiled:
        return 0.0
    values = [one.measure(position, step_limit=LEAF_STEP_LIMIT)[0] for position in positions]
    finite = [value for value in values if math.isfinite(value)]
    spread = float(np.std(finite)) if finite else 0.0
    return spread if spread > SMALLEST else 0.0


def rounded(weight: float) -> Fraction:
    """A weight with few digits."""
    if abs(weight) < SMALLEST:
        return Fraction(0)
    return Fraction(f"{max(-LARGEST, min(weight, LARGEST)):.{DIGITS - 1}e}")


def decimal(weight: Fraction) -> str:
    """A weight as people write it, if it has an end; else as a fraction."""
    places = 0
    while places < 9 and (weight * 10**places).denominator != 1:
        places += 1
    if (weight * 10**places).denominator != 1:
        return str(weight)
    return format(Decimal(int(weight * 10**places)).scaleb(-places), "f")


def written(expression: Expression) -> str:
    """An expression as people write it; it reads back as the same."""
    return expression.text(decimal, gap=" ")
