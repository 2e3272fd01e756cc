"""docs/theory.md is true: its blocks and pictures are what the code makes, its claims hold.

The claims are checked on the atlas's entries alone; reflections, colours and counts are worked out
here, not by the page's generator.
"""

from __future__ import annotations

import importlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from naive import knight_moves
from naive_search import longest_walk, roamed
from naive_solver import BruteForce, openings

from benchmarks import board_size
from knightfall.board import Board
from knightfall.position import Position, other
from knightfall.solver.atlas import Entry, lookup
from knightfall.solver.engine import Engine

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "theory.md").read_text(encoding="utf-8")

Size = tuple[int, int]
Pair = tuple[int, int]

SIZES = [(width, height) for width in range(3, 8) for height in range(width, 8)]
EXACT = [(4, 7), (5, 5), (5, 6), (5, 7), (6, 6), (6, 7), (7, 7)]
"""Boards on which the hunter wins every opening in which the runner cannot win by reflection."""

STRAYS = {(3, 3): 2, (3, 4): 6, (3, 5): 11, (3, 6): 13, (3, 7): 6, (4, 4): 7, (4, 5): 5, (4, 6): 2}
"""The other boards, and the number of opening classes that the runner wins there without
reflection.
"""


@pytest.fixture(scope="module")
def theory() -> ModuleType:
    """Return the module that generates the page."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("theory")
    finally:
        sys.path.remove(str(DOCS))


# -- what is generated -----------------------------------------------------------------------


def test_blocks_are_what_the_generator_makes(theory: ModuleType) -> None:
    assert theory.filled(PAGE) == PAGE, "run make docs"
    assert sorted(re.findall(r"<!-- begin generated: (\w+) -->", PAGE)) == sorted(theory.BLOCKS)
    assert PAGE.count("<!-- begin") == PAGE.count("<!-- end generated -->") == len(theory.BLOCKS)


def test_pictures_are_what_the_generator_makes(theory: ModuleType) -> None:
    for name, make in theory.PICTURES.items():
        assert (DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8") == make(), (
            f"{name}: run make docs"
        )
        assert f"(images/{name}.svg)" in PAGE


def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "measured.json").read_text("utf-8"))["benchmarks"]
    return found


def test_the_plot_shows_the_recorded_boards(theory: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = measured()["board_size"]["rows"]
    shown = [DOCS / "images" / "nodes_by_board.svg", tmp_path / "images" / "again.svg"]
    theory.pictures.draw_nodes(rows, shown[1])
    for path in shown:
        drawn = path.read_text(encoding="utf-8")
        assert all(row["board"] in drawn for row in rows)
    assert "(images/nodes_by_board.svg)" in PAGE


def test_a_solve_that_was_given_up_is_told_as_such(
    theory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    result = board_size.run({(5, 5): 1, (6, 6): 2}, most=3000)
    assert [row["given up"] for row in result.rows] == [False, True, True]
    record = tmp_path / "measured.json"
    record.write_text(json.dumps({"benchmarks": {"board_size": result.to_json()}}))
    monkeypatch.setattr(theory, "MEASURED", record)
    assert "| more than 3,000 |" in theory.board_size_block()
    theory.pictures.draw_nodes(result.rows, tmp_path / "plot.svg")
    assert "more than" in (tmp_path / "plot.svg").read_text(encoding="utf-8")


def test_recorded_nodes_are_those_of_the_solver() -> None:
    """Compare the recorded nodes with the solver's, except on the largest boards, which take
    minutes.
    """
    rows = [row for row in measured()["board_size"]["rows"] if row["cells"] <= 42]
    assert len(rows) == 40
    for row in rows:
        position = Position.from_fen(row["position"])
        assert row["nodes"] == board_size.nodes_of(position), "run make bench-docs"


def test_no_measured_opening_is_decided_by_reflection() -> None:
    for row in measured()["board_size"]["rows"]:
        position = Position.from_fen(row["position"])
        size = position.board.width, position.board.height
        assert placed(position) not in mirrored(size)


# -- boards and openings ---------------------------------------------------------------------


def placed(position: Position) -> Pair:
    assert position.white is not None
    assert position.black is not None
    return position.white, position.black


def half_turn(size: Size, cell: int) -> int:
    """Return the image of a cell under point reflection in the centre of the board."""
    row, column = divmod(cell, size[0])
    return (size[1] - 1 - row) * size[0] + size[0] - 1 - column


def is_dark(size: Size, cell: int) -> bool:
    row, column = divmod(cell, size[0])
    return (row + column) % 2 == 1


def first_hunts(size: Size, pair: Pair) -> bool:
    return is_dark(size, pair[0]) == is_dark(size, pair[1])


@cache
def values(size: Size) -> dict[Pair, Entry]:
    """Return the atlas entry of each opening, by the two knights' cells."""
    found = {}
    for position in openings(Board.of(*size)):
        entry = lookup(position)
        assert entry is not None
        found[placed(position)] = entry
    return found


