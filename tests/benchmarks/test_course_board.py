"""Tests of the course's board, search and heuristics in plain Python against the compiled
values.
"""

from __future__ import annotations

import math
import tomllib
from datetime import date
from fractions import Fraction
from functools import cache, partial
from importlib import resources
from typing import Any

import pytest
from helpers import random_positions
from naive import NAIVE, naive_static_reach
from naive import place as cell_of

from benchmarks.costs import measure, record
from benchmarks.costs.positions import FENS
from benchmarks.course_board import CourseBoard, set_up
from benchmarks.course_heuristics import SCORES, staged
from benchmarks.course_search import CourseSearch
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import published_ids
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search
from knightfall.search.search_state import PROVEN, WIN
from knightfall.studies.node_costs import COMPILED_FILE, NodeCosts

Cell = tuple[int, int]
IDS = list(published_ids())
PLAYING_OUT = ["longest_win", "longest_win_difference"]
FEW = 9
"""Most open cells at which all lines can be played out within a leaf's step limit."""

LEAVES_THE_END_TO_THE_SEARCH = {
    id for id, study in published_ids().items() if study == "staged" and id != "main_less_more"
}


@cache
def some_positions() -> tuple[Position, ...]:
    """Return positions of all phases on four boards, some nearly full, with both knights placed."""
    found = []
    for seed, (width, height) in enumerate([(7, 7), (5, 6), (9, 6)]):
        found += random_positions(width, height, 30, seed, min_placed=2)
    crowded = [p for p in random_positions(4, 5, 150, 7, min_placed=2) if len(p.open) <= FEW]
    return (*found, *crowded[:30])


def on_course_board(position: Position) -> tuple[Any, dict[Side, object]]:
    """Return the course board of a position, and the player of each side."""
    board = set_up(CourseBoard, position, "mover")
    return board, {position.to_move: "mover", other(position.to_move): "the other"}


def cells_at(board: Board, places: list[Cell]) -> set[int]:
    return {board.at(*place) for place in places}


def naive_value(id: str, position: Position, side: Side) -> float:
    if id.startswith("static_reach"):
        return naive_static_reach(Fraction(id[13:-1]))(position, side)
    return sum(NAIVE[part](position, side) for part in id.split("+"))


# -- the board -------------------------------------------------------------------------------


def test_the_board_keeps_the_rules() -> None:
    for position in some_positions():
        board, player = on_course_board(position)
        cells = partial(cells_at, position.board)
        assert cells(board.get_blank_spaces()) == position.open
        for side, name in player.items():
            assert cells([board.get_player_location(name)]) == {cell_of(position, side)}
            assert cells(board.get_legal_moves(name)) == set(position.targets(side))
            assert board.is_winner(name) == (position.winner == side)
            assert board.is_loser(name) == (position.winner == other(side))
        for move in board.get_legal_moves():
            after = position.play(position.board.name(position.board.at(*move)))
            forecast = board.forecast_move(move)
            assert cells(forecast.get_blank_spaces()) == after.open
            assert forecast.active_player == player[after.to_move]
        assert cells(board.get_blank_spaces()) == position.open  # nothing has changed


# -- the values ------------------------------------------------------------------------------


def test_every_heuristic_is_there() -> None:
    assert list(SCORES) == IDS


@pytest.mark.parametrize("id", IDS)
def test_the_value_is_that_of_the_compiled_and_of_the_slow_twin(id: str) -> None:
    compiled, tried = evaluator(id), 0
    for position in some_positions():
        if position.winner or (id in PLAYING_OUT and len(position.open) > FEW):
            continue
        board, player = on_course_board(position)
        for side, name in player.items():
            value = SCORES[id](board, name)
            for twin in (compiled.value(position, side), naive_value(id, position, side)):
                assert math.isclose(value, twin, rel_tol=1e-12, abs_tol=1e-12), (position, side)
            tried += 1
    assert tried >= 30


