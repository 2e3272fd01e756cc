"""The order of the layers: a module imports only its own layer and those before it, lazily or not.

A room is a folder or a top-level module of the package: one layer of `docs/design.md`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "knightfall"

ROOMS = (
    "errors",
    "extensions",
    "optional_dependencies",
    "untrusted_input",
    "isolation.sigint",
    "board",
    "position picture",  # a position draws itself
    "display",
    "openings",
    "processor_cores",
    "user_folders",
    "isolation",
    "user_files",
    "notation",
    "course",
    "kernel",
    "heuristics",
    "course.student_scores",
    "search",
    "solver",
    "opponents",
    "statistics",
    "isolation.parallel_map isolation.worker_process isolation.worker_pool isolation.executor_pool",
    "agents",
    "arena.run_options",
    "arena.plan arena.stored_plan arena.snapshot",
    "arena.tournament_plan",
    "arena.engine_version",
    "arena.play",
    "arena.runner",
    "arena.store_checks",
    "arena.store_file",
    "arena.store",
    "arena.stored_games",
    "arena.export_run",
    "arena.import_run",
    # A report also shows a run in progress, and draws charts.
    "arena.report_statistics arena.results arena.run_loop arena.worth "
    "arena.chart_style arena.charts",
    "arena.reports",
    "arena.api",
    "arena",
    "opponents.champion_agent",
    "openspiel",
    "openspiel_bots",
    "course.agent",
    "studies.as_coded",
    "studies.study_files",
    "studies.node_costs",
    "studies.student_options studies.student_search",
    "studies.student_options",
    "oracle",
    "learning",
    "env",
    "course.trial",
    "course.classroom",
    "studies.published studies.printed_tables",
    "studies.playing_conditions",
    "studies.fit_conditions",
    "studies.comparisons",
    "studies.plans studies.run_results studies.oracle_grades",
    "studies.computed_facts",
    "studies.claims",
    "studies",
    "engines",
    "web.engine",
    "web",
    "notebook",
    "web.lab",
    "cli.help_format",
    "cli.terminal cli.board_drawing",
    "cli.options cli.arena_options",
    "cli.interactive_game cli.game_views",
    "cli",
    "course.commands",
    "engines.commands",
    "learning.commands",
    "studies.commands",
    "web.commands",
)
"""The layers from the bottom up; each may import itself and those before it."""

LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms.split()}


def room_of(module: str) -> str | None:
    """Return the innermost layer (subpackage) of a module; None for the package itself."""
    parts = module.split(".")[1:]
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in LEVEL:
            return ".".join(parts[:end])
    return None


def module_of(file: Path) -> str:
    parts = ("knightfall", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path, *, types: bool = True) -> Iterator[tuple[int, str]]:
    """Return every module of knightfall that a file imports, also inside functions, with its line.

    Without `types`, imports for type checkers only are left out.
    """
    body = [node for node in tree_of(file).body if types or not isinstance(node, ast.If)]
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            # The imported name may be a module itself.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "knightfall")


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_a_module_uses_only_its_own_room_and_those_above(file: Path) -> None:
    if file in (PACKAGE / "__init__.py", PACKAGE / "__main__.py"):
        return  # the package's public entry points import everything
    room = room_of(module_of(file))
    assert room is not None, f"{file} lies in no room: give it one here and in docs/design.md"
    for line, name in imports(file):
        used = room_of(name)
        if used is None:
            assert name == "knightfall.__version__", f"{file}:{line} imports {name}"
            continue
        assert LEVEL[used] <= LEVEL[room], f"{file}:{line}: {room} may not use {used}"


def test_the_picture_in_the_docs_shows_every_room() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    picture = re.search(r"```\nsrc/knightfall/\n(.*?)```", page, re.DOTALL)
    assert picture is not None
    shown = set(re.findall(r"[a-z_]+", picture[1]))
    assert {part for room in LEVEL for part in room.split(".")} <= shown


EXTENSIONS = (
    "course",
    "engines",
    "env",
    "learning",
    "notebook",
    "openspiel",
    "openspiel_bots",
    "opponents",
    "studies",
    "web",
)
"""The folders and modules of the extensions, which the core must not import."""


def test_the_core_names_no_extension() -> None:
    """Check imports, and module names in strings."""
    named = re.compile(rf"knightfall\.({'|'.join(EXTENSIONS)})\b(?!\.py)")
    for file in FILES:
        if file.relative_to(PACKAGE).parts[0].removesuffix(".py") in EXTENSIONS:
            continue
        found = [name for _, name in imports(file) if named.match(name)]
        texts = [
            node.value
            for node in ast.walk(tree_of(file))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found += [text for text in texts if named.fullmatch(text.partition(":")[0])]
        assert not found, f"{file} names {found}"
