"""Every heuristic: its naive version, its flags, its step budget, and relations between them."""

from __future__ import annotations

import inspect
import math
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from helpers import random_game, random_positions, some_and_all
from hypothesis import given
from naive import NAIVE, naive_static_reach
from strategies import positions

from knightfall.board import Board
from knightfall.heuristics import REGISTRY, reachability, staged
from knightfall.heuristics.c_signature import ready
from knightfall.heuristics.registry import PARAMETERS, PUBLISHED, STUDIES
from knightfall.kernel.compile import cache_folder, compile_later
from knightfall.kernel.rules import NO_LIMIT, geometry, words
from knightfall.position import Position, Side

SPECIFIED = {
    "course": ["null", "open", "center", "improved"],
    "lookahead": ["lookahead_mobility", "center_pull", "corner_averse"],
    "directional": ["weighted_mobility", "weighted_difference", "weighted_moves"],
    "reachability": [
        "near_center",
        "near_edges",
        "near_opponent",
        "far_opponent",
        "static_reach",
        "bfs_reach",
    ],
    "staged": [
        "mobility",
        "open_space",
        "open_space_difference",
        "open_space_next",
        "longest_win",
        "longest_win_difference",
        "main",
        "main_alt",
        "main_alt_01",
        "main_alt_03",
        "main_less",
        "main_less_more",
        "main_staggered",
        "main_alt_staggered",
        "main_prop",
    ],
    "aggressive": ["aggressive", "lookahead_ratio", "open_cluster"],
}

LOPSIDED = {"center", "center_pull", "open_cluster"}
"""The ids whose value differs in a mirrored position."""

LONGEST = {"longest_win", "longest_win_difference"}
SEARCHING = LONGEST | {id for id in SPECIFIED["staged"] if id.startswith("main")}
"""The ids that may look for the longest win."""

FEW = 14
"""Open cells up to which the naive version of the longest win is fast enough."""

BOARDS = [(7, 7), (8, 8), (5, 5), (4, 6), (3, 21), (10, 6), (3, 3)]
SIDES: tuple[Side, Side] = ("w", "b")

# Hundreds of millions of steps do not suffice for either side here.
ENDLESS = "8/1nN5/8/2**4/1**1*3/2***3/3*1*2/1*1*4 w"


@cache
def score_of(id: str) -> Any:
    """Return the compiled function of a heuristic or of a member of a family, such as
    `static_reach(1/3)`.
    """
    if id.startswith("static_reach("):
        r = Fraction(id.removeprefix("static_reach(").removesuffix(")"))
        dispatcher = compile_later(reachability.static_reach(float(r)), cache=True)
    else:
        dispatcher = REGISTRY[id].score
    return ready(dispatcher)


def value(id: str, position: Position, side: Side, sheet: Any = None) -> float:
    """Return the value of a compiled heuristic from one side's point of view."""
    board = geometry(position.board)[0] if sheet is None else sheet
    open, me, opp = words(position, side)
    to_move = me if side == position.to_move else opp
    result = score_of(id)(board, np.uint64(open), me, opp, to_move)
    assert type(result) is float
    return result


def scattered(width: int, height: int, open_cells: int, seed: int) -> Position:
    """Return a position with few open cells and knights anywhere, rare in random games."""
    rng = random.Random(seed)
    board = Board.of(width, height)
    white, black, *open = rng.sample(range(board.cells), open_cells + 2)
    return Position(board, frozenset(open), white, black, rng.choice(SIDES))


@cache
def with_open(width: int, height: int, open_cells: int, seed: int) -> Position:
    """Return a position of a random game with a number of open cells."""
    rng = random.Random(seed)
    while True:
        for position in random_game(Position.start(width, height), rng):
            if len(position.open) == open_cells and position.placed and position.legal_moves:
                return position


@cache
def some_positions() -> list[Position]:
    """Return positions of all phases, and around every phase at which a heuristic changes."""
    found = []
    for seed, (width, height) in enumerate(BOARDS):
        found += random_positions(width, height, 40, seed, min_placed=2)
    for open_cells in (5, 6, 7, 11, 12, 13, 17, 18, 19, 41, 42, 43, 47, 48, 49):
        found += [scattered(10, 6, open_cells, seed) for seed in range(6)]
    return found


def manageable(id: str, position: Position) -> bool:
    return id not in LONGEST or len(position.open) <= FEW


def mirrored(position: Position, symmetry: tuple[int, ...]) -> Position:
    assert position.white is not None
    return Position(
        board=position.board,
        open=frozenset(symmetry[cell] for cell in position.open),
        white=symmetry[position.white],
        black=None if position.black is None else symmetry[position.black],
        to_move=position.to_move,
    )


# -- the table -------------------------------------------------------------------------------


