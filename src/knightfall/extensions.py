"""Extensions: what installed packages add to knightfall, found through Python's entry points.

A package that extends knightfall declares an entry point of the group ``knightfall.extensions``
which names an `Extension`.  That value holds import paths only, so that listing the extensions is
fast; each path is imported when it is first used.  knightfall's own parts outside of its core are
extensions, too.
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
    """The additions of one package.  Each value is an import path, ``package.module:name``."""

    agents: Mapping[str, str] = field(default_factory=dict)
    """Subclasses of `Agent` by kind.  The key ``perfect(swindle)`` replaces the kind ``perfect`` in
    agent strings that have the word ``swindle`` among their options."""
    heuristics: Mapping[str, str] = field(default_factory=dict)
    """Modules by the scheme with which ids of their heuristics begin: if ``mine:`` is the key of a
    module, ``mine:cosy`` is its function `cosy`.  The path may also name a function that parses
    ids: it takes a text that begins with the scheme, and returns a `SchemeFunction` and the number
    of letters of the text that name it."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Functions (under any key) that return a `knightfall.heuristics.registry.HeuristicTable`: more
    heuristics, listed and compiled like the core's own, and aliases of heuristics."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands by name: functions annotated for Typer, or Typer applications."""
    panels: Mapping[str, str] = field(default_factory=dict)
    """The panel of ``knightfall --help`` that lists a command, by the command's name: Play, Ask,
    Measure, Runs, Build and learn, or Teach.  Other commands are listed last, under Extensions."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Functions that ``import knightfall as kf`` offers, by name: ``"tune"`` is ``kf.tune``."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Parts of the lab's page (``knightfall serve``) by a lower-case name: each is a `PagePart`."""


@dataclass(frozen=True)
class PagePart:
    """A view of the lab's page, listed in the menu by its title.

    The functions are called in a thread of the server and must return quickly.
    """

    title: str
    fragment: Callable[[], str]
    """Returns the HTML of the view.  The page's content security policy applies: scripts, event
    handlers and styles in it have no effect, and nothing is fetched from other servers.
    """
    document: Callable[[], bytes | None] | None = None
    """Returns a whole HTML page without scripts, which is served under the part's name, such as
    ``/studies``; None if there is no such page."""
    data: Callable[[], dict[str, Any]] | None = None
    """Returns the content of the view as plain values, for other programs."""


@cache
def extensions() -> dict[str, Extension]:
    """Return the installed extensions by name, knightfall's own first.

    An extension that cannot be loaded is left out with a warning.
    """
    found: dict[str, Extension] = {}
    for name, path in sorted(_declared(), key=_order):
        module, _, attribute = path.partition(":")
        try:
            loaded = getattr(import_module(module), attribute)
            if not isinstance(loaded, Extension):
                raise TypeError(f"{path} is {loaded!r:.60}, not an Extension")
        except Exception as error:
            warn_left_out(name, error)
        else:
            found.setdefault(name, loaded)
    return found


def _order(declared: tuple[str, str]) -> tuple[bool, str]:
    """Return the sort key of an entry point: knightfall's own first, then by name."""
    name, path = declared
    return not path.startswith("knightfall."), name


def _declared() -> Iterator[tuple[str, str]]:
    """Yield names and import paths of the entry points of `GROUP` on `sys.path`.

    `importlib.metadata` would find the same, but takes a tenth of a second to import and to read
    every package.  This reads only ``entry_points.txt`` files.
    """
    seen: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:  # a zip file, for example, or a folder that does not exist
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
                seen.add(distribution)  # Python imports the first one on the path
                yield from _group_of(text)


def _group_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and import paths in the section of `GROUP` of an ``entry_points.txt``."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, path = line.partition("=")
            yield name.strip(), path.partition("[")[0].strip()


def warn_left_out(name: str, error: Exception) -> None:
    """Warn that an extension, or one of its additions, cannot be used."""
    reason = " ".join(str(error).split())[:200]
    warnings.warn(
        f"the extension {name!r} is left out: {type(error).__name__}: {reason}", stacklevel=2
    )


@cache
def added(part: str) -> dict[str, tuple[str, str]]:
    """Return the additions of all extensions to one part: (extension, import path) by key.

    A part is the name of a field of `Extension`.  If several extensions have a key, the first wins.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, extension in extensions().items():
        for key, path in getattr(extension, part).items():
            found.setdefault(key, (name, path))
    return found


@cache
def load_added(part: str, key: str) -> Any:
    """Import and return what `added` lists under a key.  Raise `KnightfallError` if that fails."""
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
