"""Tests of the recorded costs: of nodes, which give every agent of every study a budget, and of a
student's steps, which cover every heuristic.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from knightfall.errors import KnightfallError
from knightfall.heuristics.registry import published_ids
from knightfall.studies.node_costs import (
    BOARDS,
    COMPILED_FILE,
    LARGE_FILE,
    STUDENT_FILE,
    WISH_FILE,
    NodeCosts,
    StudentCosts,
    compiled_costs,
    equal_time_nodes,
    large_costs,
    read_student_costs,
    student_costs,
    wish_costs,
)
from knightfall.studies.published import studies

TEXT = (resources.files("knightfall.studies") / "data" / STUDENT_FILE).read_text("utf-8")
TABLE = read_student_costs(TEXT)
EVALUATION = ("score", "score_open", "score_move")


# -- nodes --------------------------------------------------------------------------------------


def test_what_is_on_record() -> None:
    files = {COMPILED_FILE: compiled_costs, WISH_FILE: wish_costs, LARGE_FILE: large_costs}
    for file, read in files.items():
        costs = read()
        assert costs.ratios["improved"] == 1
        assert costs.nodes("improved") == 2500
        text = (resources.files("knightfall.studies") / "data" / file).read_text("utf-8")
        table = tomllib.loads(text)
        assert table["machine"]
        assert table["python"].startswith("CPython 3.")
        for id, row in table["cost"].items():
            assert row["nodes"] == costs.nodes(id) == max(1, round(2500 / row["ratio"]))
    assert list(compiled_costs().ratios) == list(published_ids())
    wished = {id for study in studies().values() for id in study.wished("time")}
    assert set(wish_costs().ratios) == wished - set(published_ids()) | {"improved"}
    assert set(large_costs().ratios) == {"improved", "main", "main_less_more"}


def test_node_costs_are_in_the_order_they_must_be() -> None:
    """Check that `bfs_reach` costs more than `improved`, and `mobility` the same."""
    compiled = compiled_costs().ratios
    assert compiled["mobility"] == pytest.approx(1, abs=0.05)  # improved under another name
    assert compiled["bfs_reach"] > 1.5


def test_every_heuristic_of_every_study_has_a_budget() -> None:
    costs = compiled_costs()
    for study in studies().values():
        assert all(costs.nodes(heuristic) >= 1 for heuristic in study.heuristics)
        assert all(equal_time_nodes(heuristic) >= 1 for heuristic in study.wished("time"))
    assert equal_time_nodes("longest_win") == costs.nodes("longest_win")
    assert equal_time_nodes("shortest_win") == wish_costs().nodes("shortest_win")
    with pytest.raises(KnightfallError, match="did you mean 'bfs_reach'"):
        equal_time_nodes("bfs_reah")
    assert NodeCosts({"dear": 10_000.0}, "a test").nodes("dear") == 1


# -- a student's steps --------------------------------------------------------------------------


def evaluation(costs: StudentCosts, open: int = 25, moves: int = 7) -> int:
    return costs.score + costs.score_open * open + costs.score_move * moves


@pytest.mark.parametrize("board", BOARDS)
def test_every_published_heuristic_was_timed(board: str) -> None:
    assert {*published_ids(), "main_prop", "coded:open_cluster"} == set(TABLE[board]["score"])
    for id, row in TABLE[board]["score"].items():
        costs = student_costs(board, id)
        assert (costs.score, costs.score_open, costs.score_move) == tuple(
            row[name] for name in ("score", "open", "move")
        )
        for step in ("forecast", "listing", "per_move", "call"):
            assert getattr(costs, step) == TABLE[board][step] > 0


@pytest.mark.parametrize("board", BOARDS)
def test_costs_are_in_the_order_they_must_be(board: str) -> None:
    """Check pairs of heuristics of which one computes all of the other and more, so that it must
    cost more.
    """
    for more, less in [
        ("improved", "open"),
        ("open", "null"),
        ("improved", "mobility"),
        ("lookahead_mobility", "improved"),
        ("open_space_difference", "open_space"),
        ("main", "mobility"),
        ("bfs_reach", "static_reach(1/2)"),
        ("static_reach(1/2)", "near_center"),
        ("open_cluster", "coded:open_cluster"),
        ("longest_win", "bfs_reach"),
    ]:
        dear, cheap = student_costs(board, more), student_costs(board, less)
        assert evaluation(dear) > evaluation(cheap), (more, less)


def test_copying_nested_lists_is_dear_and_shuffling_is_not_free() -> None:
    early, later = (student_costs(board, "improved") for board in BOARDS)
    assert early.forecast > 5 * later.forecast
    assert later.per_move > early.per_move
    assert early.call == later.call


@pytest.mark.parametrize("board", BOARDS)
def test_a_sum_costs_what_its_parts_do_unless_it_was_timed_itself(board: str) -> None:
    for text, parts in [
        ("open+improved", ["open", "improved"]),
        ("1/2*center-3*bfs_reach", ["center", "bfs_reach"]),
        ("-null", ["null"]),
        ("coded:main+open", ["main", "open"]),
        ("coded:open_cluster+open", ["coded:open_cluster", "open"]),
    ]:
        found = student_costs(board, text)
        for name in EVALUATION:
            wanted = sum(getattr(student_costs(board, part), name) for part in parts)
            assert getattr(found, name) == wanted, text
        assert found.forecast == student_costs(board, "null").forecast
    timed, parts = "near_center+bfs_reach", ("near_center", "bfs_reach")
    whole = evaluation(student_costs(board, timed))
    assert whole < sum(evaluation(student_costs(board, part)) for part in parts)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("near_center + bfs_reach", "near_center+bfs_reach"),
        ("static_reach(0.5)", "static_reach(1/2)"),
        ("static_reach(1/50)", "static_reach(1/10)"),
        ("static_reach(9/10)", "static_reach(1/2)"),
        ("static_reach(7/24)", "static_reach(1/3)"),  # between 1/3 and 1/4, and nearer to 1/3
        ("coded:main", "main"),
        ("coded:near_edges", "near_edges"),
        ("coded:near_center+bfs_reach", "near_center+bfs_reach"),
        ("mine.py:cosy", "improved"),
        ("mine.py:cosy@HEAD", "improved"),
    ],
)
def test_what_was_not_timed_costs_what_the_likest_does(text: str, twin: str) -> None:
    for board in BOARDS:
        assert student_costs(board, text) == student_costs(board, twin)


def test_what_the_author_of_open_cluster_never_ran_costs_nothing() -> None:
    for board in BOARDS:
        coded, aggressive = (
            evaluation(student_costs(board, id)) for id in ("coded:open_cluster", "aggressive")
        )
        assert coded == pytest.approx(aggressive, rel=0.1)


def test_names_that_nobody_knows() -> None:
    with pytest.raises(KnightfallError, match=r"unknown board 'latter'; did you mean 'later'\?"):
        student_costs("latter", "improved")
    with pytest.raises(KnightfallError, match=r"unknown heuristic 'imroved'; did you mean 'impr"):
        student_costs("early", "imroved")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("[early]", "[early", "this is not TOML"),
        ("[early]", "[earlier]", '"forecast" is missing in early'),
        ("[later.", "[latter.", '"score" is missing in later'),
        ("forecast = ", "forecast = -", r'"early.forecast" must be a whole number from 0'),
        ("call = ", "call = 0.5 # ", r'"early.call" must be a whole number'),
        ("listing = ", "list = ", '"listing" is missing in early'),
        ("[early.score]\n", "[early.score]\nmine = 3\n", r'"early.score.mine" must be an object'),
        ("\nimproved ", "\nimprove ", '"improved" is missing in early.score'),
        ("residual = 0", "residual = nan # 0", "not TOML|residual"),
    ],
)
def test_a_broken_file_is_told(old: str, new: str, what: str) -> None:
    broken = TEXT.replace(old, new, 1)
    assert broken != TEXT
    with pytest.raises(KnightfallError, match=f"the costs of a student's search .*({what})"):
        read_student_costs(broken)


def test_the_page_tells_what_is_on_record() -> None:
    page = Path(__file__).parents[2] / "docs" / "students.md"
    steps = {
        "forecast": "forecast",
        "list of moves": "listing",
        "each move in it": "per_move",
        "call of the search": "call",
    }
    told = re.findall(r"^\| (.+?) \| ([0-9.]+) \| ([0-9.]+) \|", page.read_text("utf-8"), re.M)
    assert len(told) == 10
    for name, *costs in told:
        for board, cost in zip(BOARDS, costs, strict=True):
            found = student_costs(board, name.strip("`") if name not in steps else "improved")
            wanted = getattr(found, steps[name]) if name in steps else evaluation(found, open=30)
            assert float(cost) == round(wanted / 1000, 1), (name, board)


def test_looking_costs_up_loads_no_compiler() -> None:
    code = """
import sys
from knightfall.studies.node_costs import student_costs
student_costs("early", "open+static_reach(1/20)")
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
