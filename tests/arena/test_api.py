"""The functions match, tournament, league and worth: their reports and stored runs."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arena_helpers import all_rows
from cli_runner import run

import knightfall as kf
from knightfall.arena import runner as runners
from knightfall.arena.results import RunReport
from knightfall.arena.run_options import RunKeywords, RunOptions
from knightfall.display.report import as_text

SMALL: dict[str, Any] = {"board": "4x4", "workers": 0, "progress": False}
DEPTH = ["--budget", "depth=2"]
ON_4X4 = ["--board", "4x4", "--workers", "0", "--json"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def every_kind() -> list[RunReport]:
    return [
        kf.match("greedy(improved)", "random", pairs=5, **SMALL),
        kf.match("random", "greedy(open)", sprt=(0, 400), **SMALL),
        kf.tournament(["greedy(improved)", "greedy(open)"], ["random"], pairs=4, **SMALL),
        kf.league(["greedy(improved)", "greedy(open)", "random"], pairs=3, **SMALL),
        kf.worth("improved", "open", nodes=[5, 20], times=(), pairs=3, **SMALL),
    ]


@pytest.mark.parametrize(
    ("event", "agents"),
    [(kf.match, ("random",) * 2), (kf.tournament, ()), (kf.league, ((),)), (kf.worth, ("open",))],
)
def test_every_event_shows_the_options_of_a_run(
    event: Callable[..., RunReport], agents: tuple[Any, ...]
) -> None:
    shown = inspect.signature(event).parameters
    for field in fields(RunOptions):
        assert shown[field.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert shown[field.name].default == field.default
    assert "options" not in shown
    with pytest.raises(TypeError, match=rf"^{event.__name__}\(\) .*unexpected .* 'sede'$"):
        event(*agents, sede=1)


def test_type_checkers_know_the_options_of_a_run() -> None:
    assert {field.name: field.type for field in fields(RunOptions)} == {
        name: kind.__forward_arg__ for name, kind in RunKeywords.__annotations__.items()
    }


def test_every_event_reports_in_every_way(data: Path) -> None:
    for report in every_kind():
        assert report.finished
        assert not report.interrupted
        content = report.to_dict()
        assert json.loads(json.dumps(content, allow_nan=False)) == content
        assert content["kind"] == report.plan.kind
        text = str(report)
        assert text.startswith(f"{2 * content['pairs']} games on 4×4 · seed 0")
        html = report._repr_html_()
        assert html.startswith(f"<p>{2 * content['pairs']} games on 4×4")
        assert ("<table>" in html) == (report.plan.kind != "match")
        assert report.plot().axes
    assert not data.exists()  # nothing was written anywhere


@pytest.mark.parametrize(
    ("event", "command"),
    [
        (
            lambda **how: kf.match("greedy(improved)", "random", pairs=5, seed=3, **how),
            ["match", "greedy(improved)", "random", "--pairs", "5", "--seed", "3"],
        ),
        (
            lambda **how: kf.tournament(["id(open)"], ["random"], pairs=2, budget="depth=2", **how),
            [
                "tournament",
                "--test",
                "id(open)",
                "--against",
                "random",
                "--pairs",
                "2",
                "--budget",
                "depth=2",
            ],
        ),
        (
            lambda **how: kf.league(["greedy(open)", "random"], pairs=3, stratify=True, **how),
            ["league", "greedy(open)", "random", "--pairs", "3", "--stratify"],
        ),
        (
            lambda **how: kf.worth("improved", "open", nodes=["5"], times=(), pairs=3, **how),
            ["worth", "improved", "open", "--nodes", "5", "--no-time", "--pairs", "3"],
        ),
    ],
    ids=["match", "tournament", "league", "worth"],
)
def test_a_command_says_what_the_call_says(event: Any, command: list[str]) -> None:
    called = event(**SMALL).to_dict()
    printed = json.loads(run(*command, *ON_4X4).stdout)
    for content in (called, printed):
        if content["kind"] == "worth":  # its report contains measured times, which differ
            del content["words"], content["price"]
    assert _timeless(called) == _timeless(printed)


def _timeless(content: Any) -> Any:
    text = json.dumps(content)
    return json.loads(re.sub(r'"(mean_microseconds)": [0-9.e-]+', r'"\1": 0', text))


def test_a_stored_event_is_found_again_and_one_in_memory_is_not(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    notices: list[str] = []
    for _ in range(2):
        kf.match("greedy(open)", "random", pairs=4, store=file, notice=notices.append, **SMALL)
        kf.match("greedy(open)", "random", pairs=4, notice=notices.append, **SMALL)
    assert notices == ["run 1 was played before; --again plays it anew"]
    again = kf.match("greedy(open)", "random", pairs=4, store=file, again=True, **SMALL)
    assert again.run.id == 2


# -- continued runs --------------------------------------------------------------------------


def without_run(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return all rows without run numbers, dates and the times that moves took."""
    rows.pop("runs")
    thinking = [row[:6] + row[7:] for row in rows.pop("thinking")]
    figures = [row[:10] for row in rows.pop("games")]
    tallies = [row[:13] for row in rows.pop("tallies")]
    return {**rows, "thinking": thinking, "games": figures, "tallies": tallies}


