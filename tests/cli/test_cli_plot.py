"""``knightfall runs plot``: charts, files and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chart_runs import SPRT, league_plan, match_plan, play
from cli_runner import run

from knightfall.arena.chart_style import image
from knightfall.arena.charts import CHARTS, draw
from knightfall.arena.results import results
from knightfall.arena.store import Store

LEAGUE, MATCH, TESTED, NOTHING = "1", "2", "3", "4"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plot") / "store.sqlite"
    with Store.open(path) as opened:
        play(opened, league_plan(pairs=2))
        play(opened, match_plan(pairs=8))
        play(opened, match_plan(pairs=8, stop=SPRT))
        play(opened, match_plan(pairs=9, seed=5), played=0)
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def plot(store: Path, here: Path) -> Any:
    return lambda *args: run("runs", "plot", *args, "--store", str(store))


def written(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_charts_that_fit_are_written_here(plot: Any, here: Path, store: Path) -> None:
    result = plot(LEAGUE)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ("ratings: run-1-ratings.svg\ncrosstable: run-1-crosstable.svg\n")
    assert written(here) == ["run-1-crosstable.svg", "run-1-ratings.svg"]
    with Store.open(store, read_only=True) as opened:
        figure = draw("crosstable", results(opened.run(1)))
        assert (here / "run-1-crosstable.svg").read_bytes() == image(figure, "svg")


def test_the_last_run_is_the_default(store: Path, here: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.sqlite") as opened:
        play(opened, league_plan(pairs=1))
        play(opened, match_plan(pairs=5))
    result = run("runs", "plot", "--store", str(tmp_path / "other.sqlite"))
    assert result.exit_code == 0, result.stderr
    assert written(here) == ["run-2-score.svg"]


def test_a_kind_and_a_file(plot: Any, here: Path) -> None:
    assert plot(TESTED, "--kind", "llr", "--output", "path.PNG").exit_code == 0
    assert written(here) == ["path.PNG"]
    assert (here / "path.PNG").read_bytes().startswith(b"\x89PNG")
    assert plot(MATCH, "--output", "only.svg").exit_code == 0  # only one chart fits
    assert "<svg" in (here / "only.svg").read_text("utf-8")


@pytest.mark.parametrize("folder", ["charts", "charts/", "charts/of/today", "v1.0/"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_is_made_if_it_is_missing(
    plot: Any, here: Path, folder: str, exists: bool
) -> None:
    if exists:
        (here / folder).mkdir(parents=True)
    result = plot(TESTED, "--output", folder)
    assert result.exit_code == 0, result.stderr
    assert written(here / folder) == ["run-3-llr.svg", "run-3-score.svg"]


def test_the_folder_of_a_file_is_made_if_it_is_missing(plot: Any, here: Path) -> None:
    assert plot(MATCH, "--output", "charts/of/today.png").exit_code == 0
    assert written(here / "charts" / "of") == ["today.png"]


def test_scripts_learn_what_was_written(plot: Any, here: Path) -> None:
    result = plot(TESTED, "--json")
    assert json.loads(result.stdout) == {
        "run": 3,
        "charts": [
            {"kind": "llr", "file": "run-3-llr.svg"},
            {"kind": "score", "file": "run-3-score.svg"},
        ],
    }


def test_files_are_replaced_only_by_force(plot: Any, here: Path) -> None:
    (here / "run-1-crosstable.svg").write_text("mine")
    result = plot(LEAGUE)
    assert result.exit_code == 2
    assert "file 'run-1-crosstable.svg' exists: --force replaces it" in result.stderr
    assert written(here) == ["run-1-crosstable.svg"]  # neither file was written
    assert (here / "run-1-crosstable.svg").read_text() == "mine"
    assert plot(LEAGUE, "--force").exit_code == 0
    assert "<svg" in (here / "run-1-crosstable.svg").read_text("utf-8")
    assert written(here) == ["run-1-crosstable.svg", "run-1-ratings.svg"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([LEAGUE, "--kind", "llr"], "run 1 is a league, which has no chart 'llr'"),
        ([MATCH, "--kind", "llr"], "a match without a sequential test"),
        ([LEAGUE, "--kind", "ratngs"], "unknown chart 'ratngs'"),
        ([NOTHING], "run 4 has no games yet"),
        (["5"], "no run 5"),
        (["five"], "run 'five' must be a number or last"),
        ([MATCH, "--output", "chart.jpg"], "file 'chart.jpg': the name must end in"),
        ([LEAGUE, "--output", "chart.jpg"], "file 'chart.jpg': the name must end in"),
        ([MATCH, "--output", "taken/chart.svg"], "taken' is a file: name a folder"),
        ([MATCH, "--output", "taken/"], "taken' is a file: name a folder"),
        ([MATCH, "--output", "taken"], "taken' is a file: name a folder"),
        ([LEAGUE, "--output", "all.svg"], "say which chart with --kind, ratings or crosstable"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    args: list[str], message: str, plot: Any, here: Path
) -> None:
    (here / "taken").touch()
    result = plot(*args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert written(here) == ["taken"]


def test_a_store_that_is_not_there_is_not_made(here: Path) -> None:
    result = run("runs", "plot", "--store", "none.sqlite")
    assert result.exit_code == 2
    assert written(here) == []


def test_help_names_every_chart() -> None:
    shown = run("runs", "plot", "--help").stdout
    assert all(name in shown for name in CHARTS)
