"""The recipes of CONTRIBUTING.md: their blocks applied to a copy of the checkout, and used."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import knightfall
from knightfall.kernel.compile import cache_folder

ROOT = Path(__file__).parents[2]
PACKAGE = Path(knightfall.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

_BLOCK = re.compile(r"(?P<before>.*?)\n```(?P<language>\w+)\n(?P<block>.*?)```\n", re.DOTALL)
_EDIT = re.compile(
    r"(?P<how>Append to|Create|In) `(?P<file>[^`]+)`(?:,\s+before `(?P<place>[^`]+)`,\s+add)?:\n$"
)


@dataclass(frozen=True)
class Step:
    """A block of a recipe: commands, or text for a file and what to do with it."""

    block: str
    how: str = "Run"
    file: str = ""
    place: str = ""


def steps(title: str) -> Iterator[Step]:
    """Yield the steps of a recipe."""
    recipe = TEXT.partition(f"### {title}\n")[2].partition("\n### ")[0] + "\n"
    assert recipe.strip(), f"there is no recipe {title!r}"
    for found in _BLOCK.finditer(recipe):
        edit = _EDIT.search(found["before"])
        if found["language"] == "sh":
            yield Step(found["block"])
        else:
            assert edit is not None, f"nothing tells where this goes:\n{found['block']}"
            yield Step(found["block"], edit["how"], edit["file"], edit["place"] or "")


class Checkout:
    """A copy of the checkout that shares the machine code of unchanged modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = folder / "src" / "knightfall"
        no_bytecode = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, package, ignore=no_bytecode)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("studies"))
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=no_bytecode)
        shutil.copy(ROOT / "pyproject.toml", folder)
        self._declare_extensions()
        self._share_machine_code(package)

    def _declare_extensions(self) -> None:
        """Write package metadata with the entry points of pyproject.toml, as pip would."""
        project = (self.folder / "pyproject.toml").read_text("utf-8")
        points = re.search(r'entry-points."knightfall.extensions"\]\n(.*?)\n\n', project, re.DOTALL)
        assert points is not None
        made = self.folder / "src" / "knightfall-0.1.0.dist-info"
        made.mkdir()
        (made / "METADATA").write_text("Metadata-Version: 2.1\nName: knightfall\nVersion: 0.1.0\n")
        lines = points[1].replace('"', "")
        (made / "entry_points.txt").write_text(f"[knightfall.extensions]\n{lines}\n")

    def _share_machine_code(self, package: Path) -> None:
        """Link the copy's folders of Numba's cache, whose names are hashes of paths, to the
        original ones.
        """
        kept = cache_folder()
        shared = self.folder / "cache" / "machine-code"
        shared.mkdir(parents=True, mode=0o700)
        for part in [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())]:
            copied = package / part.relative_to(PACKAGE)
            ours, theirs = (_numba_folder(one) for one in (part, copied))
            for module in kept.glob("knightfall*") if kept else ():
                if (module / ours).is_dir():
                    (shared / module.name).mkdir(mode=0o700, exist_ok=True)
                    (shared / module.name / theirs).symlink_to(module / ours)

    def apply(self, title: str) -> list[str]:
        """Follow a recipe in the copy; return what its commands print."""
        printed = []
        for step in steps(title):
            if step.how == "Run":
                printed += [self.run(line) for line in step.block.strip().splitlines()]
                continue
            file = self.folder / step.file
            if step.how == "Create":
                assert not file.exists()
                file.write_text(step.block, "utf-8")
            elif step.how == "Append to":
                file.write_text(f"{file.read_text('utf-8')}\n\n{step.block}", "utf-8")
            else:
                text = file.read_text("utf-8")
                assert text.count(f"\n{step.place}") == 1, f"{step.place!r} in {step.file}"
                file.write_text(
                    text.replace(f"\n{step.place}", f"\n{step.block}{step.place}"), "utf-8"
                )
        return printed

    def run(self, line: str, code: int = 0) -> str:
        """Run a command of the recipe in the copy; return what it prints."""
        program, *words = shlex.split(line)
        start = {"knightfall": ["-m", "knightfall"], "python": []}[program]
        (self.folder / "data").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, *start, *words],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(self.folder / "src"),
                "KNIGHTFALL_CACHE_DIR": str(self.folder / "cache"),
                "KNIGHTFALL_DATA_DIR": str(self.folder / "data"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def page(self, name: str) -> str:
        """Return a page of the copy's docs."""
        return (self.folder / "docs" / name).read_text("utf-8")


def _numba_folder(folder: Path) -> str:
    return f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


def test_a_heuristic(checkout: Checkout) -> None:
    played, compared, _ = checkout.apply("Add a heuristic")
    assert "id(corner_bound, depth=2)" in played
    assert re.search(r"\d passed", compared)
    section = checkout.page("heuristics.md").partition("## lookahead")[2].partition("\n## ")[0]
    assert "| `corner_bound` | corners(me) − corners(opp) |" in section


@pytest.mark.slow
def test_a_study(checkout: Checkout) -> None:
    named, judged, _ = checkout.apply("Add a study")
    assert "half_corners" in named
    assert "Counting corners by half wins more games" in judged
    report = (checkout.folder / "corners-report" / "studies.md").read_text("utf-8")
    assert "corners: Corners by half" in report
    assert "| `half_corners` | **65.7**" in report
    section = checkout.page("heuristics.md").partition("## corners")[2].partition("\n## ")[0]
    assert "Moves into a corner count by half." in section
    assert "| `half_corners` |" in section
    assert "| corners | `corners:custom_score` | `half_corners` |" in checkout.page("heuristics.md")
    told = checkout.run("knightfall reproduce corner", code=2)
    assert "aggressive, corners; all means all of them" in told
    told = checkout.run("knightfall reproduce corners --budget time --pairs 1", code=2)
    assert "the cost of 'half_corners'" in told
    (checkout.folder / "src" / "knightfall" / "studies" / "corners.py").unlink()
    told = checkout.run("knightfall reproduce corners --budget nodes --pairs 1", code=2)
    assert "heuristic 'half_corners' has no function: No module named" in told


def test_an_agent_kind(checkout: Checkout) -> None:
    played, _ = checkout.apply("Add an agent kind")
    assert "first" in played
    assert "| `first` | the first legal move | `first` |" in checkout.page("agents.md")


def test_a_command(checkout: Checkout) -> None:
    role, listed = checkout.apply("Add a command")
    assert role == "hunter\n"
    assert "Tell whether the player to move hunts or runs" in listed
    refused = checkout.run("knightfall colour 7x7", code=2)
    assert "both knights must be on the board" in refused


def test_there_are_four_recipes() -> None:
    recipes = TEXT.partition("\n## Recipes\n")[2]
    titles = re.findall(r"^### (.*)$", recipes, re.MULTILINE)
    assert titles == ["Add a heuristic", "Add a study", "Add an agent kind", "Add a command"]
