"""Numbers as people read them: one way to write a share, an interval, an error, a duration."""

from __future__ import annotations

import math

NOTHING = "–"
"""Where there is no number."""

BOUNDLESS = 2500.0
"""An error in Elo from which on there is no knowing: agents that never met, say."""


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %"


def interval(low: float, high: float, digits: int = 1, unit: str = "") -> str:
    """Return an interval of shares in per cent; a dash for 0 to 1, which is that of no cases."""
    if low <= 0 and high >= 1:
        return NOTHING
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}{unit}"


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, as a typesetter writes it; ∞ where there is no end."""
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def plus_minus(value: float, error: float, digits: int = 0) -> str:
    """A value with its error."""
    bound = "∞" if error >= BOUNDLESS else f"{error:.{digits}f}"
    return f"{signed(value, digits)} ± {bound}"


def mean(value: float | None) -> str:
    """A mean with one decimal."""
    return NOTHING if value is None else f"{value:,.1f}"


def count(number: int, one: str, many: str = "") -> str:
    """How many of what, as in 1 pair or 1,200 pairs."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Return seconds in the unit that a person would take, from nanoseconds to hours."""
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
    """Return whole seconds, or hours, minutes and seconds, as a clock that runs shows them."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"


def for_json(value: float) -> float | str:
    """A number as JSON can hold it: ``inf``, ``-inf`` and ``nan`` become strings."""
    return value if math.isfinite(value) else str(value)
