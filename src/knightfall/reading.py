"""Foreign data: files read with a bound, JSON and TOML parsed strictly, values held to a shape.

Nothing here hangs, fills the memory or raises anything but `KnightfallError`, whatever the path
names and whatever is in the file.  A shape says what a value must look like::

    PLAYER = {"name": str, "wins": Whole(0, 100), "nick?": str}     # nick may be missing
    check({"players": [PLAYER], "rates": {str: float}}, value)      # a list of, a mapping to

A type is itself (`float` takes whole numbers, too, `int` takes no booleans), a tuple is any of some
shapes, `None` is null and `object` is anything at all.  An object has no other names than those of
its shape, unless that has ``...``, the shape of all others.
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
from pathlib import Path
from typing import IO, Any

from knightfall.errors import KnightfallError

MOST_BYTES = 2**25
"""32 MB: no file of ours that is read at once comes near it."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device"),
)


# -- bytes -------------------------------------------------------------------------------------


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """An ordinary file, open for reading: not a folder, a device or a pipe nobody writes to."""
    shown = repr(os.fspath(path))
    try:
        # Without waiting, or a pipe would make us wait for its other end.
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
    """The same handle, if it is that of a file; it is closed if not."""
    mode = os.fstat(handle).st_mode
    for is_one, what in _KINDS:
        if is_one(mode):
            os.close(handle)
            raise KnightfallError(f"cannot read {shown}: it is {what}, not a file")
    return handle


def _expanded(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # a user nobody knows
        raise KnightfallError(f"cannot read {os.fspath(path)!r}: {error}") from None


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """All of a file, if that is not more than so many bytes."""
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise KnightfallError(
            f"cannot read {os.fspath(path)!r}: it has more than {most:,} bytes, which none has"
        )
    return data


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """All of a file of text in UTF-8."""
    return decoded(read_bytes(path, most), path)


def decoded(data: bytes, path: str | os.PathLike[str]) -> str:
    """What a file's bytes say in UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise KnightfallError(f"{os.fspath(path)!r} is not a text file") from None


# -- what is written in them -------------------------------------------------------------------


def parse_json(text: str, *, from_python: bool = False) -> Any:
    """Return the value that a text is in JSON.

    Raise a KnightfallError if an object has a name twice, a number is NaN or infinite, or a text
    cannot be written down.  The latter two are accepted `from_python`, whose `json` writes them.
    """
    no_number = float if from_python else _no_number
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=no_number)
    except KnightfallError as error:
        raise KnightfallError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise KnightfallError("this is not JSON: it is nested too deeply") from None
    except ValueError as error:
        raise KnightfallError(f"this is not JSON: {_brief(error)}") from None
    if not from_python and _SURROGATE.search(text):
        _refuse_halves(value)
    return value


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise KnightfallError(f"{twice[:40]!r} is in it twice")
    return found


def _no_number(text: str) -> float:
    raise KnightfallError(f"{text} is not a number")


def _refuse_halves(value: Any) -> None:
    """Half a character (a lone surrogate) can be neither stored nor printed."""
    for text in texts_in(value):
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise KnightfallError(f"this is not JSON: {text[:40]!r} holds half a character")


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value of JSON or TOML, names included."""
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
    """The tables that a text is in TOML."""
    import tomllib

    try:
        return tomllib.loads(text, parse_float=parse_float)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise KnightfallError(f"this is not TOML: {_brief(error)}") from None


def _brief(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 100 else f"{text[:99]}…"


# -- what a value must look like ---------------------------------------------------------------


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
class OneOf:
    """One of some texts."""

    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Text:
    """A text of `least` to `most` letters that matches the pattern, of which `example` is one."""

    most: int
    least: int = 0
    pattern: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of `least` to `most` values of one shape."""

    of: Any
    least: int = 0
    most: int = MOST


class Real:
    """As a shape: a number, infinite ones and NaN included."""


def check_format(value: Any, format: str, otherwise: str = "") -> dict[str, Any]:
    """Return an object whose ``"format"`` is that one; refuse anything else, saying what to do."""
    check({...: object}, value)
    found: dict[str, Any] = value
    if found.get("format") != format:
        told = shown(found.get("format"))
        raise KnightfallError(f"the format is {told}, not {format!r}{otherwise}")
    return found


def check(shape: Any, value: Any, where: str = "") -> None:
    """Refuse a value that does not have that shape, saying where it is wrong."""
    if isinstance(shape, dict):
        _must(isinstance(value, dict), where, "an object", value)
        _check_object(shape, value, where)
    elif isinstance(shape, list | Items):
        items = shape if isinstance(shape, Items) else Items(shape[0])
        _must(isinstance(value, list), where, _said(shape), value)
        if not items.least <= len(value) <= items.most:
            raise KnightfallError(f"{_named(where)} must be {_said(items)}, not {len(value)}")
        for number, item in enumerate(value):
            check(items.of, item, f"{where}[{number}]")
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


def _said(shape: Any) -> str:
    if isinstance(shape, tuple):
        return " or ".join(_said(one) for one in shape)
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
        return f"a text of {least}{shape.most} letters"
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


def _must(right: bool, where: str, wanted: str, value: Any) -> None:
    if not right:
        raise KnightfallError(f"{_named(where)} must be {wanted}, not {shown(value)}")


def shown(value: Any, most: int = 40) -> str:
    """Return a value as an error names it: not longer than that, whatever it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if type(value) is int and value.bit_length() > 4 * most:
        return "a number that long"  # Python itself refuses to write down the longest
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
