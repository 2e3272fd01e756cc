"""Tests of wished heuristics: the shortest win, the steps left, the cluster."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import naive
import numpy as np
import pytest
from cli_runner import refused, run
from helpers import random_positions

import knightfall as kf
from knightfall import picture
from knightfall.board import Board
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.explain import explain
from knightfall.heuristics.registry import published_ids
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.heuristics.vocabulary import cut_short, steps_left, time_left
from knightfall.kernel.interrupt import stop_in
from knightfall.kernel.rules import geometry
from knightfall.position import Position, Side
from knightfall.search.budget import LEAF_STEP_LIMIT, Budget
from knightfall.search.run_search import SEARCHES, run_search
from knightfall.studies.report_builder import wish_report
from knightfall.studies.run_results import Tournament

SIDES: tuple[Side, Side] = ("w", "b")
START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")


def scattered(number: int, most: int, seed: int) -> list[Position]:
    """Return random positions with at most `most` open cells, on boards of several sizes."""
    rng = random.Random(seed)
    found = []
    for _ in range(number):
        board = Board.of(*rng.choice([(7, 7), (8, 8), (5, 5), (4, 6), (3, 7), (10, 6)]))
        white, black, *open = rng.sample(
            range(board.cells), rng.randint(2, min(most + 2, board.cells))
        )
        found.append(Position(board, frozenset(open), white, black, rng.choice(SIDES)))
    return found


# -- the shortest win ------------------------------------------------------------------------


def test_the_shortest_win_is_the_naive_one() -> None:
    lengths = set()
    late = [p for p in random_positions(7, 7, 150, 3, min_placed=2) if len(p.open) <= 13]
    for position in [*scattered(300, 13, 1), *late]:
        for side in SIDES:
            expected = naive.shortest_win(position, side)
            assert evaluator("shortest_win").value(position, side) == expected, position.fen
            lengths.add(position.board.cells - expected if expected else None)
            difference = evaluator("shortest_win_difference").value(position, side)
            assert difference == naive.shortest_win_difference(position, side)
    assert {None, 0, 1, 2, 3, 4, 5, 6, 7} <= lengths


def test_the_shortest_win_of_an_opening_is_found_by_brute_force() -> None:
    """Compare `shortest_win` of two early positions with a breadth-first search over all
    continuations.
    """
    for position in (START, Position.from_fen("7/7/7/7/5N1/4n2/7 w")):
        for side in SIDES:
            plies, layer = 0, {position}
            while not any(one.winner == side for one in layer):
                layer = {one.play(move) for one in layer for move in one.legal_moves}
                plies += 1
                assert plies < 7
            assert evaluator("shortest_win").value(position, side) == 49 - plies


def test_a_cut_evaluation_says_that_no_win_is_shorter() -> None:
    cut = 0
    for position in scattered(60, 25, 2):
        for side in SIDES:
            exact = evaluator("shortest_win").value(position, side)
            before = math.inf
            for share in (0, 1, 3, 10, 30, 10**6):
                found, whole = evaluator("shortest_win").measure(position, side, share)
                assert exact <= found <= before
                assert found == exact or not whole
                cut += not whole
                before = found
            assert (found, whole) == (exact, True)
    assert cut > 100


def test_the_wish_is_no_published_heuristic() -> None:
    for id in ("shortest_win", "shortest_win_difference"):
        assert id not in published_ids()
        assert (REGISTRY[id].study, REGISTRY[id].costly) == ("wishes", True)
        report = run_search(START, SEARCHES["deepening"], evaluator(id), Budget(nodes=500))
        assert report.nodes <= 500


# -- steps and time that are left --------------------------------------------------------------


WALK = """
from knightfall.heuristics import bit, cut_short, first, heuristic, moves, steps_left, time_left

def walk(board, open, me, opp, to_move):
    used = 0
    while moves(board, open, me) != 0:
        used += 1
        if steps_left(board, used) == 0:
            cut_short(board)
            return used
        me = first(moves(board, open, me))
        open &= ~bit(me)
    return used

class Plain:
    asked = 0

def plain(board, open, me, opp, to_move):
    Plain.asked += 1
    return walk(board, open, me, opp, to_move)

