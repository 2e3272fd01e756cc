"""What installed packages add to knightfall, found through Python's entry points.

A package that extends knightfall declares an entry point of the group ``knightfall.extensions``
which names an `Extension`.  That value holds import paths only, so that listing what there is
costs next to nothing; each thing is imported when it is first used.  The parts of knightfall that
are not its core come through the same door.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from knightfall.errors import KnightfallError

GROUP = "knightfall.extensions"


@dataclass(frozen=True)
class Extension:
    """What a package adds; each value is an import path such as ``package.module:name``."""

    agents: Mapping[str, str] = field(default_factory=dict)
    """Subclasses of `Agent` by their kind; ``perfect(swindle)`` names one that reads a word more
    than another kind does, and replaces that kind where the word is given."""
    heuristics: Mapping[str, str] = field(default_factory=dict)
    """Functions that parse heuristics, by the scheme that their ids begin with, as ``course:``."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands by name, as functions that Typer can read, or as Typer applications."""


@cache
def extensions() -> dict[str, Extension]:
    """Return the extensions that are installed, by name; ours come first.

    One that cannot be loaded is left out, and a line on standard error says so.
    """
    found = {}
    for point in sorted(set(entry_points(group=GROUP)), key=_order):
        try:
            loaded = point.load()
            if not isinstance(loaded, Extension):
                raise TypeError(f"{point.value} is {loaded!r:.60}, not an Extension")
        except Exception as error:
            _leave_out(point.name, error)
        else:
            found[point.name] = loaded
    return found


def _order(point: EntryPoint) -> tuple[bool, str]:
    return not point.value.startswith("knightfall."), point.name


def _leave_out(name: str, error: Exception) -> None:
    reason = " ".join(str(error).split())[:200]
    print(
        f"knightfall: the extension {name!r} is left out: {type(error).__name__}: {reason}",
        file=sys.stderr,
    )


@cache
def added(part: str) -> dict[str, tuple[str, str]]:
    """Return what extensions add to a part (a field of `Extension`): extension and import path.

    A name that several of them add is that of the first.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, extension in extensions().items():
        for key, path in getattr(extension, part).items():
            found.setdefault(key, (name, path))
    return found


@cache
def load_added(part: str, key: str) -> Any:
    """Return what an extension adds under a name; a `KnightfallError` if it cannot be imported."""
    name, path = added(part)[key]
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except KnightfallError:
        raise
    except Exception as error:
        raise KnightfallError(
            f"{key!r} comes from the extension {name!r}, which cannot be loaded: "
            f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        ) from None
