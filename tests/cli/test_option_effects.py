"""Effects of options that a command handles itself and that no other test asserts."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arena_helpers import fake_plan, fake_run
from cli_runner import answer, refused, run
from matplotlib.figure import Figure
from rich.console import Console

from knightfall.arena.store import Store
from knightfall.cli import game_views
from knightfall.cli.commands import games
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.learning.fitting import FitReport
from knightfall.statistics.sprt import Sprt
from knightfall.studies import reproduction
from knightfall.web import commands as serve


@pytest.fixture(autouse=True)
def no_store_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set an empty data folder, so that a command that ignores --store finds no run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "empty"))


@pytest.fixture
def store(tmp_path: Path) -> str:
    fake_run(tmp_path / "there.sqlite", fake_plan(1, 5))
    return str(tmp_path / "there.sqlite")


@pytest.mark.parametrize(
    "line",
    [
        ["runs", "show"],
        ["runs", "games"],
        ["runs", "replay"],
        ["runs", "plot", "--kind", "score"],
        ["runs", "export", "--format", "csv"],
        ["runs", "backup", "copy.sqlite"],
    ],
    ids=lambda line: line[0],
)
def test_runs_are_those_of_the_store_that_is_given(line: list[str], store: str) -> None:
    assert run(*line).exit_code == 2
    result = run(*line, "--store", store)
    assert result.exit_code == 0, result.output


def test_a_run_is_written_in_the_format_that_is_asked_for(store: str) -> None:
    begin = {"csv": "run,pair,game", "jsonl": "{", "text": "% {"}
    for format, letters in begin.items():
        result = run("runs", "export", "--format", format, "--store", store)
        assert result.stdout.startswith(letters)


def test_a_run_is_imported_into_the_store_that_is_given(store: str, tmp_path: Path) -> None:
    run("runs", "export", "--format", "jsonl", "--output", "run.jsonl", "--store", store)
    told = answer("runs", "import", "run.jsonl", "--store", "new.sqlite", "--json")
    assert told == {"run": 1, "pairs": 5}
    with Store.open(tmp_path / "new.sqlite", read_only=True) as opened:
        assert opened.last().played == 5
    assert not (tmp_path / "empty").exists()


def test_a_replay_waits_as_long_as_it_is_told(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(games, "console", lambda: Console(force_terminal=True))
    monkeypatch.setattr(game_views, "animate", lambda *of: waited.append(of[-1]))
    run("runs", "replay", "--store", store)
    run("runs", "replay", "--store", store, "--delay", "2500ms")
    assert waited[1] == 2.5 != waited[0]


# -- reproduce -------------------------------------------------------------------------------------


@pytest.fixture
def reproduced(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs `reproduce` and returns its plans and the report's arguments."""
    told: dict[str, Any] = {}

    def play_all(plans: list[Any], *args: Any, **named: Any) -> tuple[list[None], bool]:
        told["kinds"] = {plan.kind for plan in plans}
        return [None] * len(plans), False

    def build(*args: Any, **named: Any) -> None:
        told.update(grades=args[3], choices=named["choices"], command=named["command"])
        raise SystemExit

    monkeypatch.setattr(reproduction, "play_all", play_all)
    monkeypatch.setattr(reproduction, "build_report", build)
    monkeypatch.setattr(reproduction, "_graded", lambda *args: ["graded"])
    monkeypatch.setattr(reproduction, "_choices", lambda *args: {"chosen": 1})

    def ask(*options: str) -> dict[str, Any]:
        told.clear()
        result = run("reproduce", "directional", "--budget", "nodes", "--pairs", "3", *options,
                     "--store", "new.sqlite", "--output", "there")  # fmt: skip
        assert told, result.output
        return dict(told)

    return ask


def test_reproduce_leaves_out_what_is_not_wanted(reproduced: Any) -> None:
    whole = reproduced()
    assert "league" in whole["kinds"]
    assert (whole["grades"], whole["choices"]) == (["graded"], {"chosen": 1})
    ungraded = reproduced("--no-grades")
    assert ungraded["kinds"] == whole["kinds"]
    assert (ungraded["grades"], ungraded["choices"]) == ([], {})
    alone = reproduced("--no-league")
    assert "league" not in alone["kinds"]
    assert (alone["grades"], alone["choices"]) == ([], {"chosen": 1})
    assert [one["command"].partition("--seed 0")[2] for one in (whole, ungraded, alone)] == [
        "",
        " --no-grades",
        " --no-league",
    ]


def test_reproduce_fits_only_if_asked_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def fitted(chosen: Any, seed: int, options: RunnerOptions, notice: Any) -> None:
        asked.append((seed, options.workers))
        raise SystemExit

    monkeypatch.setattr(reproduction, "_fitted", fitted)
    monkeypatch.setattr(
        reproduction, "play_all", lambda *args, **named: asked.append("played") or exit()
    )
    of = ["reproduce", "directional", "--budget", "course", "--output", "there"]
    run(*of, "--seed", "7", "--workers", "3", "--store", "new.sqlite")
    run(*of, "--seed", "7", "--workers", "3", "--store", "new.sqlite", "--fit")
    assert asked == ["played", (7, 3)]
    assert (tmp_path / "there").is_dir()