@cache
def runner_wins(size: Size) -> frozenset[Pair]:
    """Return the openings that the runner wins: the exceptions to the law that the hunter wins."""
    return frozenset(
        pair for pair, entry in values(size).items() if entry.mover_wins != first_hunts(size, pair)
    )


def mirrored(size: Size) -> frozenset[Pair]:
    """Return the openings that are won by point reflection: on even boards by the second player, on
    odd ones by the first player, who moves from the centre to the cell opposite the waiter.
    """
    board = Board.of(*size)
    if board.cells % 2 == 0:
        return frozenset((cell, half_turn(size, cell)) for cell in range(board.cells))
    centre = board.cells // 2
    return frozenset((centre, cell) for cell in knight_moves(board, centre))


def runner_mirrors(size: Size) -> frozenset[Pair]:
    """Return the openings of `mirrored` in which the runner wins by reflection."""
    second = size[0] * size[1] % 2 == 0
    return frozenset(pair for pair in mirrored(size) if first_hunts(size, pair) == second)


def classes(size: Size, pairs: frozenset[Pair]) -> set[Pair]:
    """Return one opening of each class of mirror images."""
    images = Board.of(*size).symmetries
    return {min((image[one], image[two]) for image in images) for one, two in pairs}


# -- the colour law --------------------------------------------------------------------------


def test_whoever_can_mirror_wins() -> None:
    for size in SIZES:
        for pair in mirrored(size):
            assert values(size)[pair].mover_wins == (size[0] * size[1] % 2 == 1)


def test_the_runner_mirrors_where_the_page_says() -> None:
    count = {size: len(runner_mirrors(size)) for size in SIZES}
    for size in SIZES:
        width, height = size
        if width % 2 == height % 2 == 0:
            assert count[size] == width * height
        elif width % 2 != height % 2:
            assert count[size] == 0
        else:
            assert count[size] == (8 if width >= 5 else 0 if size == (3, 3) else 4)


def test_reflection_in_a_line_makes_no_exceptions() -> None:
    """Check that the hunter wins all openings in which the knights face each other across the
    middle of an even side; there the second player is the hunter.
    """
    seen = 0
    for size in [*SIZES, *((height, width) for width, height in SIZES)]:
        if size[0] % 2 == 0:
            for cell in range(size[0] * size[1]):
                row, column = divmod(cell, size[0])
                pair = cell, row * size[0] + size[0] - 1 - column
                assert not first_hunts(size, pair)
                assert not values(size)[pair].mover_wins
                seen += 1
    assert seen > 300


@pytest.mark.parametrize("size", EXACT, ids=str)
def test_the_hunter_wins_unless_the_runner_mirrors(size: Size) -> None:
    assert runner_wins(size) == runner_mirrors(size)


def test_the_page_names_the_boards_where_that_is_so() -> None:
    assert "**On 4×7, 5×5, 5×6, 5×7, 6×6, 6×7 and 7×7 the sharper law is exact.**" in PAGE.replace(
        "\n", " "
    )
    assert {size for size in SIZES if size[0] * size[1] >= 25} == set(EXACT)
    assert set(STRAYS) | set(EXACT) == set(SIZES)


