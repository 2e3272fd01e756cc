"""``knightfall eval``: exact values, infinities as strings, files read line by line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import naive
import pytest
from cli_runner import FEN, refused, run, stderr_of
from helpers import random_positions
from naive_coded import CODED

from knightfall.cli.commands import eval as evaluate
from knightfall.heuristics.registry import published_ids
from knightfall.position import Position, Side, other

LATE = [
    position
    for position in random_positions(4, 4, 30, seed=6, min_placed=2)
    if len(position.open) < 9
][:8]


def rows(*args: str, input: str | None = None) -> list[dict[str, Any]]:
    result = run("eval", *args, input=input)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def as_float(value: float | str) -> float:
    if isinstance(value, str):
        assert value in ("inf", "-inf", "nan")
    return float(value)


@pytest.mark.parametrize("position", LATE, ids=str)
@pytest.mark.parametrize("side", ["w", "b"])
def test_every_value_is_the_formulas(position: Position, side: Side) -> None:
    (row,) = rows("--heuristic", "all", "--for", side, position.fen)
    assert row["fen"] == position.fen
    assert row["for"] == side
    assert "cut" not in row
    for name, function in naive.NAIVE.items():
        expected = function(position, side)
        assert as_float(row["values"][name]) == pytest.approx(float(expected), rel=1e-12), name
    reach = float(naive.NAIVE["bfs_reach"](position, side))
    for name in ("near_center", "near_edges", "near_opponent", "far_opponent"):
        expected = float(naive.NAIVE[name](position, side)) + reach
        assert row["values"][f"{name}+bfs_reach"] == pytest.approx(expected)


def test_all_is_every_published_heuristic() -> None:
    (row,) = rows("--heuristic", "all", FEN)
    ids = [*naive.NAIVE]
    ids += [f"static_reach(1/{n})" for n in range(2, 11)]
    ids += [
        f"{n}+bfs_reach" for n in ("near_center", "near_edges", "near_opponent", "far_opponent")
    ]
    assert sorted(row["values"]) == sorted(ids)
    assert list(row["values"]) == list(published_ids())
    assert len(ids) == 46


def test_the_published_example() -> None:
    args = ["--heuristic", "static_reach(1/2)", "--heuristic", "bfs_reach"]
    (row,) = rows(*args, "2*1*/**N2/3*1/1*3/3n1 w")
    assert row["values"] == {
        "static_reach(1/2)": pytest.approx(0.5625),
        "bfs_reach": pytest.approx(0.45),
    }


def test_heuristics_as_coded_are_valued_when_asked_for() -> None:
    for position in LATE:
        for side in ("w", "b"):
            names = [part for name in CODED for part in ("--heuristic", name)]
            (row,) = rows(*names, "--for", side, position.fen)
            for name, function in CODED.items():
                expected = float(function(position, side, 0))
                assert as_float(row["values"][name]) == pytest.approx(expected, rel=1e-12), name


def test_the_view_is_the_movers_unless_said() -> None:
    for fen in (FEN, FEN.replace(" w", " b"), "7/7/N6/7/7/4n2/7 b"):
        position = Position.from_fen(fen)
        (row,) = rows("--heuristic", "open", fen)
        assert row["for"] == position.to_move
        assert row["values"]["open"] == len(position.targets(position.to_move))
        (row,) = rows("--heuristic", "open", "--for", other(position.to_move), fen)
        assert row["values"]["open"] == len(position.targets(other(position.to_move)))


def test_infinities_are_strings() -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    (row,) = rows("--heuristic", "lookahead_ratio", over.fen)
    assert row["values"] == {"lookahead_ratio": "-inf"}
    winning = Position.from_fen("N2/1n1/3 w")
    assert naive.NAIVE["lookahead_ratio"](winning, "w") == math.inf
    assert '"inf"' in run("eval", "--heuristic", "lookahead_ratio", winning.fen).stdout
    (row,) = rows("--heuristic", "lookahead_ratio-lookahead_ratio", winning.fen)
    assert row["values"] == {"lookahead_ratio-lookahead_ratio": "nan"}


def test_values_are_under_the_names_that_were_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def seven(board, open, me, opp, to_move):\n    return 7.0\n")
    names = [f"{file}:seven", " 2*open - improved", "static_reach(0.5)"]
    (row,) = rows(*(part for name in names for part in ("--heuristic", name)), FEN)
    assert list(row["values"]) == [name.strip() for name in names]
    assert row["values"][f"{file}:seven"] == 7.0
    assert row["values"]["2*open - improved"] == 12.0


def test_a_value_cut_short_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "STEP_LIMIT", 5)
    result = run("eval", "--heuristic", "longest_win", "--heuristic", "open", FEN)
    row = json.loads(result.stdout)
    assert row["cut"] == ["longest_win"]
    assert set(row["values"]) == {"longest_win", "open"}
    assert "longest_win" in stderr_of(result)
    assert "not exact" in stderr_of(result)


# -- many positions ------------------------------------------------------------------------------


def test_several_fens_give_several_lines() -> None:
    positions = random_positions(6, 6, 5, seed=8, min_placed=2)
    got = rows("--heuristic", "improved", *(position.fen for position in positions))
    assert [row["fen"] for row in got] == [position.fen for position in positions]
    for row, position in zip(got, positions, strict=True):
        assert row["values"]["improved"] == naive.NAIVE["improved"](position, position.to_move)


def test_a_file_of_fens(tmp_path: Path) -> None:
    fens = [position.fen for position in random_positions(5, 5, 20, seed=9, min_placed=2)]
    file = tmp_path / "fens.txt"
    file.write_text("\n\n".join(fens) + "\n \n")
    from_file = rows("--heuristic", "open", "--fens", str(file))
    assert [row["fen"] for row in from_file] == fens
    from_stdin = rows("--heuristic", "open", "--fens", "-", input=file.read_text())
    assert from_stdin == from_file == rows("--heuristic", "open", *fens)


def test_an_error_in_a_file_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "fens.txt"
    file.write_text(f"{FEN}\n\n7/7/bad w\n")
    result = run("eval", "--heuristic", "open", "--fens", str(file))
    assert result.exit_code == 2
    assert json.loads(result.stdout)["fen"] == FEN  # earlier lines were answered
    assert f"{file}, line 3: " in stderr_of(result)
    result = run("eval", "--heuristic", "open", "--fens", "-", input="\n7/7/7/7/7/7/7[Nn] w\n")
    assert "standard input, line 2: " in stderr_of(result)
    assert "both knights" in stderr_of(result)
    file.write_bytes(b"\xff\xfe\x00 w\n")
    assert f"{file}, line 1: " in refused("eval", "--heuristic", "open", "--fens", str(file))


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--heuristic", "opne", FEN], "did you mean 'open'?"),
        (["--heuristic", "open++improved", FEN], "open++improved"),
        (["--heuristic", "open(2)", FEN], "takes no parameter"),
        (["--heuristic", "static_reach", FEN], "static_reach(1/2)"),
        (["--heuristic", "nowhere.py:f", FEN], "nowhere.py"),
        (["--heuristic", "", FEN], "''"),
        (["--heuristic", "open"], "--fens"),
        (["--heuristic", "open", FEN, "--fens", "x"], "not both"),
        (["--heuristic", "open", "--fens", "no/such/file"], "'no/such/file'"),
        (["--heuristic", "open", "--fens", "/"], "'/'"),
        ([FEN], "--heuristic"),
    ],
    ids=str,
)
def test_bad_input(args: list[str], named: str) -> None:
    assert named in refused("eval", *args)


def test_a_file_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    assert "is a device" in refused("eval", "--heuristic", "open", "--fens", "/dev/zero")
    file = tmp_path / "endless.txt"
    file.write_text(f"{FEN}\n{'7' * 5000}\n")
    result = run("eval", "--heuristic", "open", "--fens", str(file))
    assert result.exit_code == 2
    assert f"{file}, line 2: longer than 1,000 bytes" in stderr_of(result)


# -- explaining a value --------------------------------------------------------------------------


def test_a_chart_needs_one_explained_value(tmp_path: Path) -> None:
    chart = str(tmp_path / "chart.svg")
    open_ = ("eval", "--heuristic", "open")
    assert "needs --explain" in refused(*open_, FEN, "--chart", chart)
    both = (*open_, "--explain", "--chart")
    assert "one FEN and one heuristic" in refused(*both, chart, FEN, "--heuristic", "improved")
    assert "one FEN and one heuristic" in refused(*both, chart, FEN, FEN)
    assert "must end in .svg" in refused(*both, str(tmp_path / "chart.png"), FEN)
    assert "as in --heuristic improved" in refused("eval", FEN)
    assert list(tmp_path.iterdir()) == []


def test_an_explanation_is_text_unless_json_is_asked_for() -> None:
    shown = run("eval", "--explain", FEN).stdout
    assert shown.startswith(f"{FEN}, for the first player (N)")
    assert f"learned_linear of {FEN}" in shown
    (row,) = rows("--explain", FEN, "--json")
    assert list(row["values"]) == ["learned_linear"]
    assert row["explained"][0]["value"] == row["values"]["learned_linear"]
