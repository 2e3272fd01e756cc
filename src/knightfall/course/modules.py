"""The modules somebody wrote, as syntax trees: what a file imports from beside it, and names.

Nothing is run.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

from knightfall.errors import KnightfallError

NOT_HANDED_IN = (
    "isolation", "sample_players", "agent_test", "tournament", "setup", "run_match",
    "isoviz", "viz",
)  # fmt: skip
"""Modules that the course itself put beside it."""

LARGEST = 4 << 20
"""Bytes of a file that somebody wrote by hand."""

MOST_FILES = 4000
"""Files of a folder that are looked at."""


def is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _inside(file: Path, folder: Path) -> bool:
    return Path(os.path.normpath(file)).is_relative_to(folder)


def tree_of(file: Path) -> ast.Module:
    try:
        if file.stat().st_size > LARGEST:
            raise KnightfallError(f"{file} is too large to be a submission")
        text = file.read_bytes()
    except OSError as error:
        raise KnightfallError(f"{file}: {error.strerror or error}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, str(file))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise KnightfallError(f"{file}{where}: {type(error).__name__}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise KnightfallError(f"{file}: {error}") from None


def reachable(file: Path, *, broken: bool = False) -> dict[Path, ast.Module]:
    """The modules beside a file that it imports, directly or not, itself first.

    With `broken`, those that cannot be read are there as well, as empty ones.
    """
    found: dict[Path, ast.Module] = {}
    todo = [file]
    while todo and len(found) < MOST_FILES:
        here = todo.pop()
        if here in found:
            continue
        try:
            found[here] = tree_of(here)
        except KnightfallError:
            if here == file and not broken:
                raise
            found[here] = ast.Module([], [])
        todo += _imports(found[here], here, file.parent)
    return found


def _imports(tree: ast.Module, here: Path, top: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        names: list[tuple[Path, str]] = []
        if isinstance(node, ast.Import):
            names = [(top, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = top
            for _ in range(node.level):
                base = here.parent if base is top else base.parent
            module = node.module or ""
            names = [(base, module)] if module else []
            names += [(base, f"{module}.{alias.name}".strip(".")) for alias in node.names]
        for base, name in names:
            parts = name.split(".")
            if parts[0] in NOT_HANDED_IN:
                continue
            for end in range(1, len(parts) + 1):
                at = base.joinpath(*parts[:end])
                for candidate in (at.with_name(at.name + ".py"), at / "__init__.py"):
                    if is_file(candidate):
                        yield candidate


def imports_numpy(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] in ("numpy", "scipy") for name in modules):
            return True
    return False


def files_named(trees: dict[Path, ast.Module], folder: Path) -> set[Path]:
    """The files in a folder whose names are written in some modules."""
    words = {
        node.value
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    words.add("data.pickle")  # which the successor's players read
    named = {
        folder / word
        for word in words
        if word.strip() and "\0" not in word and not os.path.isabs(word)
    }
    return {one for one in named if is_file(one) and _inside(one, folder)}
