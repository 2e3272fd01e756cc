"""The hashes of machine code and engine change with every relevant edit, and with no other."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_rooms import PACKAGE, imports, module_of

from knightfall.arena.engine_version import deciding_modules
from knightfall.kernel.source_hashes import hash_of, sources

ASK = (
    "from knightfall.kernel.source_hashes import hash_of;"
    "from knightfall.arena.engine_version import engine;"
    "print(hash_of('knightfall.search.deepening', lazy=False), engine())"
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package that can be edited."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, root / "knightfall", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def before(copied: Path) -> tuple[str, str]:
    return identity(copied)


def identity(root: Path) -> tuple[str, str]:
    """Return the hashes of a search's machine code and of the engine, from a new process."""
    program = f"import sys; sys.path.insert(0, {str(root)!r}); {ASK}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    code, engine = done.stdout.split()
    return code, engine


@pytest.mark.parametrize(
    ("file", "code_changes", "engine_changes"),
    [
        ("picture.py", False, False),
        ("cli/app.py", False, False),
        ("arena/store.py", False, False),
        ("statistics/pairs.py", False, False),
        ("search/deepening.py", True, True),
        ("search/minimax.py", False, True),
        ("heuristics/models/learned_net.json", False, True),
        ("opponents/chances.json", False, True),
        ("course/generation_2017b.py", False, True),
        ("kernel/rules.py", True, True),
        ("agents/parse.py", False, True),
        ("openings.py", False, True),
        ("solver/atlas.json", False, True),
    ],
)
def test_only_an_edit_that_matters_changes_the_identity(
    copied: Path, before: tuple[str, str], file: str, code_changes: bool, engine_changes: bool
) -> None:
    edited = copied / "knightfall" / file
    kept = edited.read_bytes()
    edited.write_bytes(kept + (b"\n" if file.endswith("json") else b"# a comment\n"))
    try:
        after = identity(copied)
    finally:
        edited.write_bytes(kept)
    assert (before[0] != after[0], before[1] != after[1]) == (code_changes, engine_changes)


def files(*modules: str, **options: Any) -> set[str]:
    return {str(file.relative_to(PACKAGE)) for file in sources(*modules, **options)}


def test_all_imports_are_found() -> None:
    """Compare the imports found by a search in the text with those that Python's parser finds."""
    deciding = files(*deciding_modules())
    without_effect = re.compile(r"(display/.*|errors|user_folders|picture)\.py")
    for name in deciding:
        if not name.endswith(".py") or name in ("kernel/compile.py", "heuristics/__init__.py"):
            continue
        for _, imported in imports(PACKAGE / name, types=False):
            file = file_of(imported) or file_of(imported.rpartition(".")[0])
            if file is not None and not without_effect.fullmatch(file):
                assert file in deciding, f"{name} imports {imported}"


def file_of(module: str) -> str | None:
    file = (PACKAGE.parent / module.replace(".", "/")).with_suffix(".py")
    return str(file.relative_to(PACKAGE)) if file.is_file() else None


def test_every_heuristic_search_and_board_decides_how_games_go() -> None:
    deciding = files(*deciding_modules())
    for file in PACKAGE.rglob("*.py"):
        name = str(file.relative_to(PACKAGE))
        kernels = re.search(r"@compiled\(|@published|from_dtype\(", file.read_text("utf-8"))
        # The page and the environments play games of their own, which no run stores.
        if kernels and not name.startswith(("web/engine/", "env/")):
            assert name in deciding, f"{module_of(file)} is compiled, but no part of the version"
    for generation in ("2017b", "2017a", "early", "oldest", "successor"):
        assert f"course/generation_{generation}.py" in deciding


def test_a_module_that_is_not_there_has_no_version() -> None:
    with pytest.raises(ValueError, match=r"there is no module 'knightfall\.serch'"):
        hash_of("knightfall.serch")
