"""The compiled searches compared with full searches in plain Python and with exact solutions of
small games; and the contract of every search: legal moves, kept budgets, reproducible results.

The node counts in `SIGNATURE` are the signature of the searches.  After a change that is meant to
alter them, print the new table with::

    python tests/search/test_search.py
"""

from __future__ import annotations

import json
import math
import random
import threading
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import random_game, random_positions, some_and_all, times_the_examples
from hypothesis import given
from hypothesis import strategies as st
from naive import NAIVE, Naive, naive_static_reach
from naive_search import exact_value, mirrored, reported, roamed, search, timeless, within_ceiling
from naive_solver import plies_to_end
from strategies import odd_positions, positions

from knightfall.agents import DeepeningAgent, parse_agent
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position, other
from knightfall.search.budget import Budget, Report
from knightfall.search.run_search import SEARCHES, run_search

METHODS = tuple(method for method in SEARCHES if method != "any_move")
"""The correct searches that look ahead; students' searches are in test_student.py."""

HEURISTICS: dict[str, Naive] = {
    **{
        id: NAIVE[id]
        for id in (
            "null",
            "open",
            "center",
            "improved",
            "center_pull",
            "weighted_moves",
            "near_opponent",
            "far_opponent",
            "bfs_reach",
            "open_space_next",
            "aggressive",
            "lookahead_ratio",
            "open_cluster",
        )
    },
    "static_reach(1/3)": naive_static_reach(Fraction(1, 3)),
}
"""The tested heuristics: most are not zero-sum, some depend on the mover, one is often infinite."""

PLAIN_METHODS = ("minimax", "alphabeta", "plain_deepening")


def still_on(found: list[Position]) -> list[Position]:
    """Return the positions in which the game is not over."""
    return [position for position in found if position.winner is None]


@cache
def small_and_large() -> list[Position]:
    """Return positions of five sizes in any phase, with both knights placed."""
    sizes = {(3, 4): 30, (4, 4): 40, (5, 5): 30, (7, 7): 15, (8, 8): 8}
    return still_on(
        [
            position
            for seed, ((width, height), number) in enumerate(sizes.items())
            for position in random_positions(width, height, number, seed, min_placed=2)
        ]
    )


PLACEMENTS = [
    *((Position.start(*size), 3) for size in ((3, 3), (3, 4), (4, 4))),
    *((Position.start(*size), 2) for size in ((5, 5), (4, 7))),
    (Position.start(7, 7), 1),
    (Position.from_fen("3/1N1/3[n] b"), 4),
    (Position.from_fen("1N2/4/4[n] b"), 4),
    (Position.from_fen("5/5/2N2/5/5[n] b"), 3),
    (Position.from_fen("7/7/7/1N5/7/7/7[n] b"), 2),
    (Position.from_fen("N7/8/8/8/8/8/8/8[n] b"), 2),
    # Blocked from the start, as a FEN may be.
    (Position.from_fen("2*1/*2*/1*2/3*[Nn] w"), 3),
]
"""Positions with knights in the pocket, and the depth that plain Python can search."""


def played(position: Position, line: tuple[str, ...]) -> Position:
    """Return the position at the end of a line; `play` raises for an illegal move."""
    for move in line:
        position = position.play(move)
    return position


def within_rounding(value: float) -> Any:
    """Return whether two values are equal but for rounding in the last bits."""
    return pytest.approx(value, rel=0, abs=1e-9)


def check_against_naive(position: Position, depth: int, id: str) -> None:
    """Check that each plain search finds the value, a best move, and a line with that value."""
    heuristic = HEURISTICS[id]
    tree = search(position, depth, heuristic)
    close = within_rounding(tree.value)
    for method in PLAIN_METHODS:
        report = run_search(position, SEARCHES[method], evaluator(id), Budget(depth=depth))

        def told(method: str = method, report: Report = report) -> str:  # called only on failure
            return f"{method} depth {depth} {id} {position.fen}: {report}"

        assert reported(report) == close, told()
        assert tree.moves[report.move] == close, told()
        assert report.move == report.pv[0], told()
        assert report.cut == 0
        if method == "minimax":
            assert report.nodes == tree.nodes, told()
        if method != "plain_deepening":
            assert report.depth == depth, told()
            assert report.nodes <= tree.nodes, told()
        end = played(position, report.pv)
        if report.proven:
            assert len(report.pv) == report.plies, told()
            winner = position.to_move if report.score > 0 else other(position.to_move)
            assert end.winner == winner, told()
        else:
            assert len(report.pv) == report.depth == depth, told()
            leaf = heuristic(end, position.to_move) if end.placed else 0.0
            assert within_ceiling(leaf) == within_rounding(reported(report)), told()


