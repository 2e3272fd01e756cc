"""Files that others may have written: read with a bound, and whatever is wrong with them told.

Nothing here hangs, fills the memory or raises anything but `KnightfallError`, whatever the path
names and whatever is in the file.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def parse_json(text: str) -> Any:
    """The value that a text is in JSON, told strictly.

    An object has no name twice, numbers are numbers (not NaN), and texts can be written down.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except KnightfallError as error:
        raise KnightfallError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise KnightfallError("this is not JSON: it is nested too deeply") from None
    except ValueError as error:
        raise KnightfallError(f"this is not JSON: {_brief(error)}") from None
    if _SURROGATE.search(text):
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
