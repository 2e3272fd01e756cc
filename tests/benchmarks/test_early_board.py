"""Tests of the course's first board against its last one: the same rules and values."""

from __future__ import annotations

import math
import random
import tomllib
from functools import cache
from typing import Any

import pytest
from helpers import random_game, random_positions

from benchmarks import course_heuristics
from benchmarks.costs import student_search, students
from benchmarks.costs.student_record import as_toml
from benchmarks.costs.student_scores import AS_WRITTEN
from benchmarks.course_board import CourseBoard, set_up
from benchmarks.course_heuristics import staged
from benchmarks.early_board import EarlyBoard
from knightfall.heuristics.registry import published_ids
from knightfall.position import Position, other
from knightfall.studies.node_costs import BOARDS, StudentCosts, read_student_costs

SCORES = {**course_heuristics.SCORES, "main_prop": staged.SCORES["main_prop"]}

MOVER, OTHER = "mover", "the other"
PLAYING_OUT = ("longest_win", "longest_win_difference")


FEW = 9
"""Most open cells at which playing out all games is fast."""


@cache
def some_positions() -> tuple[Position, ...]:
    """Return positions of all phases on four boards, some nearly full, with both knights placed."""
    found = []
    for seed, (width, height) in enumerate([(7, 7), (5, 6), (9, 6)]):
        found += random_positions(width, height, 25, seed, min_placed=2)
    crowded = [p for p in random_positions(4, 5, 100, 7, min_placed=2) if len(p.open) <= FEW]
    return (*found, *crowded[:20])


def both_boards(position: Position) -> tuple[Any, Any]:
    return set_up(EarlyBoard, position, MOVER), set_up(CourseBoard, position, MOVER)


def same(one: float, another: float) -> bool:
    return one == another or math.isclose(one, another, rel_tol=1e-12, abs_tol=1e-12)


# -- the board -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [EarlyBoard, CourseBoard])
def test_whole_games_follow_the_rules(kind: Any) -> None:
    for seed in range(12):
        game = list(random_game(Position.start(7, 7), random.Random(seed)))[2:]
        board, turn = set_up(kind, game[0], MOVER), game[0].to_move
        for position in game:
            where = position.board
            player = {turn: MOVER, other(turn): OTHER}
            for side in ("w", "b"):
                found = board.get_legal_moves(player[side])
                assert {where.at(*cell) for cell in found} == set(position.targets(side))
                assert where.at(*board.get_player_location(player[side])) == position.knight(side)
                assert board.is_winner(player[side]) == (position.winner == side)
                assert board.is_loser(player[side]) == (position.winner == other(side))
            assert {where.at(*cell) for cell in board.get_blank_spaces()} == position.open
            assert board.active_player == player[position.to_move]
            if position is not game[-1]:
                following = game[game.index(position) + 1]
                cell = following.knight(position.to_move)
                assert cell is not None
                before = board.get_blank_spaces()
                after = board.forecast_move((where.row(cell), where.column(cell)))
                assert board.get_blank_spaces() == before  # a forecast is a copy
                board = after


def test_an_empty_board_is_as_the_first_students_knew_it() -> None:
    board = EarlyBoard(MOVER, OTHER)
    assert board.get_legal_moves() == board.get_blank_spaces()
    assert board.get_blank_spaces()[:8] == [(row, 0) for row in range(7)] + [(0, 1)]
    board.apply_move((3, 4))
    board.apply_move((5, 5))
    assert (board.__board_state__[3][4], board.__board_state__[5][5]) == (1, 2)
    assert board.__last_player_move__ == {MOVER: (3, 4), OTHER: (5, 5)}
    # The second player took (5, 5); the rest is in the order of the steps.
    order = [(1, 3), (1, 5), (2, 2), (2, 6), (4, 2), (4, 6), (5, 3)]
    assert board.__get_moves__((3, 4)) == board.get_legal_moves() == order
    assert board.move_count == 2


def test_a_position_is_laid_out_with_both_players_numbers() -> None:
    board = set_up(EarlyBoard, Position.from_fen("7/4*2/n1N4/2*4/7/7/7 w"), MOVER)
    assert (board.__board_state__[2][2], board.__board_state__[2][0]) == (1, 2)
    assert sum(cell != 0 for row in board.__board_state__ for cell in row) == 4
    for board in both_boards(Position.from_fen("7/4*2/n1N4/2*4/7/7/7 w")):
        board.turn_to(MOVER)
        assert board.active_player == MOVER
        board.turn_to(OTHER)
        assert (board.active_player, board.inactive_player) == (OTHER, MOVER)


# -- the values ------------------------------------------------------------------------------