def test_every_specified_id_is_there_in_the_order_of_the_studies() -> None:
    built_in = PUBLISHED
    assert {row.id: row.study for row in built_in} == {
        id: study for study, ids in SPECIFIED.items() for id in ids
    }
    assert list(dict.fromkeys(row.study for row in built_in)) == list(STUDIES)


@pytest.mark.parametrize("id", [row.id for row in PUBLISHED])
def test_every_row_explains_itself(id: str) -> None:
    row = REGISTRY[id]
    assert row.formula
    assert row.summary.endswith(".")
    assert len(row.summary) <= 95
    assert "_" not in row.summary  # plain words, no ids


@pytest.mark.parametrize("study", STUDIES)
def test_the_table_tells_what_the_functions_say(study: str) -> None:
    module = import_module(f"knightfall.heuristics.{study}")
    there = {
        name: found
        for name, found in vars(module).items()
        if found.__class__.__name__ == "CPUDispatcher"
        and found.py_func.__module__ == module.__name__
        and inspect.signature(found.py_func).parameters.keys() == set(PARAMETERS)
    }
    there |= {"static_reach": module.static_reach} if study == "reachability" else {}
    told = {row.id: row for row in REGISTRY.values() if row.module == module.__name__}
    assert told.keys() == there.keys()
    for id, row in told.items():
        assert row.score is there[id]
        assert row.summary == " ".join(str(there[id].__doc__).split("\n\n")[0].split())


def test_static_reach_is_a_family_of_nine() -> None:
    row = REGISTRY["static_reach"]
    assert row.parameter == "r"
    assert row.published == tuple(Fraction(1, n) for n in range(2, 11))


# -- the values ------------------------------------------------------------------------------


@pytest.mark.parametrize("id", NAIVE)
def test_the_value_is_that_of_the_slow_twin(id: str) -> None:
    tried = 0
    for position in some_positions():
        if manageable(id, position):
            for side in SIDES:
                got, expected = value(id, position, side), NAIVE[id](position, side)
                assert math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-12), (position, side)
                tried += 1
    assert tried >= 200


@pytest.mark.parametrize("r", ["1/2", "1/3", "1/10", "9/10"])
def test_static_reach_is_its_slow_twin(r: str) -> None:
    twin = naive_static_reach(Fraction(r))
    for position in some_positions():
        for side in SIDES:
            got, expected = value(f"static_reach({r})", position, side), twin(position, side)
            assert math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-12), (position, side)


