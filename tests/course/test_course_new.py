"""`knightfall course new`: the exercise names its gaps and passes when they are filled."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import refused, run
from handed_in import RIGHT

import knightfall
from knightfall.course.checker.check_runner import examine
from knightfall.course.commands import FILES, GENERATIONS, begin
from knightfall.errors import KnightfallError


def unfinished(node: ast.AST) -> bool:
    """Return whether a function is a gap to fill in."""
    return isinstance(node, ast.FunctionDef) and "NotImplementedError" in ast.unparse(node)


def filled_in(template: str, solution: str) -> str:
    """Return the exercise with its gaps filled from a solution, which may add methods."""
    tree, solved = ast.parse(template), ast.parse(solution)
    functions = {n.name: n for n in solved.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in solved.body if isinstance(n, ast.ClassDef)}
    tree.body = [functions[n.name] if unfinished(n) else n for n in tree.body]  # type: ignore[attr-defined]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = {n.name: n for n in classes[node.name].body if isinstance(n, ast.FunctionDef)}
            have = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            node.body = [methods[n.name] if unfinished(n) else n for n in node.body]  # type: ignore[attr-defined]
            node.body += [method for name, method in methods.items() if name not in have]
    return ast.unparse(ast.fix_missing_locations(tree))


def unittests(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the exercise's own tests and return their output."""
    source = str(Path(knightfall.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "unittest"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_fresh_exercise_fails_and_says_what_is_not_written(
    generation: str, tmp_path: Path
) -> None:
    written = begin(tmp_path / "mine", generation)
    assert sorted(file.name for file in written) == sorted(FILES)
    found = examine(tmp_path / "mine")
    assert found.generation == generation
    assert not found.passed
    marks = {outcome.id: outcome.mark for outcome in found.outcomes}
    assert {id for id, mark in marks.items() if mark == "ok"} == {"load", "interface"}
    wrong = [outcome for outcome in found.outcomes if outcome.mark == "wrong"]
    assert [o.id for o in wrong] == ["scores", "minimax-values", "alphabeta-values"]
    for outcome in wrong:
        assert outcome.short == "is not written yet"
        assert "write this part" in outcome.why[0]
        assert re.match(r"game_agent\.py:\d+ in ", outcome.trace[-1])
    assert unittests(tmp_path / "mine").returncode == 1


@pytest.mark.parametrize("generation", GENERATIONS)
def test_filled_in_it_passes_every_check_and_its_own_tests(generation: str, tmp_path: Path) -> None:
    begin(tmp_path, generation)
    file = tmp_path / "game_agent.py"
    file.write_text(filled_in(file.read_text(encoding="utf-8"), RIGHT[generation]))
    found = examine(tmp_path)
    assert [outcome for outcome in found.outcomes if outcome.mark != "ok"] == []
    done = unittests(tmp_path)
    assert done.returncode == 0, done.stderr


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "README.md").write_text("mine, too")
    with pytest.raises(KnightfallError, match=r"already holds README\.md"):
        begin(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["README.md", "notes.txt"]
    (tmp_path / "README.md").unlink()
    begin(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([*FILES, "notes.txt"])
    with pytest.raises(KnightfallError, match="nothing is overwritten"):
        begin(tmp_path)


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "game_agent.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(KnightfallError, match=r"already holds game_agent\.py"):
        begin(tmp_path)
    assert os.listdir(tmp_path) == ["game_agent.py"]


def test_bad_input_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, generation in (
        (tmp_path / "file", "2017b"),
        (tmp_path / "file" / "below", "2017b"),
        (tmp_path / ("x" * 300), "2017b"),
        ("a\0b", "2017b"),
        (tmp_path / "new", "2018"),
    ):
        with pytest.raises(KnightfallError) as told:
            begin(folder, generation)
        assert "\n" not in str(told.value)
    assert not (tmp_path / "new").exists()
    assert "file' is a file: name a folder" in refused("course", "new", str(tmp_path / "file"))
    assert "choose 2017b or 2017a" in refused(
        "course", "new", str(tmp_path / "new"), "--generation", "2018"
    )


def test_the_command_says_what_it_wrote_and_what_is_next(tmp_path: Path) -> None:
    done = run("course", "new", str(tmp_path / "mine"), "--generation", "2017a")
    assert done.exit_code == 0
    assert done.stdout.count("wrote ") == len(FILES)
    assert "knightfall course check" in done.stdout
    assert "class CustomPlayer" in (tmp_path / "mine" / "game_agent.py").read_text()


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_task_names_every_place_to_fill_in(generation: str, tmp_path: Path) -> None:
    begin(tmp_path, generation)
    task = (tmp_path / "README.md").read_text(encoding="utf-8")
    tree = ast.parse((tmp_path / "game_agent.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if unfinished(node):
            assert f"`{node.name}`" in task  # type: ignore[attr-defined]
        if isinstance(node, ast.ClassDef):
            for method in filter(unfinished, node.body):
                assert f"`{node.name}.{method.name}`" in task  # type: ignore[attr-defined]
    assert "knightfall course check ." in task
    assert "knightfall course run ." in task
