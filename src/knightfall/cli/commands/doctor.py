"""``knightfall doctor``: what is installed, whether it works, and what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import typer

from knightfall import user_folders
from knightfall.cli.options import Json
from knightfall.cli.terminal import print_json
from knightfall.display.numbers import count, percent
from knightfall.display.report import Line, print_parts
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.optional_dependencies import EXTRAS, install, pip

POSITION = "7/7/1N5/7/7/4n2/7 w"
PLIES = 4
"""The length of the lines that plain Python and compiled code count and compare."""
NODES = 1_000_000
"""Nodes of the search that measures the speed."""

OK, MISSING, BROKEN = "ok", "missing", "broken"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    part: str
    state: str
    """``ok``, ``missing`` (something optional is not installed) or ``broken``."""
    found: str
    remedy: str = ""
    """What to do about it: often a command that can be pasted into a shell."""


def doctor(json: Json = False) -> None:
    """Check this installation and name what is missing.

    The report has the versions, the folders, the speed and the kind of sandbox.  The exit code is 1
    if something is broken.  A missing part is not an error: the report names the command that
    installs it.

    \b
    Examples:
      knightfall doctor
      knightfall doctor --json
    """
    findings = list(examine())
    broken = [finding.part for finding in findings if finding.state == BROKEN]
    if json:
        print_json({"ok": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        _print(findings, broken)
    if broken:
        raise typer.Exit(1)


def _print(findings: list[Finding], broken: list[str]) -> None:
    table = Table(["", "", ""], labels=3)
    for finding in findings:
        remedy = f" → {finding.remedy}" if finding.remedy else ""
        table.add(finding.part, finding.state, finding.found + remedy)
    missing = sum(finding.state == MISSING for finding in findings)
    verdict = f"broken: {', '.join(broken)}" if broken else "nothing is broken"
    if missing:
        verdict += f"; {count(missing, 'optional part is', 'optional parts are')} missing"
    print_parts([table, "", Line(verdict, "red" if broken else "green")])


def examine() -> Iterator[Finding]:
    """Yield the findings in the order of the report."""
    yield from _versions()
    parts: dict[str, Callable[[], Finding]] = {
        "packages": _packages,
        "extensions": _extensions,
        "machine code": _machine_code,
        "speed": _speed,
        "store": _store,
        "sandbox": _sandbox,
    }
    for part, look in parts.items():
        try:
            yield look()
        except Exception as error:  # whatever it is, the other parts are still reported
            message = str(error) if isinstance(error, KnightfallError) else repr(error)
            yield Finding(part, BROKEN, message)
    yield from _extras()


def _versions() -> Iterator[Finding]:
    """Yield the versions of knightfall and Python, and the system."""
    from knightfall import __version__
    from knightfall.processor_cores import cores

    yield Finding("knightfall", OK, f"{__version__} in {Path(user_folders.__file__).parent}")
    yield Finding("Python", OK, f"{platform.python_version()}, {sys.executable}")
    system = f"{platform.system()} {platform.machine()}, {count(cores(), 'core')}"
    yield Finding("system", OK, system)


def _packages() -> Finding:
    """Return the versions of the packages that every installation needs."""
    from importlib.metadata import PackageNotFoundError, requires, version

    there, absent = [], []
    for requirement in requires("knightfall") or []:
        name = re.split(r"[^\w.-]", requirement)[0]
        if "extra ==" not in requirement:
            try:
                there.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                absent.append(name)
    if absent:
        remedy = f"{pip()} install {' '.join(absent)}"
        return Finding("packages", BROKEN, f"not installed: {', '.join(absent)}", remedy)
    return Finding("packages", OK, ", ".join(there))


def _extensions() -> Finding:
    from knightfall.extensions import extensions

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        extensions.cache_clear()
        names = ", ".join(extensions())
    if caught:
        reasons = "; ".join(str(warning.message) for warning in caught)
        return Finding("extensions", BROKEN, reasons, "reinstall or uninstall its package")
    return Finding("extensions", OK, names)


def _machine_code() -> Finding:
    """Compare compiled code with plain Python, and look at where it is kept."""
    from knightfall.kernel.compile import cache_folder
    from knightfall.kernel.rules import perft_of
    from knightfall.position import Position

    position = Position.from_fen(POSITION)
    plain, compiled = position.perft(PLIES), perft_of(position, PLIES)
    if plain != compiled:
        found = f"{compiled} lines of {PLIES} plies, but plain Python counts {plain}"
        return Finding("machine code", BROKEN, found, "delete the folder of machine code")
    folder = cache_folder()
    if folder is None:
        there = user_folders.cache_folder()
        found = f"{there} cannot be written: every command compiles again"
        remedy = "set KNIGHTFALL_CACHE_DIR to a folder of yours"
        return Finding("machine code", BROKEN, found, remedy)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Finding("machine code", OK, f"{_megabytes(size)} in {folder}")


def _speed() -> Finding:
    from knightfall.agents import agent
    from knightfall.position import Position
    from knightfall.processor_cores import core_share

    searcher = agent(f"id(improved, nodes={NODES})").prepare()
    report = searcher.analyse(Position.from_fen(POSITION))
    speed = f"{report.nodes / report.seconds / 1e6:.1f} million nodes a second"
    free = percent(core_share(), 0)
    return Finding("speed", OK, f"{speed}; other programs leave {free} of a core")


def _store() -> Finding:
    from knightfall.arena.store import Store
    from knightfall.arena.store_file import user_store

    path = user_store()
    if not path.exists():
        user_folders.check_output(path)
        return Finding("store", OK, f"no runs yet; they will be in {path}")
    with Store.open(path, read_only=True) as store:
        runs = count(len(store.runs()), "run")
    return Finding("store", OK, f"{runs}, {_megabytes(path.stat().st_size)} in {path}")


def _sandbox() -> Finding:
    """Return the kind of sandbox that works, tried anew, with what brings a better one."""
    from knightfall.isolation.sandbox import KINDS, VARIABLE, kind, works

    if os.environ.get(VARIABLE):
        found = kind()
        return Finding("sandbox", OK, f"{found}, as {VARIABLE} demands")
    found = next(kind for kind in KINDS if kind == "none" or works(kind))
    if found == "bubblewrap" or sys.platform != "linux":
        return Finding("sandbox", OK, f"{found}: {KINDS[found]}")
    if shutil.which("bwrap"):
        remedy = "bwrap is installed but does not work: it needs version 0.8 and user namespaces"
    else:
        remedy = "apt install bubblewrap, or your system's command"
    return Finding("sandbox", MISSING, f"{found}: {KINDS[found].partition(';')[0]}", remedy)


def _extras() -> Iterator[Finding]:
    for extra, modules in EXTRAS.items():
        absent = sorted(module for module in modules if find_spec(module) is None)
        part = f"extra {extra}"
        if absent:
            yield Finding(part, MISSING, f"not installed: {', '.join(absent)}", install(absent))
        else:
            yield Finding(part, OK, ", ".join(sorted(modules)))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
