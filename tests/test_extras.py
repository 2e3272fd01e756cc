"""Optional packages: each hint names the smallest extra with everything that is missing."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from knightfall.errors import KnightfallError
from knightfall.optional_dependencies import EXTRAS, install, require

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = sorted(set().union(*EXTRAS.values()))
FOR_DEVELOPERS = {"test", "dev", "docs"}


def packages(requirements: list[str]) -> set[str]:
    """Return the packages that requirements name, including those of knightfall's own extras."""
    found: set[str] = set()
    for requirement in requirements:
        name, extras = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name == "knightfall":
            for extra in extras.split(","):
                found |= packages(PROJECT["optional-dependencies"][extra])
        else:
            found.add(name)
    return found


def modules(requirements: list[str]) -> set[str]:
    """Return the module names of the packages; torch and OpenSpiel need not be installed here."""
    names = modules_by_package()
    return set().union(*(names[package] for package in packages(requirements)))


@cache
def modules_by_package() -> dict[str, set[str]]:
    """Return the names of the modules of each installed package, and of torch and OpenSpiel."""
    names = {"torch": {"torch"}, "open-spiel": {"pyspiel", "open_spiel"}}
    for module, owners in packages_distributions().items():
        for owner in owners:
            names.setdefault(owner, set()).add(module)
    return names


def brought(extra: str) -> set[str]:
    return modules(PROJECT["optional-dependencies"][extra])


def imported(file: Path) -> Iterator[str]:
    """Return the packages that a module imports, by a statement or by `import_module`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str | None] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        yield from (name.split(".")[0] for name in names if name)


def test_the_table_is_that_of_the_project() -> None:
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS
    for extra, ours in EXTRAS.items():
        assert ours <= brought(extra)


def test_what_is_imported_is_installed_plainly_or_by_an_extra() -> None:
    course = {"game_agent", "isolation", "sample_players"}  # what old submissions import
    notebook = {"IPython"}  # used in notebooks only, which have it
    known = modules(PROJECT["dependencies"]) | {"llvmlite", "markdown_it"} | set(OPTIONAL)
    for file in (ROOT / "src").rglob("*.py"):
        others = set(imported(file)) - sys.stdlib_module_names - {"knightfall"} - course - notebook
        assert others <= known, file


@pytest.mark.parametrize("module", OPTIONAL)
def test_a_hint_names_the_smallest_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KnightfallError) as refused:
        require("this", "json", module)
    said = str(refused.value)
    assert said.startswith(f"this needs {module} (not installed): ")
    assert "\n" not in said
    hint = re.search(r"pip install 'knightfall\[(\w+)\]'", said)
    assert hint is not None
    named = brought(hint[1])
    assert module in named
    assert not any(module in brought(other) and brought(other) < named for other in EXTRAS)
    assert ("torch" in named) == ("CPU-only" in said) == (module == "torch")


def test_one_extra_is_enough_for_all_that_is_missing() -> None:
    assert "'knightfall[fit]'" in install(["pyarrow", "sklearn"])
    assert "'knightfall[net]'" in install(["sklearn", "torch"])


def test_nothing_missing_is_no_error() -> None:
    require("this", "json", "numpy")


def test_the_pip_of_this_python_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("one", "two words"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pip").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "two words" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "two words"))
    assert install(["pyarrow"]) == "pip install 'knightfall[parquet]'"
    monkeypatch.setenv("PATH", str(tmp_path / "one"))
    python = f"'{tmp_path / 'two words' / 'python'}'"
    assert install(["pyarrow"]) == f"{python} -m pip install 'knightfall[parquet]'"
