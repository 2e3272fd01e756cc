"""What installed packages add to knightfall, found through Python's entry points.

A package that extends knightfall declares an entry point of the group ``knightfall.extensions``
which names an `Extension`.  That value holds import paths only, so that listing what there is
costs next to nothing; each thing is imported when it is first used.  The parts of knightfall that
are not its core come through the same door.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from knightfall.errors import KnightfallError

GROUP = "knightfall.extensions"


@dataclass(frozen=True)
class Extension:
    """What a package adds, by import paths such as ``package.module:name``."""

    agents: Mapping[str, str] = field(default_factory=dict)
    """Subclasses of `Agent` by their kind; ``perfect(swindle)`` names one that reads a word more
    than another kind does, and replaces that kind where the word is given."""
    heuristics: Mapping[str, str] = field(default_factory=dict)
    """Modules by the scheme that ids of their heuristics begin with: with ``mine:`` for a module,
    ``mine:cosy`` is its function `cosy`.  A function in the place of a module reads the id itself:
    it gets a text that begins with the scheme, and returns a `SchemeFunction` and how much of the
    text names it."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Functions by any name that return a `knightfall.heuristics.registry.HeuristicTable`: more
    heuristics, listed and compiled as the core's own are, and other names for heuristics."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands by name: functions with annotations that Typer reads, or Typer applications."""
    panels: Mapping[str, str] = field(default_factory=dict)
    """The panel of ``knightfall --help`` that lists a command, by the command's name: Play, Ask,
    Measure, Runs, Build and learn, or Teach.  Other commands are listed last, under Extensions."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Parts of the lab's page (``knightfall serve``) by a name of small letters: a `PagePart`
    each."""


@dataclass(frozen=True)
class PagePart:
    """A part of the lab's page: a view of its own, listed in the menu by its title.

    The functions are called in a thread of the server, and must not take long.
    """

    title: str
    fragment: Callable[[], str]
    """Returns the HTML that the view shows.  It is shown under the page's content security policy:
    scripts, event handlers and styles inside it do nothing, and nothing is fetched from elsewhere.
    """
    document: Callable[[], bytes | None] | None = None
    """Returns a whole HTML page without scripts, which is served under the part's name, as in
    ``/studies``; None if there is none."""
    data: Callable[[], dict[str, Any]] | None = None
    """Returns what the view shows as plain values, for other programs."""


@cache
def extensions() -> dict[str, Extension]:
    """Return the extensions that are installed, by name; ours come first.

    One that cannot be loaded is left out, and a warning says so.
    """
    found: dict[str, Extension] = {}
    for name, path in sorted(_declared(), key=_order):
        module, _, attribute = path.partition(":")
        try:
            loaded = getattr(import_module(module), attribute)
            if not isinstance(loaded, Extension):
                raise TypeError(f"{path} is {loaded!r:.60}, not an Extension")
        except Exception as error:
            leave_out(name, error)
        else:
            found.setdefault(name, loaded)
    return found


def _order(declared: tuple[str, str]) -> tuple[bool, str]:
    name, path = declared
    return not path.startswith("knightfall."), name


def _declared() -> Iterator[tuple[str, str]]:
    """Yield the entry points of our group on Python's path, as names and import paths.

    `importlib.metadata` would tell the same, but takes a tenth of a second to be imported and to
    look at every package: here it is only files named ``entry_points.txt`` that hold our group.
    """
    seen: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:  # a zip file, say, or nothing at all
            continue
        for name in names:
            distribution = name.partition("-")[0].lower()
            if not name.endswith((".dist-info", ".egg-info")) or distribution in seen:
                continue
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError):
                continue
            if GROUP in text:
                seen.add(distribution)  # the first on the path is the one that is imported
                yield from _group_of(text)


def _group_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and import paths that stand below our group in ``entry_points.txt``."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, path = line.partition("=")
            yield name.strip(), path.partition("[")[0].strip()


def leave_out(name: str, error: Exception) -> None:
    """Warn that an extension, or what it adds to a part, cannot be used."""
    reason = " ".join(str(error).split())[:200]
    warnings.warn(
        f"the extension {name!r} is left out: {type(error).__name__}: {reason}", stacklevel=2
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