def clock(board, open, me, opp, to_move):
    return min(time_left(board), 1e6)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(WALK)
    return file


def test_a_users_heuristic_returns_what_it_has_when_its_steps_are_spent(mine: Path) -> None:
    quick = evaluator(f"{mine}:walk")
    with pytest.warns(HeuristicWarning):
        plain = evaluator(f"{mine}:plain")
    for one in (quick, plain):
        assert one.measure(START)[1]
        whole = one.value(START)
        assert one.measure(START, step_limit=5) == (5, False)
        assert one.measure(START, step_limit=int(whole) + 1) == (whole, True)
        reports = [
            run_search(START, SEARCHES["deepening"], one, Budget(nodes=200)) for _ in range(2)
        ]
        assert reports[0].cut == 0  # a walk has at most 49 steps
        assert (reports[0].move, reports[0].score) == (reports[1].move, reports[1].score)
    assert quick.value(START) == plain.value(START)


def test_cut_evaluations_of_a_users_heuristic_are_reported(mine: Path) -> None:
    mine.write_text(WALK.replace("used += 1", "used += 500"))
    one = evaluator(f"{mine}:walk")
    found = [run_search(START, SEARCHES["deepening"], one, Budget(nodes=300)) for _ in range(2)]
    assert found[0].cut == found[1].cut > 100
    assert found[0].score == found[1].score == LEAF_STEP_LIMIT
    told = json.loads(run("eval", "--heuristic", f"{mine}:walk", START.fen).output)
    assert "cut" not in told


def test_steps_and_time_by_hand() -> None:
    boards = geometry(START.board)
    board: Any = boards[0]
    assert time_left(board) == math.inf
    board.step_limit = 10
    assert [steps_left(board, used) for used in (0, 9, 10, 11)] == [10, 1, 0, 0]
    cut_short(board)
    cut_short(board)
    assert board.cut == 2
    stop_in(boards, 5.0)
    if board.clock:
        assert 4.0 < time_left(board) <= 5.0
        stop_in(boards, -1.0)
        assert time_left(board) == 0.0
    board.limit = 0
    assert (steps_left(board, 0), time_left(board)) == (0, 0.0)


def test_a_heuristic_may_ask_for_the_time_left(mine: Path) -> None:
    one = evaluator(f"{mine}:clock")
    assert one.value(START) == 1e6
    assert run_search(START, SEARCHES["deepening"], one, Budget(nodes=100)).score == 1e6
    report = run_search(START, SEARCHES["deepening"], one, Budget(depth=1, time=2_000_000))
    if geometry(START.board)[0].clock or report.score < 1e6:
        assert 0 < report.score < 2.0


# -- the cluster -------------------------------------------------------------------------------


def naive_window(position: Position) -> set[int]:
    """Return the cells of the window with the fewest blocked cells; of several, the first by
    columns.
    """
    board = position.board
    rows, columns = round(board.height / 2), round(board.width / 2)
    windows = [
        {board.at(top + r, left + c) for r in range(rows) for c in range(columns)}
        for left in range(board.width - columns + 1)
        for top in range(board.height - rows + 1)
    ]
    return min(windows, key=lambda cells: len(cells - position.open))


def test_the_cluster_shown_is_the_window_of_the_definition() -> None:
    for position in [*scattered(60, 30, 5), *random_positions(7, 7, 40, 6, min_placed=2)]:
        found = explain(position, "open_cluster").cluster
        assert found is not None
        assert set(found.cells) == naive_window(position)
        row, column = divmod(found.center, position.board.width)
        knight = naive.place(position, "w")
        sides = position.board.height + position.board.width
        near = abs(knight // position.board.width - row) + abs(
            knight % position.board.width - column
        )
        pull = (sides - near) / sides if found.counts else 0.0
        value = evaluator("open_cluster").value(position, "w")
        assert value == pytest.approx(naive.aggressive(position, "w") + pull)