@pytest.mark.parametrize("size", STRAYS, ids=str)
def test_smaller_boards_have_other_exceptions(size: Size) -> None:
    strays = runner_wins(size) - runner_mirrors(size)
    assert runner_mirrors(size) < runner_wins(size)
    # On 3×3 the second player mirrors in spite of the centre, which nobody can reach.
    ring = {pair for pair in strays if size == (3, 3) and half_turn(size, pair[0]) == pair[1]}
    assert len(classes(size, strays - ring)) == STRAYS[size]


def test_the_second_player_wins_from_every_empty_board() -> None:
    for size in SIZES:
        replies = Counter(pair[0] for pair, entry in values(size).items() if not entry.mover_wins)
        assert len(replies) == size[0] * size[1]


def test_3x3_is_as_simple_as_it_is_told() -> None:
    size, board, centre = (3, 3), Board.of(3, 3), 4
    assert not knight_moves(board, centre)
    for pair in runner_wins(size):
        assert centre in pair or pair[1] == half_turn(size, pair[0])
    for cell in set(range(9)) - {centre}:
        assert not values(size)[centre, cell].mover_wins
        assert values(size)[cell, centre].mover_wins
        assert (cell, half_turn(size, cell)) in runner_wins(size)


def test_exceptions_of_exact_boards_fill_the_board() -> None:
    for size in EXACT:
        for pair in runner_wins(size):
            assert values(size)[pair].plies == size[0] * size[1] - 2


@pytest.mark.parametrize("size", [(5, 5), (5, 7), (7, 7)])
def test_the_only_winning_move_from_the_centre_is_to_the_image(size: Size) -> None:
    board = Board.of(*size)
    assert len(runner_wins(size)) == 8
    for pair in runner_wins(size):
        assert values(size)[pair].winning_moves == (board.name(half_turn(size, pair[1])),)
        assert len(knight_moves(board, pair[0]) - {pair[1]}) == 7


def test_all_other_games_on_7x7_last_31_to_35_plies() -> None:
    size = 7, 7
    lengths = {e.plies for pair, e in values(size).items() if pair not in runner_wins(size)}
    assert (min(lengths), max(lengths)) == (31, 35)
    assert {values(size)[pair].plies for pair in runner_wins(size)} == {47}


def winning_replies(size: Size) -> list[int]:
    won = Counter(pair[0] for pair, entry in values(size).items() if not entry.mover_wins)
    return [won[cell] for cell in range(size[0] * size[1])]


