"""Formatting of numbers for people: shares, intervals, errors, durations."""

from __future__ import annotations

import math
from collections.abc import Sequence

NOTHING = "–"
"""Shown in place of a number that is missing."""

BOUNDLESS = 2500.0
"""An error in Elo that is shown as ∞, as between agents that never met."""


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share (0 to 1) as a percentage; a dash for None."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %"


def interval(low: float, high: float, unit: str = "") -> str:
    """Return an interval of shares in per cent; a dash for 0 to 1, which means no data."""
    if low <= 0 and high >= 1:
        return NOTHING
    return f"{100 * low:.1f}–{100 * high:.1f}{unit}"


def signed(value: float, digits: int = 0) -> str:
    """Return a number with its sign, with a true minus sign; ∞ for infinity, no sign for zero."""
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def plus_minus(value: float, error: float, digits: int = 0) -> str:
    """Return a value with its sign and its error, as in +12 ± 5."""
    bound = "∞" if error >= BOUNDLESS else f"{error:.{digits}f}"
    return f"{signed(value, digits)} ± {bound}"


def mean(value: float | None) -> str:
    """Return a mean with one decimal; a dash for None."""
    return NOTHING if value is None else f"{value:,.1f}"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as in 1 pair or 1,200 pairs."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Return a duration in a suitable unit, from nanoseconds to hours."""
    if seconds < 0.9995e-6:
        return f"{seconds * 1e9:.3g} ns"
    if seconds < 9.995e-6:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02} h" if hours else f"{minutes}:{whole:02} min"


def clock(seconds: float) -> str:
    """Return a duration as whole seconds, or as hours, minutes and seconds, for a running clock."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"


def for_json(value: float) -> float | str:
    """Return a number as JSON allows it: ``inf``, ``-inf`` and ``nan`` become strings."""
    return value if math.isfinite(value) else str(value)


FEW = 3
"""Names that a line lists before it says how many more there are."""


def some(names: Sequence[str]) -> str:
    """Return the first few names in one line, and how many more there are."""
    if len(names) <= FEW + 1:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])} and {len(names) - FEW} more"
