"""Tests of tuning: better weights are found where they exist, and not claimed elsewhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_strategies import EXPRESSIONS
from cli_runner import answer, refused, run, stderr_of
from helpers import need
from hypothesis import example, given
from naive import NAIVE
from positions import images

import knightfall as kf
from knightfall.board import Board
from knightfall.display.numbers import percent
from knightfall.display.progress import Progress
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression, parse_heuristic
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.learning import tune_report, tune_settings, tuning
from knightfall.learning.split import class_splits, classes
from knightfall.learning.tune_settings import (
    TuneSettings,
    decimal,
    measured,
    numbers,
    rounded,
    sample,
    starts,
    with_numbers,
    written,
)
from knightfall.learning.tuning import Optimiser, generation_plan, generations_kept, run_tuning
from knightfall.position import Position
from knightfall.solver.atlas import canonical

need("cmaes")

WRONG = "improved-bfs_reach"
"""A sum with the wrong sign of bfs_reach: it avoids reachable cells."""

SMALL = (
    *("--board", "5x5", "--nodes", "60", "--second", "120", "--sprt", "0,60"),
    *("--generations", "3", "--population", "6", "--pairs", "25", "--step", "1"),
)


def asked(expression: str = WRONG, **other: Any) -> TuneSettings:
    """Return the settings that the options `SMALL` give on the command line."""
    where = {"board": "5x5", "nodes": 60, "second": 120, "sprt": (0, 60)}
    size = {"generations": 3, "population": 6, "pairs": 25, "step": 1.0}
    return TuneSettings.of(expression, **{**where, **size, **other})


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a tuning whose files the tests only read; return its folder."""
    folder = tmp_path_factory.mktemp("tuning") / "tuned"
    run_tuning(folder, asked(), progress=False)
    return folder


@pytest.fixture
def copy(tuned: Path, tmp_path: Path) -> Path:
    """Copy the tuning's folder for tests that damage it."""
    return Path(shutil.copytree(tuned, tmp_path / "copy"))


def texts(folder: Path) -> dict[str, str]:
    """Return all result files as texts."""
    names = ("tuning.json", "result.json", "expression.txt")
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


# -- what it finds -------------------------------------------------------------------------------


def test_a_wrong_sign_is_found_and_the_gain_is_confirmed(tuned: Path) -> None:
    found = json.loads((tuned / "result.json").read_text(encoding="utf-8"))
    (_, first), (weight, second) = parse_heuristic(found["tuned"]).terms
    assert (str(first), str(second)) == ("improved", "bfs_reach")
    assert weight > -1
    assert found["verdict"] == "gained"
    assert [one["verdict"] for one in found["confirmations"]] == ["gained", "gained"]
    assert found["words"] == (
        "Gained: the tuned weights are better than those given at nodes=60 and nodes=120."
    )
    assert found["expression"] == found["tuned"]
    expression = (tuned / "expression.txt").read_text(encoding="utf-8").strip()
    assert expression == found["expression"]
    # The gain also shows on other openings and against other agents.
    agents = f"id({expression}, nodes=60)", f"id({WRONG}, nodes=60)"
    report = kf.match(*agents, pairs=60, board="5x5", seed=7, workers=0, progress=False)
    assert report.statistics.low > 0.5


def test_where_there_is_nothing_to_gain_it_says_so_and_keeps_the_start(tmp_path: Path) -> None:
    few = "--generations", "1", "--population", "4"
    args = "learn", "tune", "improved+0*null", str(tmp_path / "out"), *SMALL, *few
    said = run(*args).stdout
    assert "Nothing was gained: at nodes=60 and nodes=120 the given weights are as good" in said
    assert "The spread of null is unknown" in said
    assert "Play it: id(improved + 0*null, nodes=60)" in said
    found = answer(*args, "--json")
    assert found["verdict"] == "nothing was gained"
    assert found["tuned"] != found["given"] == found["expression"] == "improved + 0*null"
    for one in found["confirmations"]:
        assert one["verdict"] == "nothing was gained"
        assert one["pairs"][0] == one["pairs"][2] == 0  # they play the same moves
        assert one["score"] == 0.5


