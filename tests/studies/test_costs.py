"""Tests that the recorded costs give a budget for every agent of every study."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from knightfall.errors import KnightfallError
from knightfall.heuristics.registry import published_ids
from knightfall.studies.node_costs import (
    COMPILED_FILE,
    LARGE_FILE,
    WISH_FILE,
    NodeCosts,
    compiled_costs,
    equal_time_nodes,
    large_costs,
    wish_costs,
)
from knightfall.studies.published import studies


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


def test_costs_are_in_the_order_they_must_be() -> None:
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
