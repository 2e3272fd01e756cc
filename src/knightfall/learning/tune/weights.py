"""A sum of heuristics whose weights are looked for.

A search does not mind by what positive number all its values are multiplied.  So the first term
keeps its weight, and the others are free: there are as many things to find as weights that matter.
A free weight is measured in sizes: at 1, its term varies as much from position to position as the
first one does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import Atom, Expression, parse_heuristic
from knightfall.position import Position
from knightfall.search.budget import LEAF_STEP_LIMIT

DIGITS = 4
"""Of a weight that was found: more would not be told apart by any number of games."""
SMALLEST, LARGEST = 1e-9, 999_900_000.0
"""Beyond these an expression could not be read back; what is smaller is 0."""


@dataclass(frozen=True)
class Sum:
    """An expression, and for each of its free weights the weight that is of size 1.

    `still` are the terms of which it is not known how much they vary.
    """

    given: Expression
    units: tuple[float, ...]
    still: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[float, ...]:
        """The free weights as given, in sizes."""
        free = self.given.terms[1:]
        return tuple(
            float(weight) / unit for (weight, _), unit in zip(free, self.units, strict=True)
        )

    def at(self, sizes: Sequence[float]) -> Expression:
        """The sum with other free weights, rounded to what is written down."""
        terms = [self.given.terms[0]]
        for size, unit, (_, atom) in zip(sizes, self.units, self.given.terms[1:], strict=True):
            terms.append((rounded(size * unit), atom))
        return Expression(tuple(terms))


def read_sum(text: str) -> Expression:
    """The sum of an id, with full paths, if it has weights that can be tuned."""
    found = parse_heuristic(text).absolute()
    if len(found.terms) < 2:
        raise KnightfallError(
            f"heuristic {text!r}: there is nothing to tune: it has one term, and a search does not "
            "mind the scale of all values; write a sum, as in improved+0.5*bfs_reach"
        )
    atoms = [atom for _, atom in found.terms]
    for place, atom in enumerate(atoms):
        if atom in atoms[:place]:
            raise KnightfallError(f"heuristic {text!r}: {atom} stands there twice: add them up")
    if found.terms[0][0] == 0:
        raise KnightfallError(
            f"heuristic {text!r}: the first term sets the scale, and its weight is 0: begin with "
            "another"
        )
    return found


def measured(given: Expression, positions: Sequence[Position]) -> Sum:
    """The sum with its units, by how much its terms vary in some positions."""
    spreads = {str(atom): _spread(atom, positions) for _, atom in given.terms}
    first, *others = spreads.values()
    weight = abs(float(given.terms[0][0]))
    return Sum(
        given,
        tuple(weight * first / one if first and one else weight for one in others),
        tuple(name for name, spread in spreads.items() if not spread),
    )


def _spread(atom: Atom, positions: Sequence[Position]) -> float:
    """The standard deviation of a heuristic's values; 0 of one that only runs as plain Python.

    Such a one may do anything, and is asked in a process of its own.
    """
    one = evaluator(Expression(((Fraction(1), atom),)))
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
    text = ""
    for weight, atom in expression.terms:
        sign = ("- " if weight < 0 else "+ ") if text else ("-" if weight < 0 else "")
        factor = "" if abs(weight) == 1 else f"{decimal(abs(weight))}*"
        text += f"{' ' if text else ''}{sign}{factor}{Expression(((Fraction(1), atom),))}"
    return text