def test_the_progress_of_reproduce_counts_the_grades_that_were_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[int] = []

    def grades(ids: list[str], *, progress: Any, **named: Any) -> list[None]:
        return [progress(done) for done in (3, 4, 5)]

    monkeypatch.setattr(reproduction, "missing_grades", lambda ids, seed: 2)
    monkeypatch.setattr(reproduction, "grade_heuristics", grades)
    monkeypatch.setattr(reproduction, "progress", lambda what, of: nullcontext(shown.append))
    reproduction._graded(["open"] * 5, 0, RunnerOptions(), print)
    assert shown == [0, 1, 2]


# -- the lab ---------------------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the server; return the store path it got and the addresses opened in a browser."""
    told: dict[str, Any] = {"shown": []}
    address = SimpleNamespace(loopback=True, url="http://there", host="there", port=1)
    monkeypatch.setattr("knightfall.web.lab.server.listen", lambda host, port: (None, address))
    monkeypatch.setattr("knightfall.isolation.sigint.enable_keyboard_interrupt", lambda: None)
    monkeypatch.setattr(serve, "_has_display", lambda: True)
    monkeypatch.setattr("webbrowser.open", told["shown"].append)

    def lab(listening: Any, address: Any, files: list[str], store: str, key: str = "") -> int:
        told["store"], told["key"] = store, key
        return 0

    monkeypatch.setattr("knightfall.web.lab.server.serve", lab)
    return told


def test_the_lab_serves_the_store_that_it_is_given(served: dict[str, Any], tmp_path: Path) -> None:
    run("serve", "--store", "there.sqlite")
    assert served["store"] == str(tmp_path / "there.sqlite")


def test_a_key_is_in_the_address_that_is_opened(served: dict[str, Any]) -> None:
    run("serve", "--key")
    assert len(served["key"]) >= 32
    assert served["shown"] == [f"http://there?key={served['key']}"]


def test_a_browser_opens_unless_it_is_not_wanted(served: dict[str, Any]) -> None:
    run("serve", "--no-browser")
    assert served["shown"] == []
    run("serve")
    assert served["shown"] == ["http://there"]


# -- the page --------------------------------------------------------------------------------------


def test_a_page_is_one_file_if_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def write_site(folder: Path) -> list[Path]:
        folder.mkdir()
        (folder / "index.html").write_text("several files")
        return [folder / "index.html"]

    monkeypatch.setattr("knightfall.web.site.write_site", write_site)
    monkeypatch.setattr("knightfall.web.site.single_file", lambda: "one file")
    told = answer("site", "one.html", "--single-file", "--json")
    assert (tmp_path / "one.html").read_text() == "one file"
    assert (told["page"], told["files"]) == ("one.html", ["one.html"])
    told = answer("site", "several", "--json")
    assert (told["page"], told["files"]) == ("several/index.html", ["several/index.html"])


def test_a_file_of_the_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "there" / "index.html").mkdir(parents=True)
    said = refused("site", "there")
    assert said.startswith(f"knightfall: {Path('there') / 'index.html'}: ")


# -- others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "called"),
    [
        (["learn", "fit", "data", "there"], "knightfall.learning.fitting.fit"),
        (["learn", "tune", "improved+2*open", "there"], "knightfall.learning.tuning.run_tuning"),
    ],
    ids=["fit", "tune"],
)
def test_what_was_learned_is_drawn_where_it_is_told(
    line: list[str], called: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    judged = dict.fromkeys(
        ("positions", "won", "log-loss", "log-loss of the share alone", "area", "right"), 1
    )
    report = FitReport("data", "there", 0, {"linear": {"hunter": judged}})
    monkeypatch.setattr(called, lambda *args, **named: report)
    monkeypatch.setattr(FitReport, "plot", lambda self: Figure())
    assert run(*line).exit_code == 0
    assert not list(tmp_path.glob("*.svg"))
    drawn = [*line, "--chart", "here.svg"]
    assert run(*drawn).exit_code == 0
    chart = tmp_path / "here.svg"
    assert chart.read_text("utf-8").startswith("<?xml")
    chart.write_text("mine")
    assert "--force" in refused(*drawn)
    assert chart.read_text() == "mine"
    assert run(*drawn, "--force").exit_code == 0
    assert chart.read_text() != "mine"


@pytest.mark.parametrize("line", [["pairs", "10", "80", "31"], ["games", "136", "96", "11"]])
def test_statistics_heed_every_option_of_their_test(line: list[str]) -> None:
    for option, value in (("alpha", 0.01), ("beta", 0.2), ("model", "logistic")):
        told = answer("stats", *line, "--sprt", "3,45", f"--{option}", str(value), "--json")
        test = Sprt(3, 45, **{option: value})
        counts = [int(word) for word in line[1:]]
        if line[0] == "pairs":
            wanted = test.llr((counts[0], 0, counts[1], 0, counts[2]))
        else:
            wanted = test.llr_of_games(*counts)
        assert told["llr"] == wanted
        assert (told["lower"], told["upper"]) == test.bounds