@pytest.mark.parametrize("id", SCORES)
def test_a_heuristic_has_one_value_on_both_boards(id: str) -> None:
    tried = 0
    for position in some_positions():
        if id in PLAYING_OUT and len(position.open) > FEW:
            continue
        early, later = both_boards(position)
        for player in (MOVER, OTHER):
            one, another = (SCORES[id](board, player) for board in (early, later))
            assert same(one, another), (position.fen, player)
            assert early.get_blank_spaces() == later.get_blank_spaces()  # nothing has changed
            if not position.winner and all(position.targets(side) for side in ("w", "b")):
                assert same(AS_WRITTEN[id](early, player), one)
        tried += 1
    assert tried >= 10


def test_main_prop_is_its_formula() -> None:
    position = Position.from_fen("*2*3/1*3*1/1**n*2/1*1**1*/1***3/7/3N3 w")
    board = set_up(CourseBoard, position, MOVER)
    phase = len(position.open) / 49
    mobility, room = staged.mobility(board, MOVER), staged.open_space_difference(board, MOVER)
    assert mobility != room != 0
    wanted = phase * mobility + (1 - phase) * room
    assert SCORES["main_prop"](board, MOVER) == pytest.approx(wanted)


def test_who_asks_first_whether_the_game_is_over() -> None:
    """Check which scores test first whether the game is over: the course's for the side to move,
    those of the reachability study for both sides, those of the directional study for neither.
    """
    stuck = Position.from_fen("N1*/n**/*1* w")  # Black cannot move, and it is not its turn
    assert (stuck.targets("w"), stuck.targets("b")) == ([stuck.board.at(2, 1)], [])
    for board in both_boards(stuck):
        assert AS_WRITTEN["near_center"](board, MOVER) == math.inf
        assert AS_WRITTEN["near_center"](board, OTHER) == -math.inf
        assert AS_WRITTEN["improved"](board, MOVER) == 1
        over = board.forecast_move((2, 1))
        assert AS_WRITTEN["improved"](over, MOVER) == math.inf
        assert AS_WRITTEN["weighted_mobility"](over, MOVER) == 0
        assert AS_WRITTEN["coded:open_cluster"](over, MOVER) == 0


# -- measuring -------------------------------------------------------------------------------


def test_leaves_come_from_all_phases() -> None:
    found = student_search.leaves()
    assert len(found) > 150
    assert all(position.targets("w") and position.targets("b") for position in found)
    assert min(len(position.open) for position in found) < 20
    assert max(len(position.open) for position in found) > 43


def test_a_search_is_counted_step_by_step() -> None:
    paper, search = student_search.Paper(), student_search.StudentSearch(student_search.Paper.score)
    counts = search.count(paper, 1)
    assert (counts.calls, counts.forecasts, counts.listings, counts.scores) == (5, 4, 1, 4)
    assert (counts.listed, counts.moves, counts.open) == (4, 32, 0)
    costs = StudentCosts(1000, 100, 10, 1, 10**5, 10**7, 10**6)
    assert students.model(costs, counts) == 4000 + 100 + 40 + 5 + 4 * 10**5 + 32 * 10**6

    position = Position.from_fen("7/4*2/n1N4/2*4/7/7/7 w")
    for kind in (EarlyBoard, CourseBoard):
        search = student_search.StudentSearch(
            SCORES["lookahead_ratio"]
        )  # its own forecasts are not counted
        board = set_up(kind, position, search)
        counts = search.count(board, 1)
        moves = len(position.legal_moves)
        assert (counts.calls, counts.forecasts, counts.listed) == (moves + 1, moves, moves)
        assert type(board) is kind
        assert counts.open == moves * (len(position.open) - 1)


def test_a_fit_finds_what_things_cost() -> None:
    open, moves = [40, 30, 20, 10, 5], [3, 9, 4, 1, 6]
    costs = [100 + 7 * cells + 11 * number for cells, number in zip(open, moves, strict=True)]
    weights, error = students.fitted([[1] * 5, open, moves], costs)
    assert weights == [100, 7, 11]
    assert error < 1e-9
    weights, error = students.fitted([[1] * 5, open], [50 - cells for cells in open])
    assert weights[1] == 0  # an open cell costs nothing here
    assert error > 0.1


def test_what_is_measured_is_what_is_read() -> None:
    scores = {id: AS_WRITTEN[id] for id in ("improved", "bfs_reach", "main", "coded:open_cluster")}
    told: list[int] = []
    found = students.measured(student_search.leaves()[::8], scores, 2, told.append)
    text = as_toml(found, 24, 2)
    assert told == [1, 2]
    assert {*tomllib.loads(text)} == {"date", "machine", "python", "positions", "rounds", *BOARDS}
    table = read_student_costs(text)
    for board in BOARDS:
        assert list(table[board]["score"]) == list(scores)
        assert table[board]["forecast"] == found[board].forecast > 0
        assert found[board].scores["bfs_reach"].mean > found[board].scores["improved"].mean


def test_everything_is_timed() -> None:
    assert set(AS_WRITTEN) == {*published_ids(), "main_prop", "coded:open_cluster"}
