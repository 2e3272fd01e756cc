"""Reading untrusted data: bounded file reads, strict JSON and TOML, and schemas (*shapes*).

No function here hangs, exhausts the memory or raises anything but `KnightfallError`, for any path
and any content.  A shape is a schema: it describes what a value must look like::

    PLAYER = {"name": str, "wins": Whole(0, 100), "nick?": str}     # nick may be missing
    check({"players": [PLAYER], "rates": {str: float}}, value)      # a list of, a mapping to

A type stands for its values (`float` accepts whole numbers, `int` does not accept booleans), a
tuple for any of several shapes, `None` for null and `object` for any value.  An object may only
have the names in its shape, unless the shape has the key ``...``, whose value is the shape of all
others.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from io import BufferedReader
from pathlib import Path
from typing import Any

from knightfall.errors import KnightfallError

MOST_BYTES = 2**25
"""32 MB: more than any file that knightfall reads as a whole."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device"),
)


# -- bytes -------------------------------------------------------------------------------------


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a regular file for reading.  Raise KnightfallError for a folder, a device or a pipe."""
    shown = repr(os.fspath(path))
    try:
        # O_NONBLOCK: opening a pipe would otherwise wait for its other end.
        handle = os.open(_expanded(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(_ordinary(handle, shown), "rb") as file:
            yield file
    except KnightfallError:
        raise
    except OSError as error:
        raise KnightfallError(f"cannot read {shown}: {error.strerror or error}") from None
    except ValueError as error:  # a zero byte in its name
        raise KnightfallError(f"cannot read {shown}: {error}") from None


def _ordinary(handle: int, shown: str) -> int:
    """Return the handle if it is that of a regular file; otherwise close it and raise an error."""
    mode = os.fstat(handle).st_mode
    for is_one, what in _KINDS:
        if is_one(mode):
            os.close(handle)
            raise KnightfallError(f"cannot read {shown}: it is {what}, not a file")
    return handle


def _expanded(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # ~name of an unknown user
        raise KnightfallError(f"cannot read {os.fspath(path)!r}: {error}") from None


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the content of a file.  Raise KnightfallError if it has more than `most` bytes."""
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise KnightfallError(
            f"cannot read {os.fspath(path)!r}: it has more than {most:,} bytes, the limit"
        )
    return data


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """Return the content of a text file in UTF-8."""
    return decoded(read_bytes(path, most), path)


def decoded(data: bytes, path: str | os.PathLike[str]) -> str:
    """Decode the content of a file as UTF-8; the path is for the error message."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise KnightfallError(f"{os.fspath(path)!r} is not a text file in UTF-8") from None


# -- JSON and TOML -----------------------------------------------------------------------------


def parse_json(text: str, *, from_python: bool = False) -> Any:
    """Return the value of a JSON text.

    Raise a KnightfallError if an object has a name twice, a number is NaN or infinite, or a string
    has a lone surrogate.  With `from_python` the latter two are accepted: Python's `json` writes
    them.
    """
    no_number = float if from_python else _no_number
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=no_number)
    except KnightfallError as error:
        raise KnightfallError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise KnightfallError("this is not JSON: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise KnightfallError(f"this is not JSON: {_brief(error)}") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise KnightfallError("this is not JSON: a number has too many digits") from None
    if not from_python and _SURROGATE.search(text):
        _refuse_surrogates(value)
    return value


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise KnightfallError(f"{twice[:40]!r} is in the object twice")
    return found


def _no_number(text: str) -> float:
    raise KnightfallError(f"{text} is not a number")


def _refuse_surrogates(value: Any) -> None:
    """Raise an error if a string has a lone surrogate: it can be neither stored nor printed."""
    for text in texts_in(value):
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise KnightfallError(f"this is not JSON: {text[:40]!r} has a lone surrogate")


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string in a value of JSON or TOML, the keys of objects included."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            left += one


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the tables of a TOML text."""
    import tomllib

    try:
        return tomllib.loads(text, parse_float=parse_float)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise KnightfallError(f"this is not TOML: {_brief(error)}") from None