# -- the value of a depth --------------------------------------------------------------------


@some_and_all
@pytest.mark.parametrize("id", HEURISTICS)
def test_plain_searches_equal_a_full_search_in_plain_python(id: str, step: int) -> None:
    for number, position in enumerate(small_and_large()[::step]):
        for depth in (1, 2, 3, 4):
            if depth < 4 or step == 1 or number % 3 == 0:  # plain Python takes long for this
                check_against_naive(position, depth, id)


@pytest.mark.parametrize("id", ["null", "improved", "center", "near_opponent", "bfs_reach"])
def test_plain_searches_place_knights_as_a_full_search_does(id: str) -> None:
    for position, deepest in PLACEMENTS:
        for depth in range(1, deepest + 1):
            check_against_naive(position, depth, id)


@given(
    position=odd_positions().filter(lambda position: position.winner is None),
    id=st.sampled_from(["open", "improved", "far_opponent", "center", "open_space_next"]),
)
def test_plain_searches_understand_any_fen(position: Position, id: str) -> None:
    check_against_naive(position, 2 if position.placed else 1, id)


def test_leaves_before_both_knights_stand_count_nothing() -> None:
    # `center` is 0.5 or more for every cell, so a score of 0 is not its value.
    report = parse_agent("minimax(center, depth=1)").analyse(Position.start(7, 7))
    assert (report.score, report.nodes, report.proven) == (0.0, 50, False)
    report = parse_agent("minimax(center, depth=2)").analyse(Position.start(7, 7))
    assert report.score == 24.5