def test_the_positions_tried_are_of_all_kinds() -> None:
    kinds = {(p.to_move, p.winner is not None) for p in some_positions()}
    assert kinds == {("w", False), ("b", False), ("w", True), ("b", True)}
    phases = {10 * len(p.open) // p.board.cells for p in some_positions()}
    assert phases == set(range(10))
    for id in ("longest_win", "lookahead_ratio", "open_space_next"):
        assert len({NAIVE[id](p, "w") for p in some_positions() if len(p.open) <= FEW}) > 4


def test_the_published_example() -> None:
    position = Position.from_fen("2*1*/**N2/3*1/1*3/3n1 w")
    board = geometry(position.board)[0]
    open, first, second = words(position, "w")
    cells = np.uint64(open)
    assert reachability._static(board, cells, first, 0.5) == 5.25
    assert reachability._static(board, cells, second, 0.5) == 4.6875
    assert value("static_reach(1/2)", position, "w") == 0.5625
    assert reachability.nearness(board, cells, first) == pytest.approx(6.65, rel=1e-14)
    assert reachability.nearness(board, cells, second) == pytest.approx(6.2, rel=1e-14)
    assert value("bfs_reach", position, "w") == pytest.approx(0.45, rel=1e-13)


def test_open_cluster_by_hand() -> None:
    # Ten of 49 cells are blocked.  The 4×4 windows from (2,0) and from (0,3) are both empty.
    # Windows are scanned column by column, so the first one counts, k = (4,2), six steps from a7.
    position = Position.from_fen("N**4/**n4/7/7/7/7/3**** w")
    assert value("aggressive", position, "w") == 1 - 2 * 5
    assert value("open_cluster", position, "w") == -9 + 8 / 14
    # One blocked cell less is less than a fifth.
    fewer = Position.from_fen("N**4/**n4/7/7/7/7/4*** w")
    assert value("open_cluster", fewer, "w") == value("aggressive", fewer, "w") == -9


def test_lookahead_ratio_by_hand() -> None:
    # On 3×3 the knight's moves form a ring: a3 leads to b1 only, c2 to a1 only, each leads on.
    ring = Position.from_fen("N2/2n/3 w")
    assert value("lookahead_ratio", ring, "w") == value("lookahead_ratio", ring, "b") == 1
    # a1 is the only escape of both: the side that takes it leaves the other none.
    shared = Position.from_fen("*N*/2n/1** w")
    assert value("lookahead_ratio", shared, "w") == math.inf
    stuck = Position.from_fen("***/*Nn/3 b")
    assert value("lookahead_ratio", stuck, "w") == -math.inf
    assert value("lookahead_ratio", stuck, "b") == math.inf


def test_longest_win_by_hand() -> None:
    # The knights walk round the ring towards each other; after six plies it is full, and the
    # first player is to move.
    ring = Position.from_fen("N2/2n/3 w")
    assert value("longest_win", ring, "w") == 0
    assert value("longest_win", ring, "b") == 6
    assert value("longest_win_difference", ring, "w") == -6
    over = Position.from_fen("***/*Nn/3 w")
    assert [value("longest_win", over, side) for side in SIDES] == [0, 0]


@pytest.mark.parametrize("size", [(7, 7), (5, 6), (4, 4)])
def test_longest_win_with_more_cells_than_a_leaf_usually_has(size: tuple[int, int]) -> None:
    width, height = size
    for seed in range(12):
        position = with_open(width, height, min(18, width * height - 4), seed)
        for side in SIDES:
            assert value("longest_win", position, side) == naive.longest_win(position, side)


# -- promises --------------------------------------------------------------------------------


def images(position: Position) -> Iterator[Position]:
    return (mirrored(position, symmetry) for symmetry in position.board.symmetries)


@some_and_all
@pytest.mark.parametrize("id", [*NAIVE, "static_reach(1/3)"])
def test_mirrored_positions_have_the_same_value_iff_promised(id: str, step: int) -> None:
    def differs(position: Position) -> bool:
        here = value(id, position, "w")
        return any(value(id, image, "w") != here for image in images(position))

    promised = REGISTRY[id.split("(")[0]].symmetric
    # Mirror images of the longest wins differ only if they run out of steps.
    assert promised == (id not in LOPSIDED | LONGEST)
    promised |= id in LONGEST
    tried = [p for p in some_positions() if manageable(id, p)][::step]
    assert any(differs(position) for position in tried) != promised


# -- the budget ------------------------------------------------------------------------------


@pytest.mark.parametrize("id", sorted(LONGEST))
def test_a_spent_share_ends_the_evaluation_and_is_counted(id: str) -> None:
    position = Position.from_fen(ENDLESS)
    sheet = geometry(position.board)[0]
    sheet.step_limit = 50
    for evaluations in (1, 2, 3):
        value(id, position, "w", sheet)
        assert sheet.cut == evaluations


def test_a_share_never_finds_more_than_there_is_and_a_larger_one_no_less() -> None:
    cut_short = 0
    for seed in range(20):
        position = with_open(7, 7, 24, seed)
        for side in SIDES:
            exact = value("longest_win", position, side)
            before = 0.0
            for share in (0, 1, 5, 50, 500, NO_LIMIT):
                sheet = geometry(position.board)[0]
                sheet.step_limit = share
                found = value("longest_win", position, side, sheet)
                assert before <= found <= exact
                assert sheet.cut == 1 or found == exact
                cut_short += found < exact
                before = found
            assert sheet.cut == 0
    assert cut_short > 20


def test_a_share_of_exactly_the_steps_needed_is_enough() -> None:
    for seed in range(10):
        position = with_open(7, 7, 20, seed)
        sheet = geometry(position.board)[0]
        open, me, opp = words(position)
        _, left = staged._longest(sheet, np.uint64(open), me, opp, me, 10**6)
        needed = 10**6 - left
        for share, cut in ((needed, 0), (needed - 1, 1)):
            sheet.step_limit, sheet.cut = share, 0
            value("longest_win", position, position.to_move, sheet)
            assert sheet.cut == cut


def test_the_costly_heuristics_are_those_that_use_up_their_share() -> None:
    using: set[str] = set()
    for id in NAIVE:
        for position in some_positions():
            sheet = geometry(position.board)[0]
            sheet.step_limit = 0
            value(id, position, "w", sheet)
            if sheet.cut:
                using.add(id)
                break
    assert using == {id for id in NAIVE if REGISTRY[id].costly}
    assert {"longest_win", "main"} <= using < set(NAIVE)


def test_each_side_of_a_difference_gets_half_the_share() -> None:
    only_one_cut = 0
    for seed in range(20):
        position = with_open(7, 7, 24, seed)
        for share in (50, 101, 500):
            halves, sheet = geometry(position.board)[0], geometry(position.board)[0]
            halves.step_limit, sheet.step_limit = share // 2, share
            white, black = (value("longest_win", position, side, halves) for side in SIDES)
            assert value("longest_win_difference", position, "w", sheet) == white - black
            assert value("longest_win_difference", position, "b", sheet) == black - white
            # An evaluation counts as cut once, for one of its sides or for both.
            assert sheet.cut == (2 if halves.cut else 0)
            only_one_cut += halves.cut == 1
    assert only_one_cut > 5


@pytest.mark.parametrize("id", sorted(SEARCHING - LONGEST))
def test_the_share_reaches_the_mixed_heuristics(id: str) -> None:
    sheet = geometry(Position.start().board)[0]
    sheet.step_limit = 0
    value(id, scattered(7, 7, 4, seed=0), "w", sheet)
    assert sheet.cut == (0 if id.startswith("main_less") else 1)


def test_another_thread_can_stop_an_evaluation() -> None:
    position = Position.from_fen(ENDLESS)
    sheet = geometry(position.board)[0]
    sheet.step_limit = 10**6
    value("longest_win_difference", position, "w", sheet)
    assert sheet.cut == 1, "this position must keep it busy"

    sheet.step_limit, sheet.cut = NO_LIMIT, 0
    # A daemon thread, so that a heuristic that does not stop fails the test instead of hanging it.
    worker = threading.Thread(
        target=value, args=("longest_win_difference", position, "w", sheet), daemon=True
    )
    worker.start()
    worker.join(timeout=0.2)
    assert worker.is_alive()
    sheet.limit = 0
    worker.join(timeout=60)
    assert not worker.is_alive()
    assert sheet.cut == 1


# -- relations between heuristics ------------------------------------------------------------


ZERO_SUM = [
    "improved",
    "lookahead_mobility",
    "center_pull",
    "corner_averse",
    "weighted_difference",
    "weighted_moves",
    "near_center",
    "near_edges",
    "static_reach(1/3)",
    "bfs_reach",
    "mobility",
    "open_space_difference",
    "main_less",
    "main_less_more",
]


@given(positions(min_placed=2))
def test_what_one_side_gains_the_other_loses(position: Position) -> None:
    for id in ZERO_SUM:
        mine, theirs = (value(id, position, side) for side in SIDES)
        assert mine == pytest.approx(-theirs, abs=1e-12), id


@given(positions(min_placed=2))
def test_relations_between_heuristics(position: Position) -> None:
    def of(id: str, side: Side = "w") -> float:
        return value(id, position, side)

    assert of("null") == 0
    assert of("near_edges") == -of("near_center")
    assert of("far_opponent") == -of("near_opponent") == of("far_opponent", "b") > 0
    assert of("improved") == of("mobility") == of("open") - of("open", "b")
    assert of("aggressive") == of("open") - 2 * of("open", "b")
    assert of("main_less") == of("main_less_more")
    assert of("open_space_difference") == of("open_space") - of("open_space", "b")
    assert of("open") / 4 <= of("weighted_mobility") <= of("open")
    assert 0 <= of("open_cluster") - of("aggressive") <= 1 + 1e-12
    assert 0 <= of("open_space_next") <= 8


@given(positions(min_placed=2))
def test_a_longest_win_is_a_line_that_fits_the_board(position: Position) -> None:
    sheet = geometry(position.board)[0]
    sheet.step_limit = 2000
    for side in SIDES:
        length = value("longest_win", position, side, sheet)
        assert 0 <= length <= len(position.open)
        if length > 0:
            assert length % 2 == (1 if side == position.to_move else 0)


# -- the disk cache --------------------------------------------------------------------------

FROM_A_NEW_PROCESS = """
import numpy as np
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.c_signature import ready
from knightfall.kernel.compile import compile_later
from knightfall.kernel.rules import geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
position = Position.from_fen("2*1*/**N2/3*1/1*3/3n1 w")
open, me, opp = words(position)
scores = [REGISTRY[id].score for id in ("longest_win", "lookahead_ratio")]
scores += [compile_later(REGISTRY["static_reach"].score(r), cache=True) for r in (1 / 2, 1 / 3)]
for score in scores:
    ready(score)
    value = score(geometry(position.board)[0], np.uint64(open), me, opp, me)
    print(sum(score.stats.cache_hits.values()), value.hex())
"""


def test_a_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    if known := cache_folder():  # all other files, otherwise they would be compiled as well
        asked_for = "*longest_win*", "*lookahead_ratio*", "*static*"
        there = tmp_path / "machine-code"
        shutil.copytree(known, there, ignore=shutil.ignore_patterns(*asked_for))

    def run() -> list[list[str]]:
        environment = os.environ | {
            "KNIGHTFALL_CACHE_DIR": str(tmp_path),
            "KNIGHTFALL_QUIET": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", FROM_A_NEW_PROCESS],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [line.split() for line in done.stdout.splitlines()]

    compiled, loaded = run(), run()
    assert [hits for hits, _ in compiled] == ["0"] * 4
    assert [hits for hits, _ in loaded] == ["1"] * 4
    assert [value for _, value in compiled] == [value for _, value in loaded]
    assert len({value for _, value in loaded[2:]}) == 2  # one machine code per r
