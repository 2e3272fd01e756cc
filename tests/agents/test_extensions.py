"""Tests of extensions through entry points: an installed example package, and broken ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_rooms import EXTENSIONS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "knightfall"
PLAIN = "7/7/1N5/7/7/4n2/7 w"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example package into a folder, as pip does, and return that folder."""
    pytest.importorskip("hatchling", reason="hatchling builds the example package")
    folder = tmp_path_factory.mktemp("site")
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(folder)]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    subprocess.run([*command, str(ROOT / "examples" / "extension")], check=True)
    return folder


def knightfall(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "knightfall", *words],
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_kind_of_agent_plays(installed: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "runs.sqlite")
    found = knightfall(
        installed, "match", "worst(improved)", "greedy(improved)", "--pairs", "5", "--workers", "0",
        "--store", store,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "worst(improved)" in found.stdout
    listed = knightfall(installed, "agents")
    assert "the move after which the heuristic is worst" in listed.stdout
    refused = knightfall(installed, "match", "worst(improved, depth=3)", "random")
    assert refused.returncode == 2
    assert "worst takes a heuristic, seed" in refused.stderr


def test_a_heuristic_of_a_package_is_asked_and_searched_with(installed: Path) -> None:
    """Check that `eval` and `analyse` accept a heuristic of an installed package, and that a
    misspelt one is refused with a hint.
    """
    found = knightfall(installed, "eval", PLAIN, "--heuristic", "example:elbow_room", "--json")
    assert found.returncode == 0, found.stderr
    assert "example:elbow_room" in found.stdout
    moved = knightfall(
        installed, "analyse", PLAIN, "--agent", "id(2*example:elbow_room+open, depth=2)"
    )
    assert moved.returncode == 0, moved.stderr
    refused = knightfall(installed, "eval", PLAIN, "--heuristic", "example:elbow")
    assert refused.returncode == 2
    assert "elbow_room" in refused.stderr


def test_a_command_of_a_package_runs_and_is_listed(installed: Path) -> None:
    found = knightfall(installed, "mirror", PLAIN)
    assert (found.returncode, found.stdout) == (0, "7/7/5N1/7/7/2n4/7 w\n")
    *_, last = knightfall(installed, "--help").stdout.split("\n\n")
    assert last.startswith("Extensions:\n  mirror ")
    assert "Show a position in a mirror" in last
    refused = knightfall(installed, "mirror", "no position")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


def test_a_command_is_listed_in_the_panel_that_its_extension_names(tmp_path: Path) -> None:
    made = tmp_path / "panels-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: panels\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text("[knightfall.extensions]\npanels = tiled:EXTENSION\n")
    (tmp_path / "tiled.py").write_text(
        "from knightfall.extensions import Extension\n"
        "NAMES = ('asked', 'unknown', 'none', 'play')\n"
        "EXTENSION = Extension(\n"
        "    commands={name: 'tiled:command' for name in NAMES},\n"
        "    panels={'asked': 'Ask', 'unknown': 'Sing', 'play': 'Teach'},\n"
        ")\n"
        "def command() -> None:\n"
        "    'Do nothing.'\n"
    )
    panels = {
        title.rstrip(":"): [row.split()[0] for row in rows]
        for title, *rows in map(str.splitlines, knightfall(tmp_path, "--help").stdout.split("\n\n"))
    }
    assert panels["Ask"][-1] == "asked"
    assert panels["Extensions"] == ["unknown", "none"]
    assert panels["Play"] == ["play", "watch", "uci"]
    assert "play" not in panels["Teach"]


def shown_parts(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Print, in a new process, the lab's list of page parts and the HTML of the named ones."""
    code = (
        "import sys; from knightfall.web.lab.lab_state import fragment_of, page_parts;"
        "print([(name, one.title) for name, one in page_parts().items()]);"
        "[print(fragment_of(name)) for name in sys.argv[1:]]"
    )
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", code, *names],
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_part_of_the_page_is_listed_and_shown(installed: Path) -> None:
    found = shown_parts(installed, "replies")
    assert found.returncode == 0, found.stderr
    listed, _, html = found.stdout.partition("\n")
    assert listed == "[('studies', 'Studies'), ('replies', 'Replies')]"
    assert html.startswith("<h2>Replies</h2>")
    assert html.count("<tr>") == 6
    assert '<tr><th scope="row">a3</th>' in html


def test_a_broken_part_of_the_page_disables_itself_only(tmp_path: Path) -> None:
    made = tmp_path / "torn-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: torn\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text("[knightfall.extensions]\ntorn = torn:EXTENSION\n")
    (tmp_path / "torn.py").write_text(
        "from knightfall.extensions import Extension, PagePart\n"
        "NAMES = ('missing', 'number', 'lab', 'No way', 'fails', 'whole')\n"
        "EXTENSION = Extension(pages={name: f'torn:{name[:2]}' for name in NAMES})\n"
        "nu = 7\n"
        "la = No = wh = PagePart('Whole', lambda: '<p>whole</p>')\n"
        "fa = PagePart('Fails', lambda: 1 / 0)\n"
    )
    found = shown_parts(tmp_path, "whole")
    assert found.returncode == 0, found.stderr
    assert "('fails', 'Fails'), ('whole', 'Whole')]\n<p>whole</p>" in found.stdout
    lines = [line for line in found.stderr.splitlines() if "left out" in line]
    assert [line.partition("page part ")[2].partition(" of")[0] for line in lines] == [
        "'missing'", "'number'", "'lab'", "'No way'"
    ]  # fmt: skip
    assert all("extension 'torn'" in line for line in lines)
    assert "cannot be loaded: AttributeError" in lines[0]
    assert "torn:nu is 7, not a PagePart" in lines[1]
    failed = shown_parts(tmp_path, "fails")
    assert "cannot be shown: ZeroDivisionError: division by zero" in failed.stderr


def test_a_broken_extension_is_named_and_nothing_else_is_lost(tmp_path: Path) -> None:
    made = tmp_path / "broken-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "[knightfall.extensions]\nbroken = not_there:EXTENSION\nwrong = os:sep\n"
    (made / "entry_points.txt").write_text(points)
    found = knightfall(tmp_path, "agents")
    assert found.returncode == 0
    lines = found.stderr.splitlines()
    assert [line.split("'")[1] for line in lines] == ["broken", "wrong"]
    assert "No module named 'not_there'" in lines[0]
    assert "not an Extension" in lines[1]
    assert "champion" in found.stdout


def test_what_an_extension_promises_and_does_not_have_is_told(tmp_path: Path) -> None:
    made = tmp_path / "hollow-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: hollow\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text("[knightfall.extensions]\nhollow = hollow:EXTENSION\n")
    (tmp_path / "hollow.py").write_text(
        "from knightfall.extensions import Extension\n"
        "EXTENSION = Extension(agents={'air': 'hollow:Air'}, commands={'sigh': 'hollow:sigh'})\n"
    )
    for words in (["match", "air", "random"], ["sigh"]):
        found = knightfall(tmp_path, *words)
        assert found.returncode == 2
        assert "comes from the extension 'hollow', which cannot be loaded" in found.stderr
        assert found.stderr.count("\n") == 1
    assert "sigh" in knightfall(tmp_path, "--help").stdout


def test_a_module_that_is_missing_costs_nothing_else(tmp_path: Path) -> None:
    made = tmp_path / "hollow-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: hollow\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text("[knightfall.extensions]\nhollow = hollow:EXTENSION\n")
    (tmp_path / "hollow.py").write_text(
        "from knightfall.extensions import Extension\n"
        "EXTENSION = Extension(agents={'air': 'thin.air:Air'}, tables={'air': 'thin.air:table'})\n"
    )
    store = str(tmp_path / "runs.sqlite")
    found = knightfall(
        tmp_path, "match", "coded:main", "random", "--pairs", "1", "--workers", "0",
        "--store", store,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "the extension 'hollow' is left out: KnightfallError: 'air' comes from" in found.stderr


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an installed copy of the package that has no extensions."""
    folder = tmp_path_factory.mktemp("core")
    modules = [f"{name}.py" for name in EXTENSIONS]
    left_out = shutil.ignore_patterns(*EXTENSIONS, *modules, "__pycache__")
    shutil.copytree(
        PACKAGE,
        folder / "knightfall",
        ignore=lambda path, names: left_out(path, names) if Path(path) == PACKAGE else set(),
    )
    made = folder / "knightfall-0.1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: knightfall\nVersion: 0.1.0\n")
    (made / "entry_points.txt").write_text("[knightfall.extensions]\n")
    return folder


def test_the_core_does_without_its_extensions(core: Path) -> None:
    assert not (core / "knightfall" / "course").exists()
    listed = knightfall(core, "agents")
    assert listed.returncode == 0, listed.stderr
    assert "perfect" in listed.stdout
    assert "champion" not in listed.stdout
    told = knightfall(core, "--help").stdout
    assert "tournament" in told
    assert "reproduce" not in told
    refused = knightfall(core, "match", "champion", "random")
    assert refused.returncode == 2
    assert "unknown agent 'champion'" in refused.stderr
    moves = ("analyse", "--no-agent", PLAIN)
    assert knightfall(core, *moves).stdout == knightfall(PACKAGE.parent, *moves).stdout


@pytest.mark.slow
def test_the_core_s_own_tests_pass_without_its_extensions(core: Path) -> None:
    """Check that the tests of boards, kernels, searches, agents, statistics and games pass in a
    copy of the package without extensions.
    """
    tests = ["test_board.py", "test_position.py", "kernel", "statistics", "test_notation.py"]
    tests += ["search/test_search.py", "test_agents.py", "solver/test_perfect.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(str(ROOT / "tests" / name) for name in tests)],
        env={**os.environ, "PYTHONPATH": str(core)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