def _brief(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 100 else f"{text[:99]}…"


# -- shapes ------------------------------------------------------------------------------------


MOST = 2**63 - 1
"""The largest whole number that SQLite can store."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Schema that accepts whole numbers from `least` to `most`."""

    least: int = 0
    most: int = MOST


@dataclass(frozen=True, slots=True)
class Between:
    """Schema that accepts numbers, whole or not, from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OneOf:
    """Schema that accepts any of several strings."""

    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Text:
    """Schema that accepts strings of `least` to `most` characters that match `pattern`.

    Error messages show `example`, a string that matches; without one they show the pattern.
    """

    most: int
    least: int = 0
    pattern: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """Schema that accepts lists of `least` to `most` items, each of which matches `of`."""

    of: Any
    least: int = 0
    most: int = MOST


class Real:
    """Schema that accepts any number, infinity and NaN included."""


def check_format(value: Any, format: str, otherwise: str = "") -> dict[str, Any]:
    """Return the value if it is an object whose ``"format"`` is the given one.

    Raise KnightfallError otherwise, with `otherwise` (what to do) at the end of its message.
    """
    check({...: object}, value)
    found: dict[str, Any] = value
    if found.get("format") != format:
        actual = shown(found.get("format"))
        raise KnightfallError(f"the format is {actual}, not {format!r}{otherwise}")
    return found


def check(shape: Any, value: Any, where: str = "") -> None:
    """Raise KnightfallError if a value does not match a schema; the message says where."""
    if isinstance(shape, dict):
        _require(isinstance(value, dict), where, "an object", value)
        _check_object(shape, value, where)
    elif isinstance(shape, list | Items):
        items = shape if isinstance(shape, Items) else Items(shape[0])
        _require(isinstance(value, list), where, _described(shape), value)
        if not items.least <= len(value) <= items.most:
            raise KnightfallError(f"{_named(where)} must be {_described(items)}, not {len(value)}")
        for number, item in enumerate(value):
            check(items.of, item, f"{where}[{number}]")
    elif isinstance(shape, tuple):
        _require(any(has_shape(one, value) for one in shape), where, _described(shape), value)
    else:
        _require(_has_simple_shape(shape, value), where, _described(shape), value)


def has_shape(shape: Any, value: Any) -> bool:
    """Return whether a value matches a schema."""
    try:
        check(shape, value)
    except KnightfallError:
        return False
    return True


def _check_object(shape: dict[Any, Any], value: dict[Any, Any], where: str) -> None:
    if str in shape:  # any names
        for name, item in value.items():
            check(shape[str], item, f"{where}.{name:.40}".lstrip("."))
        return
    known = {
        name.rstrip("?"): (item, name.endswith("?"))
        for name, item in shape.items()
        if name is not ...
    }
    for name, (item, optional) in known.items():
        if name in value:
            check(item, value[name], f"{where}.{name}".lstrip("."))
        elif not optional:
            raise KnightfallError(f'"{name}" is missing{f" in {where}" if where else ""}')
    for name in value:
        if name not in known and ... in shape:
            check(shape[...], value[name], f"{where}.{name:.40}".lstrip("."))
        elif name not in known:
            unknown = f"{where}.{name:.40}".lstrip(".")
            raise KnightfallError(f"unknown name {unknown!r}; known: {', '.join(known) or 'none'}")


def _has_simple_shape(shape: Any, value: Any) -> bool:
    if shape is object:
        return True
    if shape is None:
        return value is None
    if isinstance(shape, Whole):
        return type(value) is int and shape.least <= value <= shape.most
    if isinstance(shape, Between):
        number = type(value) in (int, float, Decimal)
        finite = number and (type(value) is int or math.isfinite(value))  # any int, however long
        return finite and shape.low <= value <= shape.high
    if isinstance(shape, OneOf):
        return isinstance(value, str) and value in shape.words
    if isinstance(shape, Text):
        fits = isinstance(value, str) and shape.least <= len(value) <= shape.most
        return fits and (not shape.pattern or bool(re.fullmatch(shape.pattern, value, re.ASCII)))
    if shape is Real:
        return type(value) is float or (type(value) is int and abs(value) <= MOST)
    if shape is float:
        if type(value) is int:
            return abs(value) <= MOST
        return type(value) is float and math.isfinite(value)
    if shape is int:
        return type(value) is int and abs(value) <= MOST
    return isinstance(value, shape)


def _described(shape: Any) -> str:
    if isinstance(shape, tuple):
        return " or ".join(_described(one) for one in shape)
    if isinstance(shape, Whole):
        return f"a whole number from {shape.least} to {shape.most}"
    if isinstance(shape, Between):
        return f"a number from {shape.low:g} to {shape.high:g}"
    if isinstance(shape, OneOf):
        return f"one of {', '.join(shape.words)}"
    if isinstance(shape, Text):
        if shape.pattern:
            return f"a text as in {shape.example or shape.pattern}"
        least = f"{shape.least} to " if shape.least else "at most "
        return f"a text of {least}{shape.most} characters"
    if isinstance(shape, Items):
        return f"a list of {_count(shape.least, shape.most)} items"
    if isinstance(shape, dict):
        return "an object"
    if isinstance(shape, list):
        return "a list"
    return _NAMES.get(shape, getattr(shape, "__name__", str(shape)))


def _count(least: int, most: int) -> str:
    if least == most:
        return f"{most}"
    return f"{least} or more" if most == MOST else f"{least} to {most}"


_NAMES: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null",
    Real: "a number",
}  # fmt: skip


def _named(where: str) -> str:
    return f'"{where}"' if where else "it"


def _require(holds: bool, where: str, wanted: str, value: Any) -> None:
    if not holds:
        raise KnightfallError(f"{_named(where)} must be {wanted}, not {shown(value)}")


def shown(value: Any, most: int = 40) -> str:
    """Return a value as it appears in an error message, in at most `most` characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if type(value) is int and value.bit_length() > 4 * most:
        return "a number too long to show"  # Python refuses to convert the longest to text
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