def early(how_many: int, seed: int) -> list[Position]:
    """Return positions of 7×7 with at least 35 open cells, far from any separation."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < how_many:
        game = list(random_game(Position.start(7, 7), rng))[2:12]
        found += [position for position in game if len(position.open) >= 35 and rng.random() < 0.2]
    return found[:how_many]


def cut_off_within(position: Position, plies: int) -> bool:
    """Return whether a line of at most `plies` plies separates the knights or ends the game."""
    if position.winner is not None:
        return True
    assert position.white is not None
    assert position.black is not None
    meet = roamed(position.board, position.open, position.white) & roamed(
        position.board, position.open, position.black
    )
    if not meet:
        return True
    if plies == 0:
        return False
    return any(cut_off_within(position.play(move), plies - 1) for move in position.legal_moves)


@some_and_all
@pytest.mark.parametrize(
    "id",
    [
        *("improved", "open", "center", "near_opponent", "bfs_reach"),
        *("lookahead_ratio", "open_cluster"),
        # Null windows are narrow; these values lie even closer together, or far apart.
        *("1/999999999*bfs_reach", "999999999*bfs_reach", "1/999999999*improved"),
    ],
)
def test_deepening_gives_the_value_of_plain_alphabeta(id: str, step: int) -> None:
    compared = 0
    for position in early(25, seed=3)[::step]:
        if cut_off_within(position, 2):
            continue
        for depth in range(1, 7):
            report = parse_agent(f"id({id}, depth={depth})").analyse(position)
            plain = parse_agent(f"alphabeta({id}, depth={depth})").analyse(position)
            told = f"depth {depth}: {position.fen}"
            assert reported(report) == reported(plain), told
            assert value_of_move(position, report.move, id, depth) == reported(plain), told
            assert report.pv[0] == report.move, told
            assert len(report.pv) <= depth, told
            played(position, report.pv)
            compared += 1
    assert compared > (100 if step == 1 else 12)


def value_of_move(position: Position, move: str, id: str, depth: int) -> float:
    """Return the value of a move, by plain alpha-beta searches of each reply."""
    me = position.to_move
    after = position.play(move)
    assert after.winner is None
    if depth == 1:
        return within_ceiling(evaluator(id).value(after, me))
    values = []
    for reply in after.legal_moves:
        there = after.play(reply)
        assert there.winner is None
        if depth == 2:
            values.append(within_ceiling(evaluator(id).value(there, me)))
        else:
            rest = parse_agent(f"alphabeta({id}, depth={depth - 2})").analyse(there)
            assert not rest.proven
            values.append(reported(rest))
    return min(values)


def test_deepening_needs_fewer_nodes_than_plain_alphabeta() -> None:
    ours = plain = 0
    for position in early(20, seed=4):
        ours += parse_agent("id(improved, depth=7)").analyse(position).nodes
        plain += parse_agent("id(improved, depth=7, plain)").analyse(position).nodes
    assert ours < plain


# -- won and lost games ----------------------------------------------------------------------


def openings(width: int, height: int) -> list[Position]:
    """Return all openings, first player to move."""
    board = Board.of(width, height)
    every = frozenset(range(board.cells))
    return [
        Position(board, every - {white, black}, white, black, "w")
        for white in every
        for black in every - {white}
    ]


@cache
def solvable() -> list[Position]:
    """Return positions that plain Python can search to the end."""
    found = random_positions(4, 4, 150, 11, min_placed=2)
    found += random_positions(3, 7, 100, 12, min_placed=2)
    found += random_positions(4, 5, 150, 13, min_placed=2)
    found += random_positions(5, 5, 250, 14, min_placed=2)
    found += random_positions(7, 7, 250, 15, min_placed=2)
    few = [position for position in still_on(found) if len(position.open) <= 12]
    # In these two a longer win by separation is found before the shortest win.
    two = ["4*/2*1*/2*n1/3N1/1*3 b", "1*1N/1*1n/4/4/4 w"]
    return few + still_on(openings(3, 4)) + [Position.from_fen(fen) for fen in two] * 2


def check_exact(position: Position, report: Report) -> None:
    """Check that a report has the true result and length, and a move that leads there."""
    assert report.proven, position.fen
    assert reported(report) == exact_value(position), f"{position.fen}: {report}"
    assert plies_to_end(position.play(report.move)) == plies_to_end(position) - 1, position.fen
    assert report.pv[0] == report.move
    played(position, report.pv)


def test_there_are_enough_games_to_solve() -> None:
    won = [position for position in solvable() if plies_to_end(position) % 2]
    assert min(len(won), len(solvable()) - len(won)) > 120
    assert max(map(plies_to_end, solvable())) >= 9


@pytest.mark.parametrize("id", ["improved", "null", "center", "lookahead_ratio"])
def test_deepening_finds_the_exact_end_of_the_game(id: str) -> None:
    whole_game = parse_agent(f"id({id}, depth=64)")
    for position in solvable():
        check_exact(position, whole_game.analyse(position))


@pytest.mark.parametrize("method", PLAIN_METHODS)
def test_plain_searches_find_the_exact_end_of_the_game(method: str) -> None:
    for position in solvable()[::3]:
        depth = plies_to_end(position)
        report = run_search(
            position, SEARCHES[method], evaluator("improved"), Budget(depth=max(depth, 1))
        )
        check_exact(position, report)
        assert report.depth == depth


@pytest.mark.parametrize(("width", "height", "first_wins"), [(3, 4, 46), (4, 4, 64), (5, 5, 296)])
def test_every_opening_of_a_small_board_is_decided(
    width: int, height: int, first_wins: int
) -> None:
    whole_game = parse_agent("id(improved, depth=64)")
    won = 0
    for position in openings(width, height):
        if position.winner is None:
            report = whole_game.analyse(position)
            assert report.proven
            won += report.score > 0
    assert won == first_wins


@pytest.mark.parametrize(("width", "height"), [(3, 3), (3, 4), (4, 4), (3, 5), (5, 3)])
def test_free_placement_on_small_boards_is_decided(width: int, height: int) -> None:
    start = Position.start(width, height)
    if width * height < 15:
        check_exact(start, parse_agent("id(improved, depth=64)").analyse(start))
    else:
        report = parse_agent("id(improved, depth=64)").analyse(start)
        replies = [
            start.play(report.move).play(move) for move in start.play(report.move).legal_moves
        ]
        assert report.proven
        assert (report.score > 0) == all(plies_to_end(reply) % 2 for reply in replies)


MISLEADING = """
import math

