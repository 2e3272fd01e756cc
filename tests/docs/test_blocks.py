"""Every code block of the docs runs: Python as it stands, commands with fewer games."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cli_runner import run, stderr_of, subcommands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

FEWER = {
    "tournament": ["--pairs", "1", "--budget", "nodes=50", "--workers", "0"],
    "match": ["--pairs", "2", "--budget", "nodes=50", "--workers", "0"],
    "league": ["--pairs", "1", "--budget", "nodes=50", "--workers", "0"],
    "worth": ["--pairs", "1", "--nodes", "50", "--workers", "0"],
    "grade": ["--openings", "2"],
    "solve": ["--nodes", "3000000"],
}
"""Options added to a command of the docs to make it quick; if an option is given twice, the last
counts.
"""

QUICKER = {"train_policy": ["--seconds", "1", "--pairs", "1"]}
"""Arguments of examples that would otherwise take minutes."""

INPUT = {"play": "quit\n"}

NOT_HERE = re.compile(
    r"reproduce|bench|knightfall serve|atlas build|atlas certify|--dask|tcp://|--install-completion|"
    r"play --resume"
)
"""Commands that are only parsed, because they take minutes, do not end, or need a cluster or a
shell.
"""


if find_spec("pyspiel") is None:
    PAGES.remove(ROOT / "docs" / "openspiel.md")  # its extra is not installed
if find_spec("anywidget") is None:
    PAGES.remove(ROOT / "docs" / "notebooks.md")


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with what the pages assume: mine.py, runs of every kind, and a saved game."""
    folder = tmp_path_factory.mktemp("reader")
    (mine,) = blocks(ROOT / "README.md", "python")
    choose = "def choose(position):\n    return position.legal_moves[0]\n"
    (folder / "mine.py").write_text(f"{mine}\n\nscore = cosy\n\n\n{choose}")
    games = folder / "data" / "games"
    games.mkdir(parents=True)
    game = '{"format": "knightfall game 1", "start": "7/7/1N5/7/7/4n2/7 w", "moves": ["d4"], '
    game += '"you": "first", "agent": "random", "resigned": false}'
    (games / "20260101-000000-1.json").write_text(game)
    for number in range(4 if shutil.which("git") else 0):  # pages name earlier commits
        git = ["git", "-C", str(folder), "-c", "user.name=reader", "-c", "user.email=reader@home"]
        subprocess.run([*git, "init", "--quiet"], check=True)
        subprocess.run([*git, "add", "mine.py"], check=True)
        words = ["commit", "--quiet", "--allow-empty", "--message", f"version {number}"]
        subprocess.run([*git, *words], check=True)
    at = ["--board", "5x5", "--workers", "0"]
    (folder / "charts").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNIGHTFALL_DATA_DIR", str(folder / "data"))
        for args in (
            ["match", "greedy(improved)", "random", "--pairs", "20", *at],
            ["tournament", "--pairs", "1", "--budget", "nodes=20", *at],
            ["league", "AB_Improved", "id(main)", "greedy(open)", "--pairs", "6", *at],
        ):
            assert run(*args).exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def folder(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a new copy of that folder, one for each block."""
    reader = tmp_path / "reader"
    shutil.copytree(library, reader)
    monkeypatch.chdir(reader)
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(reader / "data"))
    return reader


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("page", pages_with("pycon"), ids=lambda page: page.name)
def test_sessions_run_as_printed(page: Path) -> None:
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    session = "\n".join(blocks(page, "pycon"))
    example = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    told: list[str] = []
    results = doctest.DocTestRunner(optionflags=options).run(example, out=told.append)
    assert results.failed == 0, "".join(told)
    assert results.attempted


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.name)
def test_programs_run(page: Path) -> None:
    if page.name == "writing-a-heuristic.md":
        pytest.skip("test_docs looks at its heuristics, one of which is wrong on purpose")
    space: dict[str, Any] = {"__name__": "reader"}
    for number, block in enumerate(blocks(page, "python"), start=1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), space)


def commands() -> Iterator[Any]:
    """Yield each command of the pages once, even if several pages show it."""
    seen: set[str] = set()
    for page in PAGES:
        for block in blocks(page, "console"):
            for line in block.splitlines():
                command = line.removeprefix("$ ")
                said = command.partition("#")[0].rstrip()
                if line.startswith("$ knightfall ") and said not in seen:
                    seen.add(said)
                    yield pytest.param(command, id=f"{page.name}: {command[:60]}")


@pytest.mark.parametrize("command", [*commands()])
def test_commands_work(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightfall.oracle.check.TIMING", 0.02)
    if NOT_HERE.search(command) or ("@HEAD" in command and not shutil.which("git")):
        parsed(command)
        return
    said = ""
    for part in command.split(" | "):
        if not part.startswith("knightfall "):
            break
        part = part.replace("time=1s", "time=50ms")
        args = shlex.split(re.sub(r" > \S+$", "", part), comments=True)[1:]
        more = ["--yes"] if "delete" in args else FEWER.get(args[0], [])
        result = run(*args, *more, input=INPUT.get(args[0], said))
        assert result.exit_code == 0, result.output + stderr_of(result)
        said = result.stdout


def parsed(command: str) -> None:
    """Parse a command without running it; raise an error if an option does not exist."""
    from typer.main import get_command

    from knightfall.cli.app import app

    args = shlex.split(command, comments=True)[1:]
    group: Any = get_command(app)
    while args and args[0] in subcommands(group):
        group = subcommands(group)[args.pop(0)]
    group.make_context("knightfall", args)


WITHOUT_TORCH = sorted({*(ROOT / "examples").glob("*.py")} - {ROOT / "examples" / "train_ppo.py"})


@pytest.mark.slow
def test_the_example_with_torch_runs(folder: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="MaskablePPO is in sb3-contrib")
    copy = shutil.copy(ROOT / "examples" / "train_ppo.py", folder)
    command = [sys.executable, str(copy), "--moves", "16384", "--pairs", "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    assert "12 games on 7×7" in done.stdout
    assert "Keeps the win" in done.stdout
    assert (folder / "ppo.zip").is_file()


@pytest.mark.parametrize("example", WITHOUT_TORCH, ids=lambda e: e.stem)
def test_examples_run(
    example: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run each example as a script of this process: a process of its own takes a second longer.

    It is copied first, because it may write files beside itself.
    """
    monkeypatch.chdir(folder)
    copy = shutil.copy(example, folder)
    monkeypatch.setattr(sys, "argv", [str(copy), *QUICKER.get(example.stem, [])])
    runpy.run_path(str(copy), run_name="__main__")
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) > 4
    assert printed.err == ""
