"""What heuristics cost is on record, and makes a budget for every agent of every study."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from knightfall.errors import KnightfallError
from knightfall.heuristics.published import published_ids
from knightfall.studies.costs.costs import (
    COMPILED_FILE,
    NodeCosts,
    compiled_costs,
)
from knightfall.studies.published.published import studies


def test_what_is_on_record() -> None:
    file, costs = COMPILED_FILE, compiled_costs()
    assert list(costs.ratios) == list(published_ids())
    assert costs.ratios["improved"] == 1
    assert costs.nodes("improved") == 2500
    text = resources.files("knightfall.studies.costs").joinpath(file).read_text("utf-8")
    table = tomllib.loads(text)
    assert table["machine"]
    assert table["python"].startswith("CPython 3.")
    for id, row in table["cost"].items():
        assert row["nodes"] == costs.nodes(id) == max(1, round(2500 / row["ratio"]))


def test_costs_are_in_the_order_they_must_be() -> None:
    """Whatever the machine: who does the same and more costs more."""
    compiled = compiled_costs().ratios
    assert compiled["mobility"] == pytest.approx(1, abs=0.05)  # improved by another name
    assert compiled["bfs_reach"] > 1.5


def test_every_heuristic_of_every_study_has_a_budget() -> None:
    costs = compiled_costs()
    for study in studies().values():
        assert all(costs.nodes(heuristic) >= 1 for heuristic in study.heuristics)
    with pytest.raises(KnightfallError, match="did you mean 'bfs_reach'"):
        costs.nodes("bfs_reah")
    assert NodeCosts({"dear": 10_000.0}, "a test").nodes("dear") == 1