def huge(board, open, me, opp, to_move):
    return 1e300

def hopeless(board, open, me, opp, to_move):
    return -1e300

def infinite(board, open, me, opp, to_move):
    return math.inf

def minus_infinite(board, open, me, opp, to_move):
    return -math.inf

def not_a_number(board, open, me, opp, to_move):
    return math.nan

def moody(board, open, me, opp, to_move):
    sign = 1.0 if (open >> 3) & 1 else -1.0
    if board.row[me] == 1:
        return math.nan
    return sign * (math.inf if to_move == me else 1e300)
"""


@pytest.fixture(scope="module")
def misleading_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write all misleading heuristics to one file, so that each is compiled only once."""
    file = tmp_path_factory.mktemp("misleading") / "misleading.py"
    file.write_text(MISLEADING)
    return file


@some_and_all
@pytest.mark.parametrize(
    "name", ["huge", "hopeless", "infinite", "minus_infinite", "not_a_number", "moody"]
)
def test_no_heuristic_outweighs_a_proof(misleading_file: Path, name: str, step: int) -> None:
    misleading = evaluator(f"{misleading_file}:{name}")
    for position in solvable()[:: 2 * step]:
        plies = plies_to_end(position)
        check_exact(
            position, run_search(position, SEARCHES["deepening"], misleading, Budget(depth=64))
        )
        for method in METHODS:
            # Deep enough for a win, not for the results of the other moves.
            if plies % 2:
                check_exact(
                    position,
                    run_search(position, SEARCHES[method], misleading, Budget(depth=plies)),
                )
            elif plies > 1 and method in PLAIN_METHODS:
                report = run_search(position, SEARCHES[method], misleading, Budget(depth=plies - 1))
                assert not report.proven
                assert abs(report.score) > 1e300


def test_an_infinite_heuristic_is_no_proof(misleading_file: Path) -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    for name, score in [("infinite", math.inf), ("hopeless", -math.inf), ("huge", math.inf)]:
        for method in METHODS:
            misleading = evaluator(f"{misleading_file}:{name}")
            report = run_search(position, SEARCHES[method], misleading, Budget(depth=3))
            assert (report.score, report.proven, report.plies) == (score, False, None)


def test_what_is_called_proven_within_a_small_budget_is_true() -> None:
    found = [p for p in random_positions(4, 5, 150, 13, min_placed=2) if 9 <= len(p.open) <= 13]
    for position in [*still_on(found), Position.from_fen("4/*1Nn/1*2/1*2/4 b")]:
        for nodes in range(20, 260, 3):
            report = parse_agent(f"id(improved, nodes={nodes})").analyse(position)
            if report.proven:
                assert (report.score > 0) == (plies_to_end(position) % 2 == 1), (
                    f"{position.fen} nodes={nodes}: {report}"
                )


# -- budgets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nodes", [1, 2, 3, 10, 57, 400])
def test_no_search_visits_more_nodes_than_it_may(method: str, nodes: int) -> None:
    starts = [Position.start(7, 7), Position.from_fen("8/8/8/3N4/8/8/8/8[n] b")]
    for position in small_and_large() + starts:
        for depth in (None, 1, 3, 6):
            if method in ("minimax", "alphabeta") and depth is None:
                continue
            budget = Budget(depth=depth, nodes=nodes)
            report = run_search(position, SEARCHES[method], evaluator("improved"), budget)
            assert 1 <= report.nodes <= nodes
            assert report.depth <= (depth or 64)
            assert report.move in position.legal_moves
            assert report.pv[0] == report.move
            played(position, report.pv)


@times_the_examples(2)
@given(
    position=positions().filter(lambda position: position.winner is None),
    id=st.sampled_from(["improved", "bfs_reach", "center", "main", "longest_win"]),
    nodes=st.integers(1, 3000),
    seed=st.integers(0, 2**63 - 1),
    plain=st.booleans(),
)
def test_any_budget_gives_a_legal_move(
    position: Position, id: str, nodes: int, seed: int, plain: bool
) -> None:
    thinker = DeepeningAgent(id, Budget(nodes=nodes), seed, plain=plain)
    report = thinker.analyse(position)
    assert report.move in position.legal_moves
    assert report.nodes <= nodes
    played(position, report.pv)