@pytest.mark.parametrize(("before", "wanted"), [(4, 7), (7, 4)])
def test_another_number_of_pairs_takes_over_what_was_played(
    tmp_path: Path, before: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = "greedy(improved)", "greedy(open)", "random"
    once, more = tmp_path / "once.sqlite", tmp_path / "more.sqlite"
    kf.league(agents, pairs=wanted, store=once, **SMALL)
    kf.league(agents, pairs=before, store=more, **SMALL)
    notices: list[str] = []
    report = kf.league(agents, pairs=wanted, store=more, notice=notices.append, **SMALL)
    assert report.run.id == 2
    kept = min(before, wanted)
    assert notices == [f"continuing run 2 after {3 * kept} of {3 * wanted} pairs"]
    assert without_run(all_rows(more, 2)) == without_run(all_rows(once, 1))


def test_a_test_that_was_decided_stays_decided_with_more_pairs(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    decided = {"sprt": (0.0, 400.0), "store": file, **SMALL}
    first = kf.match("greedy(improved)", "random", pairs=150, **decided)
    assert first.accepted == "H1"
    second = kf.match("greedy(improved)", "random", pairs=200, **decided)
    assert (second.accepted, second.pairs) == ("H1", first.pairs)


def test_nothing_is_taken_over_from_another_seed_or_when_asked_to_play_again(
    tmp_path: Path,
) -> None:
    file = tmp_path / "runs.sqlite"
    notices: list[str] = []
    how = {"store": file, "notice": notices.append, **SMALL}
    kf.match("greedy(open)", "random", pairs=3, **how)
    kf.match("greedy(open)", "random", pairs=4, seed=1, **how)
    kf.match("greedy(open)", "random", pairs=5, again=True, **how)
    assert notices == []


# -- choice of the runner ----------------------------------------------------------------------


def test_a_short_run_hires_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a pool was started")

    monkeypatch.setattr(runners, "Pool", never)
    report = kf.match("greedy(open)", "random", pairs=20, board="4x4", progress=False)
    assert sum(report.pairs) == 20


def test_a_long_run_is_handed_over_and_comes_out_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runners, "TRIAL", 0.0)
    monkeypatch.setattr(runners, "WORTH_STARTING", 0.0)
    monkeypatch.setattr(runners, "cores", lambda: 2)
    started: list[int] = []
    pool = runners.Pool

    def noted(*given: Any, **more: Any) -> Any:
        started.append(given[0])
        return pool(*given, **more)

    monkeypatch.setattr(runners, "Pool", noted)
    agents = "id(improved, nodes=6000)", "id(open, nodes=6000)"
    shared = kf.match(*agents, pairs=60, progress=False)
    alone = kf.match(*agents, pairs=60, workers=0, progress=False)
    assert started == [2]
    assert shared.pairs == alone.pairs
    assert [one.games for one in shared.run.pairs()] == [one.games for one in alone.run.pairs()]


@pytest.mark.parametrize(("ready", "here"), [(1, 2), (10, 11), (99, 30)])
def test_a_run_is_played_here_until_the_workers_are_ready(
    ready: int, here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check who plays 30 pairs if the workers are ready after `ready` of them."""
    played: dict[str, list[int]] = {"here": [], "there": []}

    def runner(where: str) -> Any:
        def play(tasks: Iterator[int]) -> Iterator[int]:
            for task in tasks:
                played[where].append(task)
                yield task

        workers = SimpleNamespace(start=lambda: None, ready=False)
        return SimpleNamespace(play=play, close=lambda: None, pool=workers)

    pool = runner("there")
    monkeypatch.setattr(runners, "TRIAL", -1.0)
    monkeypatch.setattr(runners, "WORTH_STARTING", -1.0)
    monkeypatch.setattr(runners, "InProcess", lambda *_: runner("here"))
    monkeypatch.setattr(runners, "Pool", lambda *_: pool)
    found = []
    tasks: Any = iter(range(30))
    for number, record in enumerate(runners.Adaptive(2, 30).play(tasks), start=1):
        found.append(record)
        pool.pool.ready = number >= ready
    assert found == [*range(30)]
    assert played == {"here": [*range(here)], "there": [*range(here, 30)]}


def test_a_heuristic_that_only_this_process_knows_is_played_here() -> None:
    @kf.heuristic
    def only_in_this_test(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
        return 1.0

    report = kf.match("greedy(only_in_this_test)", "random", pairs=2, board="4x4", progress=False)
    assert sum(report.pairs) == 2
    with pytest.raises(kf.KnightfallError, match="a function of this process"):
        kf.match("greedy(only_in_this_test)", "random", pairs=2, workers=2)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"pairs": 3, "board": "7"}, "board '7' cannot be read"),
        ({"budget": "fast"}, "budget 'fast' cannot be read"),
        ({"workers": 999}, "workers=999"),
        ({"pairs": 0}, "pairs=0 must be a whole number from 1 on"),
        ({"pairs": 2.5}, "pairs=2.5 must be a whole number from 1 on"),
        ({"book": []}, "at least one position"),
        ({"book": ["4/4/4/4[Nn] w"]}, "book, position 1: '4/4/4/4.*' still has a knight to place"),
    ],
)
def test_bad_options_are_named(how: dict[str, Any], said: str) -> None:
    with pytest.raises(kf.KnightfallError, match=said):
        kf.match("random", "greedy(open)", **how)


def test_one_agent_is_no_list_of_letters() -> None:
    report = kf.tournament("greedy(improved)", "random", pairs=2, **SMALL)
    assert [entrant.agent for entrant in report.plan.entrants] == ["greedy(improved)", "random"]
    with pytest.raises(kf.KnightfallError, match="two agents or more, not only 'random'"):
        kf.league("random", **SMALL)


# -- what is shown -----------------------------------------------------------------------------


def test_a_run_in_which_nobody_could_play_measures_nothing(tmp_path: Path) -> None:
    body = "    return 1 // (board.width - 4)"  # it works on 7×7, on which agents are tried
    (tmp_path / "bad.py").write_text(f"def score(board, open, me, opp, to_move):\n{body}\n")
    bad = f"greedy({tmp_path}/bad.py:score)"
    report = kf.match(bad, f"id({tmp_path}/bad.py:score, depth=2)", pairs=2, **SMALL)
    text = str(report)
    assert text.endswith("Every game was lost by crash: nothing was measured.")
    assert "cannot tell" not in text
    assert "Elo" not in text
    assert report.to_dict()["nothing_measured"]


def test_a_whitewash_has_one_elo() -> None:
    report = kf.match("id(improved, depth=6)", "random", pairs=1, seed=2, board="5x5", workers=0)
    content = report.to_dict()
    assert content["elo"] == content["agents"][0]["elo"]
    assert content["elo_error"] == content["agents"][0]["elo_error"]


@pytest.mark.parametrize("width", [60, 80])
def test_no_number_is_cut_on_a_narrow_screen(width: int) -> None:
    agents = [
        f"id({id}, depth={depth})" for id in ("improved", "open", "center") for depth in (1, 2)
    ]
    for report in (
        kf.league(agents, pairs=6, **SMALL),
        kf.tournament(agents[:5], agents[3:], pairs=3, **SMALL),
    ):
        narrow, wide = as_text(report.parts(), width), as_text(report.parts(), None)
        assert max(map(len, narrow.splitlines())) <= width
        numbers = r"[+−]?[0-9][0-9.,]*(?: (?:%|± [0-9∞]+|[–|] [0-9]+))?"
        assert _tally(numbers, narrow) >= _tally(numbers, wide)


def _tally(pattern: str, text: str) -> set[str]:
    return set(re.findall(pattern, text))


def test_a_fraction_is_no_folder() -> None:
    """Check that a short name drops the folder of a file, but keeps the slash of a fraction."""
    found = kf.league(
        [f"id(static_reach(1/{root}), nodes=50)" for root in (2, 3)],
        pairs=1, board="5x5", workers=0, progress=False,
    )  # fmt: skip
    assert {"static_reach(1/2)", "static_reach(1/3)"} <= set(str(found).split())
