"""What a value read from JSON or TOML must look like, and the error that names where it does not.

::

    PLAYER = {"name": str, "wins": Whole(0, 100), "nick?": str}     # nick may be missing
    check({"players": [PLAYER], "rates": {str: float}}, value)      # a list of, a mapping to

A type is itself (`float` takes whole numbers, too, `int` takes no booleans), a tuple is any of some
shapes, `None` is null and `object` is anything at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from knightfall.errors import KnightfallError

MOST = 2**63 - 1
"""The largest whole number a store can hold."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` to `most`."""

    least: int = 0
    most: int = MOST


@dataclass(frozen=True, slots=True)
class Between:
    """A number, whole or not, from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Text:
    """A text of at most `most` letters."""

    most: int


class Real:
    """A number, infinite ones and NaN included."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some texts."""

    words: Sequence[str]


def check(shape: Any, value: Any, where: str = "") -> None:
    """Refuse a value that does not have that shape, saying where it is wrong."""
    if isinstance(shape, dict):
        _must(isinstance(value, dict), where, "an object", value)
        _check_object(shape, value, where)
    elif isinstance(shape, list):
        _must(isinstance(value, list), where, "a list", value)
        for number, item in enumerate(value):
            check(shape[0], item, f"{where}[{number}]")
    elif isinstance(shape, tuple):
        _must(any(has_shape(one, value) for one in shape), where, _said(shape), value)
    else:
        _must(_is(shape, value), where, _said(shape), value)


def has_shape(shape: Any, value: Any) -> bool:
    """Whether a value has that shape."""
    try:
        check(shape, value)
    except KnightfallError:
        return False
    return True


def _check_object(shape: dict[Any, Any], value: dict[Any, Any], where: str) -> None:
    if str in shape:  # names of any kind
        for name, item in value.items():
            check(shape[str], item, f"{where}.{name:.40}".lstrip("."))
        return
    known = {name.rstrip("?"): (item, name.endswith("?")) for name, item in shape.items()}
    for name, (item, optional) in known.items():
        if name in value:
            check(item, value[name], f"{where}.{name}".lstrip("."))
        elif not optional:
            raise KnightfallError(f'"{name}" is missing{f" in {where}" if where else ""}')
    for name in value:
        if name not in known:
            raise KnightfallError(f"nobody knows what {f'{where}.{name:.40}'.lstrip('.')!r} is")


def _is(shape: Any, value: Any) -> bool:
    if shape is object:
        return True
    if shape is None:
        return value is None
    if isinstance(shape, Whole):
        return type(value) is int and shape.least <= value <= shape.most
    if isinstance(shape, Between):
        number = type(value) in (int, float, Decimal)
        return number and math.isfinite(value) and shape.low <= value <= shape.high
    if isinstance(shape, Text):
        return isinstance(value, str) and len(value) <= shape.most
    if isinstance(shape, OneOf):
        return isinstance(value, str) and value in shape.words
    if shape is Real:
        return type(value) is float or (type(value) is int and abs(value) <= MOST)
    if shape is float:
        if type(value) is int:
            return abs(value) <= MOST
        return type(value) is float and math.isfinite(value)
    if shape is int:
        return type(value) is int and abs(value) <= MOST
    return isinstance(value, shape)


def _said(shape: Any) -> str:
    if isinstance(shape, tuple):
        return " or ".join(_said(one) for one in shape)
    if isinstance(shape, Whole):
        return f"a whole number from {shape.least} to {shape.most}"
    if isinstance(shape, Between):
        return f"a number from {shape.low:g} to {shape.high:g}"
    if isinstance(shape, Text):
        return f"a text of at most {shape.most:,} letters"
    if isinstance(shape, OneOf):
        return f"one of {', '.join(shape.words)}"
    if isinstance(shape, dict):
        return "an object"
    if isinstance(shape, list):
        return "a list"
    return _NAMES.get(shape, getattr(shape, "__name__", str(shape)))


_NAMES: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", Real: "a number",
    bool: "true or false", None: "null",
}  # fmt: skip


def _must(right: bool, where: str, wanted: str, value: Any) -> None:
    if not right:
        what = f'"{where}"' if where else "it"
        raise KnightfallError(f"{what} must be {wanted}, not {shown(value)}")


def shown(value: Any, most: int = 40) -> str:
    """A value as an error names it: not longer than that, whatever it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if type(value) is int and value.bit_length() > 4 * most:
        return "a number that long"  # Python itself refuses to write down the longest
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