def test_what_cannot_be_told_is_not_claimed(tmp_path: Path) -> None:
    wanted = asked("improved+0*null", sprt=(0, 5), generations=1, population=4)
    assert generations_kept(tmp_path / "out", wanted) == 0
    report = run_tuning(tmp_path / "out", wanted, progress=False)
    assert generations_kept(tmp_path / "out", wanted) == 1
    assert report.verdict == "cannot tell"
    assert "Cannot tell: all 214 positions were played at nodes=60 and nodes=120" in report.words
    assert report.kept == report.settings.given
    assert all(sum(one.pairs) == 214 for one in report.confirmations)


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        (["gained", "gained"], "gained"),
        (["gained", "nothing was gained"], "nothing was gained"),
        (["cannot tell", "nothing was gained"], "nothing was gained"),
        (["gained", "cannot tell"], "cannot tell"),
        ([], "nothing was gained"),
    ],
)
def test_a_gain_is_claimed_only_if_every_budget_shows_it(verdicts: list[str], wanted: str) -> None:
    assert tune_report.overall(verdicts) == wanted


def test_candidates_are_counted_as_a_match_counts_them(tuned: Path) -> None:
    """Compare each candidate's counts of pairs with a match of the same openings and seed."""
    wanted = asked()
    told = json.loads((tuned / "tuning.json").read_text(encoding="utf-8"))["generations"][1]
    candidates = [parse_heuristic(text) for text in told["candidates"]]
    plan = generation_plan(wanted, 1, candidates)
    assert len({task.opening for task in plan.tasks()}) == 25
    for candidate, counts in zip(told["candidates"], told["counts"], strict=True):
        agents = f"id({candidate}, nodes=60)", f"id({WRONG}, nodes=60)"
        how: Any = {"seed": plan.seed, "book": plan.book, "workers": 0, "progress": False}
        assert list(kf.match(*agents, pairs=25, **how).pairs) == counts


def test_users_heuristics_and_other_opponents(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from knightfall.heuristics import count, moves\n"
        "def cosy(board, open, me, opp, to_move):\n"
        "    return float(count(moves(board, open, me)))\n"
    )
    term = f"{tmp_path / 'mine.py'}:cosy"
    how: Any = {"generations": 1, "population": 4, "pairs": 3, "sprt": (0, 300)}
    wanted = asked(f"{term} - improved", against=("start", "greedy(improved)"), **how)
    report = run_tuning(tmp_path / "out", wanted, progress=False)
    told = json.loads((tmp_path / "out" / "tuning.json").read_text(encoding="utf-8"))
    assert [sum(one) for one in told["generations"][0]["counts"]] == [6] * 4
    assert str(report.kept.terms[0][1]) == term
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# edited\n")
    again = asked(f"{term} - improved", against=wanted.against, **how)
    with pytest.raises(KnightfallError, match=r"mine\.py was edited"):
        run_tuning(tmp_path / "out", again, progress=False)


# -- repeated and resumed tunings ----------------------------------------------------------------


def test_two_workers_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = asked(generations=2, population=4, pairs=8, sprt=(0, 300))
    run_tuning(tmp_path / "one", wanted, progress=False)
    confirm = tuning.confirmed

    def here(*given: Any) -> Any:
        """Play the confirming match in this process instead of in workers."""
        *what, options, progress = given
        assert options == RunnerOptions(workers=2)
        return confirm(*what, RunnerOptions(workers=0), progress)

    monkeypatch.setattr(tuning, "confirmed", here)
    run_tuning(tmp_path / "two", wanted, workers=2, progress=False)
    assert texts(tmp_path / "two") == texts(tmp_path / "one")


