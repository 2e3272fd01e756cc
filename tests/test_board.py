"""The empty board, compared with plane geometry."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from helpers import EVERY_BOARD
from hypothesis import given
from hypothesis import strategies as st
from strategies import boards

from knightfall.board import UNREACHABLE, Board
from knightfall.errors import KnightfallError

each_board = pytest.mark.parametrize("board", EVERY_BOARD, ids=repr)


def squared_distances(board: Board) -> np.ndarray:
    """Return the squared distances of all pairs of cells, from width and height alone."""
    rows, columns = np.divmod(np.arange(board.cells), board.width)
    return (rows[:, None] - rows) ** 2 + (columns[:, None] - columns) ** 2


def test_there_is_a_board_of_every_size() -> None:
    assert len(EVERY_BOARD) == sum(64 // width - 2 for width in range(3, 22))
    assert {board.cells for board in EVERY_BOARD} >= {9, 12, 49, 63, 64}


def test_equal_sizes_are_the_same_object() -> None:
    board = Board.of(7, 6)
    assert board is Board.of(7, 6)
    assert board is not Board.of(6, 7)
    assert pickle.loads(pickle.dumps(board)) is board
    assert copy.deepcopy(board) is board
    assert eval(repr(board)) is board


@pytest.mark.parametrize(
    ("width", "height", "says"),
    [
        (2, 7, "a 2×7 board is too small: each side must be at least 3"),
        (7, 2, "a 7×2 board is too small: each side must be at least 3"),
        (0, 0, "a 0×0 board is too small: each side must be at least 3"),
        (-5, -5, "a -5×-5 board is too small: each side must be at least 3"),
        (13, 5, "a 13×5 board has 65 cells: at most 64 are supported"),
        (5, 13, "a 5×13 board has 65 cells: at most 64 are supported"),
        (22, 3, "a 22×3 board has 66 cells: at most 64 are supported"),
    ],
)
def test_impossible_sizes(width: int, height: int, says: str) -> None:
    with pytest.raises(KnightfallError) as caught:
        Board.of(width, height)
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("size", "row", "column", "name"),
    [
        ((7, 7), 0, 0, "a7"),
        ((7, 7), 6, 0, "a1"),
        ((7, 7), 6, 6, "g1"),
        ((7, 7), 2, 1, "b5"),
        ((7, 7), 5, 4, "e2"),
        ((10, 6), 0, 9, "j6"),
        ((3, 21), 0, 2, "c21"),
        ((21, 3), 2, 20, "u1"),
    ],
)
def test_course_coordinates_and_chess_names(
    size: tuple[int, int], row: int, column: int, name: str
) -> None:
    board = Board.of(*size)
    assert board.name(board.at(row, column)) == name
    assert board.cell(name) == board.at(row, column)


@each_board
def test_names_and_coordinates_count_through_the_board(board: Board) -> None:
    names = [
        "abcdefghijklmnopqrstu"[column] + str(rank)
        for rank in range(board.height, 0, -1)
        for column in range(board.width)
    ]
    cells = range(board.cells)
    assert [board.name(cell) for cell in cells] == names
    assert [board.cell(name) for name in names] == list(cells)
    assert [board.at(board.row(cell), board.column(cell)) for cell in cells] == list(cells)


@given(boards(), st.one_of(st.text(max_size=4), st.from_regex(r"[a-zA-Z]-?[0-9]{1,3}")))
def test_what_is_not_a_name_is_refused_in_one_line(board: Board, word: str) -> None:
    names = {board.name(cell) for cell in range(board.cells)}
    if word in names:
        assert board.name(board.cell(word)) == word
        return
    with pytest.raises(KnightfallError) as caught:
        board.cell(word)
    message = str(caught.value)
    assert message.startswith(f"{word!r} is not a cell of a {board.width}×{board.height} board")
    assert f"cells are a1 to {board.name(board.width - 1)}" in message
    assert "\n" not in message


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (0, -1), (6, 0), (0, 7)])
def test_coordinates_off_the_board(row: int, column: int) -> None:
    with pytest.raises(KnightfallError) as caught:
        Board.of(7, 6).at(row, column)
    assert str(caught.value) == (
        f"({row}, {column}) is off the board: rows are 0 to 5, columns 0 to 6"
    )


@each_board
def test_a_knight_goes_the_square_root_of_five(board: Board) -> None:
    squared = squared_distances(board)
    for cell in range(board.cells):
        assert board.knight[cell] == tuple(np.flatnonzero(squared[cell] == 5))
        around = (squared[cell] == 1) | (squared[cell] == 2)
        assert board.touching[cell] == tuple(np.flatnonzero(around))


@each_board
def test_every_knight_move_changes_the_colour(board: Board) -> None:
    assert {board.colour(cell) for cell in range(board.cells)} == {0, 1}
    for cell in range(board.cells):
        for there in board.knight[cell]:
            assert board.colour(there) == 1 - board.colour(cell)


@each_board
def test_distances_are_shortest_paths(board: Board) -> None:
    """Compare with Floyd and Warshall's all-pairs algorithm, which has no queue."""
    shortest = np.where(squared_distances(board) == 5, 1, 10_000)
    np.fill_diagonal(shortest, 0)
    for middle in range(board.cells):
        shortest = np.minimum(shortest, shortest[:, middle, None] + shortest[middle])
    shortest[shortest >= 10_000] = UNREACHABLE
    assert np.array_equal(board.distance, shortest)


