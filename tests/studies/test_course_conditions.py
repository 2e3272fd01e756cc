"""The plain-Python heuristics are the compiled ones, and what they cost is on record."""

from __future__ import annotations

import math
import tomllib
from datetime import date
from fractions import Fraction
from functools import cache, partial
from importlib import resources

import pytest
from helpers import random_positions
from naive import NAIVE, naive_static_reach
from naive import place as cell_of

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.published import published_ids
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget
from knightfall.search.state import PROVEN, WIN
from knightfall.search.think import think
from knightfall.studies.costs.course_board import (
    Cell,
    CourseBoard,
    PlainSearch,
    improved_score,
    set_up,
)
from knightfall.studies.costs.course_conditions import (
    FILE,
    Cost,
    as_toml,
    course_budget,
    measure_costs,
    recorded_costs,
)
from knightfall.studies.costs.course_positions import FENS
from knightfall.studies.costs.in_python import SCORES
from knightfall.studies.costs.in_python.staged import longest_win, longest_win_difference
from knightfall.studies.published.published import studies

IDS = list(published_ids())
PLAYING_OUT = ["longest_win", "longest_win_difference"]
FEW = 9
"""Open cells up to which all lines can be played out within a leaf's share."""

LEAVES_THE_END_TO_THE_SEARCH = {
    id for id, study in published_ids().items() if study == "staged" and id != "main_less_more"
}


@cache
def some_positions() -> tuple[Position, ...]:
    """From all phases of games on three boards, both placed; and some with hardly a cell open."""
    found = []
    for seed, (width, height) in enumerate([(7, 7), (5, 6), (9, 6)]):
        found += random_positions(width, height, 30, seed, min_placed=2)
    crowded = [p for p in random_positions(4, 5, 150, 7, min_placed=2) if len(p.open) <= FEW]
    return (*found, *crowded[:30])


def on_course_board(position: Position) -> tuple[CourseBoard, dict[Side, object]]:
    """The board, and the player of each side."""
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

    class Counting(CourseBoard):
        def get_legal_moves(self, player: object = None) -> list[Cell]:
            nonlocal steps
            steps += 1
            return super().get_legal_moves(player)

    board = set_up(Counting, Position.from_fen(FENS[0]), "mover")
    for score in (longest_win, longest_win_difference):
        for share in (10, 1000):
            steps = 0
            score(board, "mover", share)
            assert steps == share


# -- the search ------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["improved", "bfs_reach", "main", "open_cluster", "weighted_moves"])
def test_the_search_finds_what_the_compiled_one_finds(id: str) -> None:
    for fen in FENS[::6]:
        position = Position.from_fen(fen)
        search = PlainSearch(SCORES[id])
        board = set_up(CourseBoard, position, search)
        value, _ = search.best(board, board.get_legal_moves(), 3)
        report = think(position, "alphabeta", evaluator(id), Budget(depth=3))
        assert value == pytest.approx(report.score, rel=1e-12)


def test_deepening_ends_with_a_whole_depth_or_a_proof() -> None:
    position = Position.from_fen(FENS[1])
    search = PlainSearch()
    board = set_up(CourseBoard, position, search)
    order = board.get_legal_moves()
    spent = []
    for depth in range(1, 5):
        search.best(board, order, depth)
        spent.append(search.nodes)
    for nodes, depths in ((1, 1), (spent[0] + 1, 2), (sum(spent[:2]) + 1, 3), (sum(spent), 4)):
        search.deepen(board, order, nodes)
        assert search.nodes == sum(spent[:depths])
    ending = Position.from_fen("N2/2n/3 w")
    board = set_up(CourseBoard, ending, search)
    value, _ = search.deepen(board, board.get_legal_moves(), 10**9)
    assert PROVEN <= -value <= WIN


# -- the costs -------------------------------------------------------------------------------


def test_what_is_on_record() -> None:
    costs = recorded_costs()
    assert list(costs) == IDS
    assert costs["improved"].ratio == 1
    assert course_budget("improved") == 2500
    path = resources.files("knightfall.studies").joinpath(FILE)
    table = tomllib.loads(path.read_text("utf-8"))
    assert isinstance(table["date"], date)
    assert table["machine"]
    assert table["python"].startswith("CPython 3.")
    assert table["positions"] == len(FENS)
    for id, row in table["cost"].items():
        assert row["nodes"] == course_budget(id) == max(1, round(2500 / row["ratio"]))


def test_costs_are_in_the_order_they_must_be() -> None:
    """Whatever the machine: who does the same and more costs more."""
    ratio = {id: cost.ratio for id, cost in recorded_costs().items()}
    for more, less in [
        ("improved", "open"),
        ("open", "null"),
        ("improved", "mobility"),
        ("lookahead_mobility", "improved"),
        ("open_space_difference", "open_space"),
        ("main_less", "mobility"),
        ("bfs_reach", "near_center"),
        ("bfs_reach", "static_reach(1/2)"),
        ("open_cluster", "aggressive"),
        ("longest_win", "bfs_reach"),
    ]:
        assert ratio[more] > ratio[less], (more, less)


def test_every_agent_of_every_study_has_a_budget() -> None:
    for study in studies().values():
        for heuristic, agent in study.agents(course_budget).items():
            assert course_budget(heuristic) >= 1
            assert agent == f"id({heuristic}, nodes={course_budget(heuristic)}, plain)"
    with pytest.raises(KnightfallError, match="did you mean 'bfs_reach'"):
        course_budget("bfs_reah")


def test_measuring() -> None:
    def dear(game: CourseBoard, player: object) -> float:
        return sum(improved_score(game, player) for _ in range(100)) / 100

    told: list[int] = []
    costs = measure_costs(
        {"improved": improved_score, "dear": dear},
        positions=FENS[:3],
        rounds=2,
        nodes=50,
        told=told.append,
    )
    assert costs["improved"] == Cost(1.0)
    assert costs["dear"].ratio > 5
    assert told == [1, 2]
    assert tomllib.loads(as_toml(costs))["cost"]["dear"]["nodes"] == costs["dear"].nodes
    assert Cost(10_000.0).nodes == 1
    with pytest.raises(KnightfallError, match="improved must be among"):
        measure_costs({"dear": dear})