def test_winning_replies() -> None:
    seven = winning_replies((7, 7))
    assert seven[24] == 16
    for cell in set(range(49)) - {24}:
        assert seven[cell] == (25 if is_dark((7, 7), cell) else 24)
    assert not is_dark((7, 7), 0)
    for size in ((4, 7), (5, 6), (6, 7)):
        assert set(winning_replies(size)) == {size[0] * size[1] // 2}
    assert set(winning_replies((6, 6))) == {19}


# -- games shown on the page -----------------------------------------------------------------


def plays_out(
    start: Position, answer: Callable[[Position], str], most: int | None = None, seed: int = 1
) -> int:
    """Play all lines from `start`, or `most` random ones, in which the second side plays by
    `answer`.

    Returns how many games ended; every one must end with the answering side's win.
    """
    mover, ends = start.to_move, 0
    if most is None:
        waiting, seen = [start], set()
        while waiting:
            position = waiting.pop()
            if position.winner:
                assert position.winner == other(mover)
                ends += 1
            for move in position.legal_moves:
                after = position.play(move)
                after = after if after.winner else after.play(answer(after))
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return ends
    rng = random.Random(seed)
    for _ in range(most):
        position = start
        while not position.winner:
            position = position.play(rng.choice(position.legal_moves))
            position = position if position.winner else position.play(answer(position))
        assert position.winner == other(mover)
        ends += 1
    return ends


def image_of_last(position: Position) -> str:
    assert position.last is not None
    size = position.board.width, position.board.height
    return position.board.name(half_turn(size, position.last[1]))


def test_from_the_centre_the_first_player_mirrors_after_one_move() -> None:
    for size, most in (((3, 5), None), ((5, 5), 300), ((5, 7), 100), ((7, 7), 100)):
        for pair in runner_mirrors(size):
            board = Board.of(*size)
            start = Position.from_moves([board.name(cell) for cell in pair], *size)
            start = start.play(board.name(half_turn(size, pair[1])))
            assert plays_out(start, image_of_last, most) > 0


def test_the_reflection_in_disguise_on_4x4() -> None:
    start = Position.from_moves(["a4", "c3", "b2"], 4, 4)

    def answer(position: Position) -> str:
        assert position.last is not None
        if position.board.name(position.last[1]) == "d1":
            return position.legal_moves[0]
        return image_of_last(position)

    assert Position.from_moves(["a4", "c3"], 4, 4).legal_moves == ("b2",)
    assert plays_out(start, answer) > 5


def test_the_game_that_fills_the_board(theory: ModuleType) -> None:
    moves = theory.pictures.tour_moves()
    game = Position.from_moves(moves)
    assert moves[:3] == ["d4", "c6", "e2"]
    assert len(moves) == 2 + 47
    assert game.winner == "w"
    assert not game.open
    for dark, light in zip(moves[1::2], moves[2::2], strict=True):
        assert game.board.cell(light) == half_turn((7, 7), game.board.cell(dark))


def test_the_walks_of_the_separated_knights(theory: ModuleType) -> None:
    position = Position.from_fen(theory.pictures.SEPARATED)
    board, lengths, worlds = position.board, [], []
    for cell, (name, walk) in zip(placed(position), theory.pictures.WALKS.values(), strict=True):
        world = roamed(board, position.open, cell)
        steps = [board.cell(step) for step in walk]
        assert len(set(steps)) == len(steps)
        assert set(steps) <= world
        assert all(b in knight_moves(board, a) for a, b in zip([cell, *steps], steps, strict=False))
        assert len(steps) == longest_walk(board, world, cell)
        own = sum(is_dark((5, 5), one) == is_dark((5, 5), cell) for one in world)
        assert (own, len(world) - own) == (2, 3)
        lengths.append((name, len(steps)))
        worlds.append(world)
    assert lengths == [("N", 5), ("n", 4)]
    assert not worlds[0] & worlds[1]
    assert BruteForce(board).plies(position) == 2 * 4 + 1


def test_two_positions_of_one_key(theory: ModuleType) -> None:
    one, two = (Position.from_fen(fen) for fen in theory.pictures.SAME_KEY)
    assert one != two
    left = []
    for position in (one, two):
        board, (white, black) = position.board, placed(position)
        left.append(roamed(board, position.open, white) | roamed(board, position.open, black))
        assert theory.pictures.out_of_reach(position) == position.open - left[-1] != frozenset()
    assert left[0] == left[1]
    assert placed(one) == placed(two)
    brute = BruteForce(one.board)
    assert brute.plies(one) == brute.plies(two)


def test_lines_first_meet_after_six_plies() -> None:
    level = [Position.from_fen("7/7/1N5/7/7/4n2/7 w")]
    for ply in range(1, 7):
        level = [position.play(move) for position in level for move in position.legal_moves]
        assert (len(set(level)) < len(level)) == (ply == 6)


# -- beyond the atlas ------------------------------------------------------------------------

BEYOND = {
    **dict.fromkeys([(4, 8), (4, 9), (4, 10), (4, 11), (5, 8), (5, 9), (6, 8)], 0),
    **{(3, 8): 3, (3, 9): 0, (3, 10): 1, (3, 11): 0, (3, 12): 0, (3, 13): 1, (3, 14): 0},
}
"""Boards outside the atlas, and the number of opening classes that the runner wins there without
reflection.
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", BEYOND, ids=str)
def test_the_law_beyond_the_atlas(size: Size) -> None:
    board, strays = Board.of(*size), set()
    engine = Engine(board, table_mb=64)
    for pair in classes(size, frozenset(placed(position) for position in openings(board))):
        names = [board.name(cell) for cell in pair]
        runner = engine.wins(Position.from_moves(names, *size)) != first_hunts(size, pair)
        if pair in runner_mirrors(size):
            assert runner
        elif runner:
            strays.add(pair)
    assert len(strays) == BEYOND[size]
