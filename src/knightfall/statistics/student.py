"""Student's distribution.

SciPy has it, too, but takes longer to import than a whole report to compute.
"""

from __future__ import annotations

import math
from functools import lru_cache

LIKELY = 0.05
"""What lies outside of a 95 % interval."""


def two_sided(t: float, freedom: int) -> float:
    """The chance of a value as far from 0 as t, on either side, at so many degrees of freedom."""
    whole = freedom + t * t
    return _beta_share(freedom / 2, 0.5, freedom / whole, t * t / whole)


@lru_cache(maxsize=1024)
def reach_95(freedom: int) -> float:
    """How far from 0 the 95 % interval reaches."""
    low, high = 1.0, 13.0  # with one degree of freedom it is 12.7
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if two_sided(middle, freedom) > LIKELY else (low, middle)
    return middle


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The regularized incomplete beta function, by its continued fraction; rest is 1 − x."""
    if x == 0 or rest == 0:
        return float(rest == 0)
    if x > (a + 1) / (a + b + 2):  # from the other end it converges faster
        return 1 - _beta_share(b, a, rest, x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    logarithm += a * math.log(x) + b * math.log(rest)
    # Lentz's method: the quotients of successive numerators and of successive denominators.
    up, down = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = down
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            up, down = 1 + term / up, 1 / (1 + term * down)
            fraction *= up * down
        if abs(up * down - 1) < 1e-15:
            break
    return math.exp(logarithm) * fraction / a
