"""Hashes of modules together with everything that they import.

Machine code is reused, runs are continued and the browser's engine counts as up to date only while
the modules they come from are unchanged.  These modules are found by reading import statements in
the source text, without importing anything and without a list to maintain.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

WITHOUT_EFFECT = (
    "knightfall.display",
    "knightfall.errors",
    "knightfall.user_folders",
    "knightfall.picture",
)
"""Modules and packages that no hash includes: messages, drawing and file access affect neither
moves nor machine code."""

COMPILER = "knightfall.kernel.compile"
"""The module whose own imports do not count: they cache machine code and do not change it."""

_IMPORT = re.compile(
    r"^(?P<indent>[ \t]*)(?:from[ ]+(?P<package>\.*[\w.]*)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ ]+(?P<module>[\w.]+))",
    re.MULTILINE,
)
_FOR_TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.MULTILINE)
_IMPORT_PATH = re.compile(r'"(\w+(?:\.\w+)+)(?:[:"]|$)')
_BEGINNING_OF_PATH = re.compile(r'"(\w+(?:\.\w+)*)\.(\w*)\{')
_DATA_FILE = re.compile(r'"([\w./-]+\.(?:json|toml))"')


@cache
def hash_of(*modules: str, lazy: bool = True, within: str = "") -> str:
    """Return a short hash of the `sources` of some modules and of Numba's version."""
    digest = hashlib.sha256(_numba_version().encode())
    for file in sources(*modules, lazy=lazy, within=within):
        digest.update(file.name.encode())
        digest.update(_content(file))
    return digest.hexdigest()[:16]


@cache
def _numba_version() -> str:
    return version("numba")


def sources(*modules: str, lazy: bool = True, within: str = "") -> list[Path]:
    """Return the files of some modules, and of all modules of their packages that they import.

    These are Python files, and data files beside a module that its text names.  A package stands
    for all its modules.  Without `lazy`, imports inside of functions do not count: a module that a
    function imports when it is called is not part of its machine code.  With `within`, only modules
    of that package count.
    """
    packages = {module.partition(".")[0] for module in modules} | {"knightfall"}
    found: set[Path] = set()
    seen: set[str] = set()
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module in seen or module.partition(".")[0] not in packages:
            continue
        seen.add(module)
        if _is_without_effect(module) or not module.startswith(within):
            continue
        files = list(_files_of(module))
        if not files and module in modules:
            raise ValueError(f"there is no module {module!r}")
        for file, name in files:
            found.add(file)
            found.update(_data_files(file))
            if name != COMPILER:
                todo += _imports(file, name, lazy)
    return sorted(found)


def has_source(module: str) -> bool:
    """Return whether a module or package of a name exists, without importing it."""
    return next(_files_of(module), None) is not None


def _is_without_effect(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in WITHOUT_EFFECT)


@cache
def _top_level_file(name: str) -> Path | None:
    """Return the file of a top-level module or package, without importing it."""
    if name == "knightfall":
        return Path(__file__).parent.parent / "__init__.py"
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
    else:
        spec = find_spec(name)
        file = None if spec is None else spec.origin
    return None if file is None else Path(file)


@cache
def _file_of(module: str) -> Path | None:
    """Return the file of a module; None if there is none, or if it is a package."""
    top, *names = module.split(".")
    file = _top_level_file(top)
    if file is not None and names:
        file = file.parent.joinpath(*names).with_suffix(".py")
    return file if file is not None and file.is_file() and file.name != "__init__.py" else None


def _files_of(module: str) -> Iterator[tuple[Path, str]]:
    """Yield the file of a module, or those of all modules in a package, with the modules' names."""
    file = _file_of(module)
    if file is not None:
        yield file, module
        return
    top, *names = module.split(".")
    file = _top_level_file(top)
    if file is not None and file.name == "__init__.py":
        for one in sorted(file.parent.joinpath(*names).rglob("*.py")):
            parts = one.relative_to(file.parent).with_suffix("").parts
            yield one, ".".join((top, *parts))


@cache
def _content(file: Path) -> bytes:
    return file.read_bytes()


@cache
def _text(file: Path) -> str:
    return _FOR_TYPES_ONLY.sub("", _content(file).decode())


@cache
def _imports(file: Path, module: str, lazy: bool) -> Collection[str]:
    """Return the modules that a file imports, and those that it names by import path in strings.

    A package's ``__init__`` does not count: names that are imported from there are defined in
    other modules, which are found by themselves.
    """
    found: list[str] = []
    for match in _IMPORT.finditer(_text(file)):
        if match["indent"] and not lazy:
            continue
        if match["module"]:
            found.append(match["module"])
            continue
        package = match["package"]
        if package.startswith("."):
            parents = len(package) - len(package.lstrip("."))
            base = module.split(".")[:-parents]
            package = ".".join([*base, *filter(None, [package.lstrip(".")])])
        names = [f"{package}.{name}" for name in re.findall(r"\w+", match["names"])]
        found += [name for name in names if _file_of(name) is not None]
        if _file_of(package) is not None:
            found.append(package)
    if lazy:
        found += filter(_file_of, _IMPORT_PATH.findall(_text(file)))
        for package, beginning in _BEGINNING_OF_PATH.findall(_text(file)):
            found += [
                name
                for _, name in _files_of(package)
                if name.removeprefix(f"{package}.").startswith(beginning)
            ]
    return found


@cache
def _data_files(file: Path) -> Collection[Path]:
    """Return the data files that a module names, in its folder or below."""
    names = set(_DATA_FILE.findall(_text(file)))
    return [data for name in names for data in file.parent.glob(f"**/{name}")] if names else []
