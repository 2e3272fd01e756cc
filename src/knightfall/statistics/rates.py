"""Shares of independent cases, and Wilson's interval for them."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959964
"""Standard errors to either side of a 95 % interval."""


def wilson(rate: float, of: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a rate in `of` independent cases; 0 to 1 if there are none.

    `of` need not be whole: it may be an effective number of cases.
    """
    if not of:
        return 0.0, 1.0
    whole = 1 + Z * Z / of
    middle = (rate + Z * Z / (2 * of)) / whole
    reach = Z * math.sqrt(rate * (1 - rate) / of + (Z / (2 * of)) ** 2) / whole
    # Rounding must not push the ends past their exact values.
    low = 0.0 if rate == 0 else max(0.0, min(rate, middle - reach))
    high = 1.0 if rate == 1 else min(1.0, max(rate, middle + reach))
    return low, high


@dataclass(frozen=True, slots=True)
class Share:
    """`count` out of `of` independent cases."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share itself; None if there are no cases."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; 0 to 1 if there are no cases."""
        return wilson(self.rate or 0.0, self.of)