@pytest.mark.parametrize("id", IDS)
def test_the_end_of_the_game_is_seen_unless_the_study_leaves_it_to_the_search(id: str) -> None:
    over = [position for position in some_positions() if position.winner and position.open]
    assert len(over) > 10
    for position in over:
        board, player = on_course_board(position)
        for side, name in player.items():
            value = SCORES[id](board, name)
            if id not in LEAVES_THE_END_TO_THE_SEARCH:
                assert value == (math.inf if position.winner == side else -math.inf)
            elif id not in PLAYING_OUT or len(position.open) <= FEW:
                assert math.isclose(value, naive_value(id, position, side), abs_tol=1e-12)


def test_a_leaf_may_not_run_away() -> None:
    steps = 0

    class Counting(CourseBoard):  # type: ignore[misc, valid-type]
        def get_legal_moves(self, player: object = None) -> Any:
            nonlocal steps
            steps += 1
            return super().get_legal_moves(player)

    board = set_up(Counting, Position.from_fen(FENS[0]), "mover")
    for score in (staged.longest_win, staged.longest_win_difference):
        for share in (10, 1000):
            steps = 0
            score(board, "mover", share)
            assert steps == share


# -- the search ------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["improved", "bfs_reach", "main", "open_cluster", "weighted_moves"])
def test_the_search_finds_what_the_compiled_one_finds(id: str) -> None:
    for fen in FENS[::6]:
        position = Position.from_fen(fen)
        search = CourseSearch(SCORES[id])
        board = set_up(CourseBoard, position, search)
        value, _ = search.best(board, board.get_legal_moves(), 3)
        report = run_search(position, SEARCHES["alphabeta"], evaluator(id), Budget(depth=3))
        assert value == pytest.approx(report.score, rel=1e-12)


def test_deepening_ends_with_a_whole_depth_or_a_proof() -> None:
    position = Position.from_fen(FENS[1])
    search = CourseSearch()
    board = set_up(CourseBoard, position, search)
    order = board.get_legal_moves()
    spent = []
    for depth in range(1, 5):
        search.best(board, order, depth)
        spent.append(search.nodes)
    for nodes, depths in ((1, 1), (spent[0] + 1, 2), (sum(spent[:2]) + 1, 3), (sum(spent), 4)):
        search.deepen(board, order, nodes, whole=True)
        assert search.nodes == sum(spent[:depths])
    ending = Position.from_fen("N2/2n/3 w")
    board = set_up(CourseBoard, ending, search)
    value, _ = search.deepen(board, board.get_legal_moves(), 10**9, whole=True)
    assert PROVEN <= -value <= WIN


# -- the costs -------------------------------------------------------------------------------


def test_measuring_compiled_code() -> None:
    costs = measure.compiled_costs(["improved", "bfs_reach"], rounds=2)
    assert costs.ratios["improved"] == 1
    assert costs.ratios["bfs_reach"] > 1.2
    assert costs.microseconds > 0
    with pytest.raises(KnightfallError, match="improved must be among"):
        measure.compiled_costs(["open"])


def test_costs_are_written_as_they_are_read() -> None:
    """Check the written TOML: the nodes follow from the rounded ratio, so that readers can
    recompute them.
    """
    ratios = {"improved": 1.0, "near_center+bfs_reach": 1.51549}
    text = record.as_toml(NodeCosts(ratios, "compiled searches", 29.4), rounds=3)
    table = tomllib.loads(text)
    assert table["cost"]["near_center+bfs_reach"] == {"ratio": 1.515, "nodes": 1650}
    assert (table["rounds"], table["positions"], table["microseconds"]) == (3, len(FENS), 29)
    assert isinstance(table["date"], date)


def test_what_is_on_record_was_measured_like_this() -> None:
    for file in (COMPILED_FILE,):
        text = (resources.files("knightfall.studies") / "data" / file).read_text("utf-8")
        table = tomllib.loads(text)
        assert list(table["cost"]) == IDS
        assert table["positions"] == len(FENS)