def test_only_the_centre_of_the_smallest_board_is_cut_off() -> None:
    cut_off = [
        (board, cell)
        for board in EVERY_BOARD
        for cell in range(board.cells)
        if max(board.distance[cell]) == UNREACHABLE
    ]
    smallest = Board.of(3, 3)
    assert cut_off == [(smallest, cell) for cell in range(9)]
    assert smallest.distance[4] == tuple(0 if cell == 4 else UNREACHABLE for cell in range(9))
    assert [row.count(UNREACHABLE) for row in smallest.distance] == [1, 1, 1, 1, 8, 1, 1, 1, 1]


@each_board
def test_symmetries_are_all_the_isometries_and_form_a_group(board: Board) -> None:
    symmetries = board.symmetries
    assert symmetries[0] == tuple(range(board.cells))
    assert len(set(symmetries)) == len(symmetries) == (8 if board.width == board.height else 4)
    squared = squared_distances(board)
    for image in symmetries:
        assert sorted(image) == list(range(board.cells))
        assert np.array_equal(squared[np.ix_(image, image)], squared)
    for first in symmetries:
        # Closed under composition; the set is finite, so inverses follow.
        assert {tuple(second[cell] for cell in first) for second in symmetries} == set(symmetries)


@each_board
def test_the_point_reflection_is_a_symmetry(board: Board) -> None:
    assert tuple(range(board.cells - 1, -1, -1)) in board.symmetries


def test_boards_of_a_size_are_equal_however_they_are_asked_for() -> None:
    assert Board.of(width=7, height=7) == Board.of(7, 7) == Board(7, 7)
    assert hash(Board(5, 4)) == hash(Board.of(5, 4))
    assert Board.of(7, 6) != Board.of(6, 7)


@pytest.mark.parametrize("side", [7.0, "7", None, True])
def test_a_side_must_be_a_whole_number_and_a_wrong_one_spoils_nothing(side: object) -> None:
    with pytest.raises(KnightfallError, match="whole number"):
        Board.of(side, 7)  # type: ignore[arg-type]
    assert Board.of(7, 7).name(0) == "a7"


@pytest.mark.parametrize(("width", "height"), [(7, 7), (3, 5)])
def test_the_canonical_form_is_the_first_of_the_images_and_the_same_for_all(
    width: int, height: int
) -> None:
    board = Board.of(width, height)
    for cells in [(0, 1), (1, 0), (board.cells - 1, 2), (board.cells // 2, 3)]:
        images = [(image[cells[0]], image[cells[1]]) for image in board.symmetries]
        assert {board.canonical(*image) for image in images} == {min(images)}
    assert board.canonical(board.cells - 1) == (0,)