def test_a_stopped_plain_search_answers_for_its_last_whole_depth() -> None:
    depths = set()
    for position in small_and_large():
        for nodes in (1, 5, 20, 60, 150, 400):
            report = parse_agent(f"id(open, nodes={nodes}, plain)").analyse(position)
            depths.add(report.depth)
            if report.depth == 0:
                assert (report.score, report.proven, report.pv) == (0.0, False, (report.move,))
            elif report.depth <= 4:
                tree = search(position, report.depth, NAIVE["open"])
                assert reported(report) == tree.value
                assert tree.moves[report.move] == tree.value
    assert depths >= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("method", PLAIN_METHODS)
def test_a_search_answers_for_whole_depths_only(method: str) -> None:
    for position in still_on(random_positions(5, 5, 12, 24, min_placed=2)):
        whole = run_search(position, SEARCHES[method], evaluator("open"), Budget(depth=3))
        for nodes in range(1, whole.nodes + 3):
            report = run_search(
                position, SEARCHES[method], evaluator("open"), Budget(depth=3, nodes=nodes)
            )
            assert report.nodes == min(nodes, whole.nodes)
            if nodes > whole.nodes:
                assert timeless(report) == timeless(whole)
            elif report.depth > 0:
                part = run_search(
                    position, SEARCHES[method], evaluator("open"), Budget(depth=report.depth)
                )
                assert reported(report) == reported(part), f"{position.fen} nodes={nodes}"
                assert (report.move, report.pv) == (part.move, part.pv)
            else:
                assert (report.score, report.proven, report.pv) == (0.0, False, (report.move,))


def test_more_nodes_mean_more_depth() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    for plain in ("", ", plain"):
        depths = [
            parse_agent(f"id(improved, nodes={nodes}{plain})").analyse(position).depth
            for nodes in (1, 10, 100, 1000, 10_000, 100_000)
        ]
        assert depths == sorted(depths)
        assert depths[0] == 0
        assert depths[-1] >= 6


@pytest.mark.parametrize("method", METHODS)
def test_a_game_that_is_over_has_no_move(method: str) -> None:
    over = Position.from_fen("1*1/*N*/*1n w")
    assert over.winner == "b"
    with pytest.raises(KnightfallError, match=r"1\*1/\*N\*/\*1n w.*over"):
        run_search(over, SEARCHES[method], evaluator("improved"), Budget(depth=2))


# -- costly heuristics -------------------------------------------------------------------------


@some_and_all
@pytest.mark.parametrize("id", ["longest_win", "longest_win_difference", "main", "main_alt_03"])
def test_a_costly_heuristic_keeps_the_budget_and_counts_what_it_cut(id: str, step: int) -> None:
    cut = {"early": 0, "late": 0}
    for position in still_on(random_positions(7, 7, 40, 21, min_placed=2))[::step]:
        report = parse_agent(f"id({id}, nodes=2000)").analyse(position)
        assert report.nodes <= 2000
        assert report.move in position.legal_moves
        assert 0 <= report.cut <= report.nodes
        if len(position.open) >= 40:
            cut["early"] += report.cut
        elif len(position.open) <= 9:
            cut["late"] += report.cut
        again = parse_agent(f"id({id}, nodes=2000)").analyse(position)
        assert timeless(again) == timeless(report)
    # In early positions the steps do not suffice for the longest win; in late ones they do.
    assert (cut["early"] > 0) == id.startswith("longest")
    assert cut["late"] == 0


def test_a_costly_heuristic_in_a_shallow_search_equals_the_slow_one() -> None:
    compared = 0
    for position in still_on(random_positions(5, 5, 300, 22, min_placed=2)):
        if len(position.open) > 11:
            continue
        for id in ("longest_win", "main", "main_alt_staggered"):
            for depth in (1, 2):
                report = parse_agent(f"minimax({id}, depth={depth})").analyse(position)
                assert report.cut == 0
                tree = search(position, depth, NAIVE[id])
                assert reported(report) == within_rounding(tree.value)
                compared += not report.proven
    assert compared > 60


# -- symmetry --------------------------------------------------------------------------------

SYMMETRIC = [row.id for row in REGISTRY.values() if row.symmetric and not row.parameter]


