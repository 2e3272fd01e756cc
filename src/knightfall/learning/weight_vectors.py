"""The free numbers of a sum of heuristics: weights of its terms and thresholds of its stages.

A positive factor on all values does not change a search. So the first term keeps its weight, and
the other weights are free. A free weight is measured in units of size: at size 1, its term varies
as much between positions as the first term. The factor before ``stage(…)`` is fixed, because the
weights inside are free. A threshold changes by a fifth of the board per unit of size.
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
"""Significant digits of a tuned weight: no number of games could distinguish more."""
SMALLEST, LARGEST = 1e-9, 999_900_000.0
"""Range of absolute weights that an expression can express; smaller ones become 0."""


THRESHOLD_UNIT = 0.2
"""The change of the phase when a threshold changes by a size of 1."""
FINEST = Fraction(1, 1000)
"""The precision of a threshold, and the least distance between two."""


@dataclass(frozen=True)
class Number:
    """A number of an expression that may be tuned: a term's weight, or a stage's threshold."""

    name: str
    value: Fraction
    term: Term | None
    """None for a threshold."""


def numbers(expression: Expression) -> list[Number]:
    """Return an expression's weights and thresholds, left to right; the first is never tuned."""
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
    """Return the expression with other weights and thresholds, in the order of `numbers`."""
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
    """Round thresholds, and move them as little as necessary so that 1 > first > … > last > 0."""
    found: list[Fraction] = []
    for place, value in enumerate(thresholds):
        most = (found[-1] if found else Fraction(1)) - FINEST
        least = FINEST * (len(thresholds) - place)
        found.append(max(least, min(most, round(value / FINEST) * FINEST)))
    return found


@dataclass(frozen=True)
class Sum:
    """A sum to tune, with a unit for each free number (weight or threshold).

    The optimiser works on sizes: a free number is its size times its unit.

    `still` names the terms whose spread could not be measured.
    """

    given: Expression
    units: tuple[float, ...]
    still: tuple[str, ...] = ()

    def sizes_of(self, expression: Expression) -> tuple[float, ...]:
        """Return the free numbers of an expression of the same form, divided by their units."""
        free = numbers(expression)[1:]
        return tuple(float(one.value) / unit for one, unit in zip(free, self.units, strict=True))

    @property
    def sizes(self) -> tuple[float, ...]:
        """Return the free numbers of the given sum, divided by their units."""
        return self.sizes_of(self.given)

    def at(self, sizes: Sequence[float]) -> Expression:
        """Return the sum with other free numbers: each size times its unit, rounded."""
        first, *_ = numbers(self.given)
        free = (rounded(size * unit) for size, unit in zip(sizes, self.units, strict=True))
        return with_numbers(self.given, chain([first.value], free))


def read_sum(text: str) -> Expression:
    """Parse a sum to tune. Raise a KnightfallError if it has no free weights."""
    found = parse_heuristic(text).absolute()
    first, *free = numbers(found)
    if not free:
        raise KnightfallError(
            f"heuristic {text!r} has one term, so there is nothing to tune: only ratios of weights "
            "matter to a search; write a sum, as in improved+0.5*bfs_reach"
        )
    names = [one.name for one in (first, *free) if one.term is not None]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise KnightfallError(
                f"heuristic {text!r}: the term {name} occurs twice: add the weights up"
            )
    if first.value == 0:
        raise KnightfallError(
            f"heuristic {text!r}: the first term has weight 0, but its weight sets the scale: put "
            "another term first"
        )
    return found


def measured(given: Expression, positions: Sequence[Position]) -> Sum:
    """Return the sum with units such that a weight of one unit counts as much as the first term."""
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
    """Return the standard deviation of a heuristic's values; 0 if it is not compiled.

    Uncompiled heuristics run in a separate process and are not measured here.
    """
    one = evaluator(Expression(((Fraction(1), term),)))
    if not one.compiled:
        return 0.0
    values = [one.measure(position, step_limit=LEAF_STEP_LIMIT)[0] for position in positions]
    finite = [value for value in values if math.isfinite(value)]
    spread = float(np.std(finite)) if finite else 0.0
    return spread if spread > SMALLEST else 0.0


def rounded(weight: float) -> Fraction:
    """Round a weight to `DIGITS` significant digits."""
    if abs(weight) < SMALLEST:
        return Fraction(0)
    return Fraction(f"{max(-LARGEST, min(weight, LARGEST)):.{DIGITS - 1}e}")


def decimal(weight: Fraction) -> str:
    """Write a weight as a decimal if it has at most nine places, else as a fraction."""
    places = 0
    while places < 9 and (weight * 10**places).denominator != 1:
        places += 1
    if (weight * 10**places).denominator != 1:
        return str(weight)
    return format(Decimal(int(weight * 10**places)).scaleb(-places), "f")


def written(expression: Expression) -> str:
    """Write an expression with decimal weights; parsing it gives the same expression."""
    return expression.text(decimal, gap=" ")
