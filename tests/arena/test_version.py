"""What identifies machine code and runs: an edit that matters changes it, any other does not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_rooms import FILES, PACKAGE, imports, module_of

from knightfall.arena.plan.version import DECIDES
from knightfall.kernel.sources import COMPILED

ASK = (
    "from knightfall.kernel.sources import COMPILED, hash_of;"
    "from knightfall.arena.plan.version import engine;"
    "print(hash_of(COMPILED), engine())"
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of its own to be edited."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, root / "knightfall", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def before(copied: Path) -> tuple[str, str]:
    return identity(copied)


def identity(root: Path) -> tuple[str, str]:
    """The names of the machine code and of the engine, as a process of its own sees them."""
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
        ("arena/store/run.py", False, False),
        ("statistics/pairs.py", False, False),
        ("search/deepening.py", True, True),
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


def test_every_compiled_module_is_named() -> None:
    using = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        if re.search(r"@compiled\(|@intrinsic|from_dtype\(", file.read_text(encoding="utf-8"))
    }
    # These compile what belongs to one process and is never cached, or goes into a file.
    elsewhere = {name for name in using if name.startswith("web/engine/")}
    elsewhere |= {"heuristics/evaluator.py", "heuristics/user_heuristic.py"}
    assert using - elsewhere <= set(COMPILED)


NO_PART = {
    "knightfall.errors",
    "knightfall.position",
    "knightfall.picture",
    "knightfall.solver.solution",
    "knightfall.files",
    "knightfall.reading",
    "knightfall.shape",
    "knightfall.revision",
    "knightfall.user_files",
    "knightfall.containment",
    "knightfall.apart",
    "knightfall.heuristics.plain_trial",
    "knightfall.sigint",
    "knightfall.kernel.interrupt",
    "knightfall.kernel.machine_code",
    "knightfall.kernel.no_blas",
    "knightfall.search.stopwatch",
    "knightfall.course.returns",
}
"""What the named modules use, but takes no part in choosing a move or in machine code, beside all
that is for display: errors, drawing, finding, reading, trying and keeping files, being interrupted,
finding the line that an answer comes from.  `Position` only translates for machine code."""


def closure(names: tuple[str, ...]) -> set[str]:
    """All modules that some files use, wherever they import them."""
    known = {module_of(file): file for file in FILES}
    todo = [PACKAGE / name for name in names if name.endswith(".py")]
    found: set[str] = set()
    while todo:
        for _, name in imports(todo.pop(), types=False):
            module = name if name in known else name.rpartition(".")[0]
            file = known.get(module)
            if (
                file is None
                or module in found
                or file.name == "__init__.py"
                or ".display." in module
            ):
                continue
            found.add(module)
            todo.append(file)
    return found


def named(files: tuple[str, ...]) -> set[str]:
    return {module_of(PACKAGE / file) for file in files if file.endswith(".py")}


def test_everything_that_the_named_modules_use_is_named_too() -> None:
    assert closure(COMPILED) - NO_PART <= named(COMPILED)
    hosts = {"knightfall.arena.game.agent_process", "knightfall.arena.game.agent_server"}
    assert closure(DECIDES) - NO_PART - hosts <= named(COMPILED) | named(DECIDES)