@some_and_all
@pytest.mark.parametrize("id", [*SYMMETRIC, "static_reach(1/3)", "2*open-1/3*bfs_reach"])
def test_mirror_images_have_equal_values(id: str, step: int) -> None:
    found = random_positions(5, 5, 12, 31, min_placed=2) + random_positions(
        7, 7, 8, 32, min_placed=2
    )
    found += random_positions(4, 6, 6, 33, min_placed=2)
    found += [Position.start(4, 4), Position.from_fen("1N3/5/5/5/5[n] b")]
    compared = 0
    for position in still_on(found)[:: (step + 1) // 2]:
        depth = 5 if position.placed else 3
        thinker = parse_agent(f"id({id}, depth={depth})")
        report = thinker.analyse(position)
        if report.cut:
            continue  # limited steps end elsewhere in a mirror image
        for symmetry in position.board.symmetries:
            image = thinker.analyse(mirrored(position, symmetry))
            assert reported(image) == reported(report), f"{position.fen} {symmetry}"
        compared += 1
    assert compared >= 10 // step


@pytest.mark.parametrize("id", ["improved", "open", "bfs_reach", "near_opponent", "null"])
def test_placement_with_symmetry_finds_what_it_finds_without(id: str) -> None:
    cases = [(Position.start(3, 4), 64), (Position.start(4, 4), 5), (Position.start(5, 5), 5)]
    cases += [(Position.start(4, 6), 4), (Position.start(7, 7), 4)]
    cases += [(Position.from_fen("5/5/1N3/5/5[n] b"), 6), (Position.from_fen("8/N7/8/8[n] b"), 5)]
    # A blocked cell breaks the symmetry of the board; then no position may be mirrored.
    cases += [(Position.from_fen("*4/5/5/5/5[Nn] w"), 4), (Position.from_fen("1*2/3N/4/4[n] b"), 5)]
    saved = 0
    for position, depth in cases:
        for seed in (0, 1):
            budget = Budget(depth=depth)
            report = run_search(position, SEARCHES["deepening"], evaluator(id), budget, seed)
            # Without `symmetric` no position is mirrored.
            careful = replace(evaluator(id), symmetric=False)
            without = run_search(position, SEARCHES["deepening"], careful, budget, seed)
            assert reported(report) == reported(without), position.fen
            assert report.depth == without.depth
            assert report.move in position.legal_moves
            saved += without.nodes - report.nodes
    assert saved > 0


def test_symmetry_saves_half_of_the_nodes_of_placement() -> None:
    """Check that images are merged after both placements: merged after one, they save 40 %."""
    start, careful = Position.start(4, 4), replace(evaluator("improved"), symmetric=False)
    with_symmetry, without = (
        run_search(start, SEARCHES["deepening"], heuristic, Budget(depth=5)).nodes
        for heuristic in (evaluator("improved"), careful)
    )
    assert with_symmetry < 0.55 * without


@pytest.mark.parametrize("id", ["improved", "center", "center_pull", "open_cluster", "open-center"])
def test_placement_by_deepening_equals_plain_alphabeta(id: str) -> None:
    for position, depth in [
        (Position.start(3, 4), 4),
        (Position.start(4, 4), 4),
        (Position.start(4, 5), 3),
        (Position.start(7, 7), 3),
        (Position.from_fen("7/7/5N1/7/7/7/7[n] b"), 4),
    ]:
        report = parse_agent(f"id({id}, depth={depth})").analyse(position)
        plain = parse_agent(f"alphabeta({id}, depth={depth})").analyse(position)
        assert reported(report) == reported(plain), position.fen


# -- reproducible results --------------------------------------------------------------------

POSITIONS = {
    "start": "7/7/1N5/7/7/4n2/7 w",
    "middle": "1*5/**2*2/1N1*3/2*1*2/3*1n1/7/2*4 w",
    "late": "*2*1*1/1*N**1*/**1**2/1*1*n*1/*1**1**/1*2*1*/**1*1*1 b",
    "wide": "8/2*5/8/3N4/5*2/4n3/8/8 b",
    "placing": "7/7/7/2N4/7/7/7[n] b",
}

SIGNATURE: list[tuple[str, str, str, int]] = [
    ("id(improved, depth=8)", "start", "d4", 5713),
    ("id(improved, nodes=2500)", "start", "d4", 2500),
    ("id(improved, nodes=2500, seed=7)", "start", "c3", 2500),
    ("id(improved, nodes=2500, plain)", "start", "a3", 2500),
    ("id(bfs_reach, depth=9)", "start", "c3", 28515),
    ("id(improved, depth=64)", "middle", "d4", 155203),
    ("id(center_pull, depth=8, seed=3)", "middle", "d6", 3202),
    ("id(main, depth=7)", "middle", "d4", 1493),
    ("id(open-1/2*near_opponent, depth=7)", "middle", "d4", 1039),
    ("id(longest_win, depth=6)", "late", "d2", 134),
    ("id(improved, depth=64)", "late", "d2", 201),
    ("alphabeta(improved, depth=5)", "wide", "c4", 1101),
    ("alphabeta(center, depth=4, seed=9)", "middle", "d6", 91),
    ("minimax(open, depth=3)", "wide", "g4", 198),
    ("minimax(aggressive, depth=4, seed=1)", "start", "d6", 659),
    ("greedy(improved)", "wide", "f5", 8),
    ("id(improved, depth=4)", "placing", "e4", 855),
    ("id(static_reach(1/3), depth=7)", "wide", "c2", 5262),
]
"""Agent, position, move, nodes.  The docstring of this file says how to print a new table."""

CASES = [(text, name) for text, name, _, _ in SIGNATURE]


def answer(text: str, name: str) -> Report:
    return timeless(parse_agent(text).analyse(Position.from_fen(POSITIONS[name])))


def signed(text: str, name: str) -> tuple[str, str, str, int]:
    report = answer(text, name)
    return text, name, report.move, report.nodes


@pytest.mark.parametrize("row", SIGNATURE, ids=lambda row: f"{row[0]} {row[1]}")
def test_signature(row: tuple[str, str, str, int]) -> None:
    assert signed(row[0], row[1]) == row


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    alone = {case: answer(*case) for case in CASES}
    rng = random.Random(5)
    for _ in range(3):
        order = CASES * 2
        rng.shuffle(order)
        for case in order:
            assert answer(*case) == alone[case]


def test_an_answer_does_not_depend_on_the_thread() -> None:
    answers: dict[int, list[Any]] = {}

    def ask(number: int) -> None:
        cases = list(CASES)
        random.Random(number).shuffle(cases)
        answers[number] = sorted(signed(*case) for case in cases)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(answers.values()) == [sorted(SIGNATURE)] * 4


@some_and_all
@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "id", "plain id"])
def test_every_one_of_the_equal_moves_may_be_chosen(kind: str, step: int) -> None:
    ties = 0
    for position in small_and_large()[:: 3 * step]:
        for depth in (1, 2, 3):
            tree = search(position, depth, NAIVE["open"])
            best = {move for move, value in tree.moves.items() if value == tree.value}
            name, word = kind.removeprefix("plain "), ", plain" if "plain" in kind else ""
            thinker = parse_agent(f"{name}(open, depth={depth}{word})")
            chosen = {replace(thinker, seed=seed).choose(position) for seed in range(80)}
            if kind != "id" or depth == 1:
                assert chosen == best, f"{position.fen} depth {depth}"
            else:
                # Among equal moves this search keeps the one that was best a ply before.
                assert chosen <= best, f"{position.fen} depth {depth}"
            ties += len(best) > 1
    assert ties >= 21 // step


def test_the_first_placement_is_drawn_from_all_cells() -> None:
    start = Position.start(7, 7)
    chosen = {parse_agent(f"id(null, nodes=1, seed={seed})").choose(start) for seed in range(600)}
    assert chosen == set(start.legal_moves)


def test_seeds_mean_the_same_to_every_agent_of_a_kind() -> None:
    position = Position.from_fen(POSITIONS["start"])
    for text in ("id(null, depth=2, seed={})", "minimax(open, depth=1, seed={})"):
        first = [parse_agent(text.format(seed)).choose(position) for seed in range(30)]
        again = [parse_agent(text.format(seed)).choose(position) for seed in range(30)]
        assert first == again
        assert len(set(first)) > 1


if __name__ == "__main__":
    for case in CASES:
        print(f"    {json.dumps(signed(*case))},".replace("[", "(").replace("]", ")"))