def test_another_seed_plays_other_games(tuned: Path) -> None:
    first = generation_plan(asked(seed=1), 0, [parse_heuristic(WRONG)])
    second = generation_plan(asked(seed=2), 0, [parse_heuristic(WRONG)])
    assert first.book != second.book
    one, two = (Optimiser([0.0], 0.5, 4, seed).ask() for seed in (1, 2))
    assert not np.array_equal(one, two)


def test_after_ctrl_c_the_same_command_ends_with_the_same(
    tuned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "interrupted"
    args = "learn", "tune", WRONG, str(folder), *SMALL
    play = tuning.played
    calls: list[int] = []

    def once(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return play(*given)

    monkeypatch.setattr(tuning, "played", once)
    result = run(*args)
    assert result.exit_code == 130
    told = "knightfall: interrupted after 1 of 3 generations; repeat the command to continue\n"
    assert stderr_of(result) == told
    assert not (folder / "result.json").exists()
    states: list[Progress] = []
    displayed: list[list[str]] = []

    @contextmanager
    def display(what: str, total: int, *, done: int) -> Iterator[Progress]:
        states.append(Progress(what, total, done))
        yield states[-1]

    def watched(*given: Any) -> Any:
        (state,) = states
        assert state.view is not None
        line = f"{state.done} of {state.total} {state.what}"
        displayed.append([line, *str(state.view()).splitlines()])
        return play(*given)

    def confirm(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "shown", display)
    monkeypatch.setattr(tuning, "played", watched)
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "confirmed", confirm)
        assert "after 3 of 3 generations" in stderr_of(run(*args))
    assert (states[0].before, states[0].done) == (1, 3)
    scores: list[tuple[float, str]] = []
    generations = json.loads(texts(tuned)["tuning.json"])["generations"]
    for number, (lines, before) in enumerate(zip(displayed, generations[:2], strict=True), start=1):
        for candidate, (_, split, won) in zip(before["candidates"], before["counts"], strict=True):
            scores.append(((won + split / 2) / 25, candidate))
        score, best = max(scores, key=lambda one: one[0])
        assert lines[1:3] == [
            f"generation {number + 1} of 3", f"best so far {percent(score)}: {best}"
        ]  # fmt: skip
        assert lines[3].startswith("now at ")
        assert lines[0] == f"{number} of 3 generations · {lines[3]}"
    monkeypatch.setattr(tuning, "played", play)
    assert answer(*args, "--json") == json.loads(texts(tuned)["result.json"])
    assert texts(folder) == texts(tuned)
    # A finished tuning is shown again without playing a game.
    monkeypatch.setattr(tuning, "played", confirm)
    assert answer(*args, "--json") == json.loads(texts(tuned)["result.json"])


# -- where games begin ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["4x4", "5x6", "7x7"])
def test_nothing_that_confirms_was_tuned_on_however_it_is_turned(name: str) -> None:
    board = Board.named(name)
    found = starts(board)
    tuning_on = {Position.from_fen(fen) for fen in found.tuning}
    confirming = {Position.from_fen(fen) for fen in found.confirmation}
    turned = {image for one in confirming for image in images(one)}
    assert not turned & tuning_on
    for part, held in ((tuning_on, False), (confirming, True)):
        assert sum(len(images(one) & part) for one in part) == len(part)  # none twice, turned
        openings = {one for one in part if len(one.open) == board.cells - 2}
        assert openings
        for one in openings:
            cells = canonical(one)
            assert cells is not None
            assert (class_splits(board)[classes(board)[cells]] != 0) == held
        assert {len(one.open) for one in part} == {board.cells - 2, board.cells - 4}


def test_generations_go_through_all_positions_before_any_comes_again() -> None:
    found = starts(Board.of(4, 4))
    number = len(found.tuning)
    parts = [found.of_generation(at, 50, 3) for at in range(4)]
    assert [len(part) for part in parts] == [50] * 4
    played = [fen for part in parts for fen in part]
    assert set(played[:number]) == set(found.tuning)
    assert played[number:] != played[: 200 - number]
    assert not set(played) & set(found.confirmation)


# -- weights -------------------------------------------------------------------------------------


@given(EXPRESSIONS)
def test_an_expression_reads_back_as_it_is_written(expression: Expression) -> None:
    assert parse_heuristic(written(expression)) == expression


def test_weights_are_written_as_people_write_them() -> None:
    assert written(parse_heuristic("improved-1/2*open+1/3*center")) == (
        "improved - 0.5*open + 1/3*center"
    )
    for weight, wanted in (
        (0.123456, "0.1235"), (-1234567.0, "-1235000"), (3e-10, "0"), (2e-9, "0.000000002"),
        (1e30, "999900000"), (1.0, "1"),
    ):  # fmt: skip
        assert decimal(rounded(weight)) == wanted


STAGED = "2*stage(0.6: improved, 0.3: open-3*phase*bfs_reach, center)+1/2*null"


def test_weights_inside_stages_and_thresholds_are_free() -> None:
    given = parse_heuristic(STAGED)
    names = [one.name for one in numbers(given)]
    assert names == [
        "improved (stage 1)", "start of stage 2", "open (stage 2)",
        "phase*bfs_reach (stage 2)", "start of stage 3", "center (stage 3)", "null",
    ]  # fmt: skip
    found = measured(given, sample(starts(Board.of(5, 5)).tuning, 0))
    assert found.at(found.sizes) == given
    moved = found.at((9.0, 0.0, 0.0, 9.0, 0.0, 0.0))
    assert written(moved) == (
        "2*stage(0.999: improved, 0.998: 0*open + 0*phase*bfs_reach, 0*center) + 0*null"
    )
    assert parse_heuristic(written(moved)) == moved
    low = found.at((-9.0, 0.0, 0.0, 0.5, 0.0, 0.0))
    assert [least for least, _ in low.terms[0][1].stages] == [  # type: ignore[union-attr]
        Fraction(2, 1000), Fraction(1, 1000)
    ]  # fmt: skip


@given(EXPRESSIONS)
@example(parse_heuristic(f"center+phase*{STAGED.removeprefix('2*')}"))
def test_an_expression_with_its_own_numbers_is_itself(expression: Expression) -> None:
    values = [one.value for one in numbers(expression)]
    if all(1000 % one.value.denominator == 0 for one in numbers(expression) if one.term is None):
        assert with_numbers(expression, iter(values)) == expression


def test_a_strategy_that_shifts_is_tuned(tmp_path: Path) -> None:
    """Check the tuning of an expression with stages, whose second stage has the wrong sign."""
    text = "stage(0.5: improved, -improved)+0.1*phase*near_edges"
    few = "--generations", "1", "--population", "4", "--pairs", "5", "--sprt", "0,300"
    done = run("learn", "tune", text, str(tmp_path / "tuned"), *SMALL, *few)
    assert done.exit_code == 0, done.output
    assert "start of stage 2" in done.output
    found = json.loads((tmp_path / "tuned" / "result.json").read_text(encoding="utf-8"))
    assert len(found["sizes"]) == 3
    expression = (tmp_path / "tuned" / "expression.txt").read_text(encoding="utf-8").strip()
    assert written(parse_heuristic(expression)) == expression
    known = parse_heuristic(found["tuned"])
    assert [one.name for one in numbers(known)] == [
        one.name for one in numbers(parse_heuristic(text))
    ]


def test_sizes_are_spreads_over_positions() -> None:
    """Compare the sizes of weights with standard deviations of the terms: of size 1, two terms vary
    equally.
    """
    some = sample(starts(Board.of(5, 5)).tuning, 0)
    found = measured(parse_heuristic("2*improved+3*bfs_reach-0*null"), some)
    improved, reach = (
        np.std([NAIVE[id](one, one.to_move) for one in some]) for id in ("improved", "bfs_reach")
    )
    assert found.units == pytest.approx((2 * improved / reach, 2.0))
    assert found.sizes == pytest.approx((3 * reach / (2 * improved), 0))
    assert found.still == ("null",)
    assert found.at((1.0, 0.0)).terms[0] == found.given.terms[0]
    assert float(found.at((1.0, 0.0)).terms[1][0]) == pytest.approx(found.units[0], rel=1e-3)
    assert found.at((0.0, 0.0)).terms[1][0] == Fraction(0)
    assert len({len(one.open) for one in some}) > 10  # of all phases


@pytest.mark.parametrize("weights", [1, 3])
def test_the_optimiser_comes_near_the_best_through_noise(weights: int) -> None:
    rng = np.random.default_rng(5)
    optimiser = Optimiser([0.0] * weights, 0.5, 12, 0)
    for _ in range(30):
        points = optimiser.ask()
        far = [float(np.sum((point - 0.8) ** 2)) for point in points]
        optimiser.tell(points, [0.55 - 0.1 * one + 0.03 * rng.standard_normal() for one in far])
    assert np.abs(optimiser.mean - 0.8).max() < 0.35


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["improved"], "'improved' has one term, so there is nothing to tune"),
        (["2*improved"], "there is nothing to tune"),
        (["improved+0.5*bfs_rech"], "unknown heuristic 'bfs_rech'"),
        (["improved+nan*open"], "nan"),
        (["improved+inf*open"], "inf"),
        (["improved+1/0*open"], "divides by zero"),
        (["improved+1e5*open"], "1e5"),
        (["0*improved+open"], "the first term has weight 0"),
        (["improved+open+2*improved"], "the term improved occurs twice"),
        (["improved+nowhere.py:f"], "no file"),
        ([WRONG, "--nodes", "0"], "'0'"),
        ([WRONG, "--nodes", "9" * 30], "9" * 30),
        ([WRONG, "--nodes", str(10**15)], "second=4000000000000000: budget nodes=4"),
        ([WRONG, "--nodes", "50", "--second", "50"], "second=50 must differ from nodes=50"),
        ([WRONG, "--generations", "20000"], "generations=20000 must be from 1 to 10,000"),
        ([WRONG, "--population", "3"], "population=3 must be from 4 to 1,000"),
        ([WRONG, "--pairs", "819"], "pairs=819 must be from 1 to 818 on 5x5"),
        ([WRONG, "--step", "0"], "step=0 must be above 0"),
        ([WRONG, "--step", "nan"], "'nan'"),
        ([WRONG, "--step", "1e999"], "step=inf"),
        ([WRONG, "--sprt", "30,0"], "30,0"),
        ([WRONG, "--sprt", "5"], "'5'"),
        ([WRONG, "--board", "3x"], "'3x'"),
        ([WRONG, "--against", "id(improved, time=10ms)"], "uses a clock"),
        ([WRONG, "--against", "idd(improved)"], "idd"),
        ([WRONG, "--workers", "-1"], "-1"),
        ([WRONG, "--workers", "999"], "999"),
        ([WRONG, "--seed", "-1"], "'-1'"),
        ([WRONG, "--chart", "x.doc"], ".svg, .png or .pdf"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_bad_input(given: list[str], named: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert named in refused("learn", "tune", given[0], str(out), "--board", "5x5", *given[1:])
    assert not out.exists()


def test_the_folder_holds_no_temporary_files(tuned: Path) -> None:
    assert {file.suffix for file in tuned.iterdir()} == {".json", ".sqlite", ".txt"}


def test_other_settings_are_refused_and_named(tuned: Path) -> None:
    before = {file: file.read_bytes() for file in tuned.iterdir()}
    for args, named in (
        (("--seed", "5"), "seed 0, not 5"),
        (("--nodes", "70"), "nodes 60, not 70"),
        (("--pairs", "21"), "pairs 25, not 21"),
        (("--sprt", "0,61"), "sprt 0,60, not 0,61"),
        (("--against", "random"), "against start, not random"),
    ):
        assert named in refused("learn", "tune", WRONG, str(tuned), *SMALL, *args)
    said = refused("learn", "tune", "improved+bfs_reach", str(tuned), *SMALL)
    assert "expression improved - bfs_reach, not improved + bfs_reach" in said
    assert {file: file.read_bytes() for file in tuned.iterdir()} == before


def test_another_version_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune_settings, "version", lambda: "0.0.1+other")
    assert "not 0.0.1+other" in refused("learn", "tune", WRONG, str(copy), *SMALL)


def _resigned(change: Callable[[Any], None], file: Path) -> None:
    """Change the content of a JSON file and update its checksum."""
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    del content["checksum"]
    content["checksum"] = tuning._checksum(content)
    file.write_text(json.dumps(content), encoding="utf-8")


def test_a_damaged_file_is_noticed_and_named(copy: Path) -> None:
    file = copy / "tuning.json"
    good = file.read_text(encoding="utf-8")
    for bad, named in (
        (good[: len(good) // 2], "not JSON"),
        ("", "not JSON"),
        ("[]", "object"),
        ('{"format": "other"}', "the format is 'other'"),
        (good.replace('"counts": [[', '"counts": [[1', 1), "the checksum is wrong"),
        (good.replace('"generations"', '"generation"', 1), "generation"),
    ):
        file.write_text(bad, encoding="utf-8")
        said = refused("learn", "tune", WRONG, str(copy), *SMALL)
        assert f"{str(file)!r} is damaged" in said
        assert named in said
        assert "delete it to start again" in said

    def another(content: Any) -> None:
        content["generations"][1]["candidates"][0] = "improved + 7*bfs_reach"

    def fewer(content: Any) -> None:
        content["generations"][1]["counts"][0] = [1, 2, 3]

    def longer(content: Any) -> None:
        content["generations"] *= 2

    for change, named in (
        (another, "generation 2 has the candidate 'improved + 7*bfs_reach'"),
        (fewer, "generation 2 has the wrong number of pairs"),
        (longer, "it has 6 generations"),
    ):
        file.write_text(good, encoding="utf-8")
        _resigned(change, file)
        assert named in refused("learn", "tune", WRONG, str(copy), *SMALL)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    args = "learn", "tune", WRONG
    assert "is not empty (it has 'mine.txt')" in refused(*args, str(tmp_path), *SMALL)
    assert "is a file" in refused(*args, str(tmp_path / "mine.txt"), *SMALL)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


# -- shown ---------------------------------------------------------------------------------------


def test_a_chart_of_weights_and_scores(copy: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chart = tmp_path / "tuned.svg"
    run("learn", "tune", WRONG, str(copy), *SMALL, "--chart", str(chart))
    drawn = chart.read_text(encoding="utf-8")
    for words in ("improved - bfs_reach: gained", "generation", "confirmed at nodes=120"):
        assert words in drawn
    args = "learn", "tune", WRONG, str(copy), *SMALL, "--chart", str(chart)
    assert "--force" in refused(*args)


def test_the_help_tells_the_defaults_of_the_settings() -> None:
    told = run("learn", "tune", "--help").stdout
    for value in (
        tune_settings.NODES, tune_settings.GENERATIONS, tune_settings.POPULATION,
        tune_settings.PAIRS, tune_settings.STEP,
        "0,30", "7x7",
    ):  # fmt: skip
        assert f"[default: {value}]" in told
    assert tune_settings.GAIN == (0, 30)
    assert tune_settings.TIMES == 4
    assert "four times --nodes by default" in " ".join(told.split())