def test_the_cluster_is_drawn(tmp_path: Path) -> None:
    fen = "7/2*4/1N1*3/3*1*1/1*5/1*2n2/***4 w"
    shown = run(
        "eval",
        "--explain",
        fen,
        "--heuristic",
        "2*open_cluster",
        "--chart",
        str(tmp_path / "a.svg"),
    )
    assert shown.exit_code == 0
    assert "5  . N .[* . . .]\n4  . . .[* . * .]\n3  . * . . . . .\n" in shown.output
    assert "d7 to g4, with 3 blocked cells; its centre cell is f5" in shown.output
    drawing = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert drawing.count('class="marked"') == 16
    told = json.loads(run("eval", "--heuristic", "open_cluster", "--explain", fen, "--json").output)
    (explained,) = told["explained"]
    assert explained["cluster"]["center"] == "f5"
    assert explained["value"] == told["values"]["open_cluster"]
    (other,) = json.loads(run("eval", "--explain", fen, "--json").output)["explained"]
    assert "cluster" not in other


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that refuses even root")
def test_a_picture_that_cannot_be_written_is_bad_input() -> None:
    """Check that a chart's path in a folder that not even root can write to is refused as bad
    input.
    """
    fen = "7/7/1N5/7/7/4n2/7 w"
    refused = run(
        "eval", "--explain", fen, "--heuristic", "open_cluster", "--chart", "/proc/cluster.svg"
    )
    assert refused.exit_code == 2
    assert "cannot write into the folder '/proc'" in refused.output


def test_marked_cells_are_in_brackets() -> None:
    position = Position.from_fen("3/N1*/2n w")
    assert picture.text(position, {0, 2, 3, 4, 5}).splitlines()[:3] == [
        "3 [.].[.]",
        "2 [N . *]",
        "1  . . n",
    ]
    assert picture.text(position) == position.text()


def test_explaining_the_other_side() -> None:
    found = explain(START, "open", "b")
    assert (found.side, found.value) == ("b", kf.evaluator("open").value(START, "b"))
    error = refused("eval", "--heuristic", "learned_linear", "--explain", "--for", "b", START.fen)
    assert "explained only for the side to move, which is w in" in error
    assert np.isfinite(found.value)


def tournament_with(heuristics: tuple[str, ...], openings: int, seed: int) -> Tournament:
    """Return a tournament of made-up scores against two opponents."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (len(heuristics), 2, openings)).astype(np.int8)
    shares = rng.uniform(0, 100, (3, len(heuristics), 2))
    return Tournament(heuristics, ("a", "b"), scores, *shares)


@pytest.mark.parametrize("openings", [20, 30])
@pytest.mark.parametrize("own", [("new",), ("new", "old"), ("other",)])
def test_a_wish_is_compared_with_what_the_study_played(own: tuple[str, ...], openings: int) -> None:
    """Compare the report with sums in plain Python, over the openings that both have."""
    study, wished = tournament_with(("old",), 25, 1), tournament_with(own, openings, 2)
    asked: Any = SimpleNamespace(
        wish="better", where="page 1", commands=("x",), finding="", budgets=("nodes", "course"),
        comparisons=[SimpleNamespace(who="new", than=("old",), found_by="learn")],
    )  # fmt: skip
    played: Any = {"time": study, "nodes": study}
    report = wish_report(asked, cast(Any, None), played, {"nodes": wished})
    (found,) = report.comparisons
    assert (report.wish, report.where, report.commands) == ("better", "page 1", ("x",))
    assert (found.who, found.than, found.found_by) == ("new", "old", "learn")
    if "new" not in own:
        assert found.gaps == {}
        return
    assert list(found.gaps) == list(found.rates) == list(found.given_up) == ["nodes"]
    new = wished.scores[0]
    old = wished.scores[1] if "old" in own else study.scores[0]
    leads = [
        sum(int(new[at, opening]) - int(old[at, opening]) for at in (0, 1)) / 4
        for opening in range(min(25, openings))
    ]
    assert found.gaps["nodes"].points == pytest.approx(100 * sum(leads) / len(leads))
    assert found.rates["nodes"].rate == pytest.approx(50 * new.sum() / new.size)
    assert found.given_up["nodes"] == pytest.approx(sum(wished.forfeits[0]) / 2)
