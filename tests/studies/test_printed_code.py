"""Tests that recompute the errata about printed code and printed tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from naive import NAIVE, naive_static_reach

from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position
from knightfall.studies.published import studies

Cell = tuple[int, int]

SQUARE = [(5, 5), (7, 7), (8, 8)]
OTHERS = [(5, 7), (7, 5), (3, 10), (8, 6)]
"""Sizes of boards that are not square: rows and columns."""


def erratum(study: str, where: str) -> str:
    (text,) = [one.text for one in studies()[study].errata if one.where == where]
    return text


# -- rows and columns exchanged ---------------------------------------------------------------


def printed_corners(rows: int, columns: int) -> set[Cell]:
    """Return the lookahead study's list of corners."""
    return {(0, 0), (0, rows - 1), (columns - 1, 0), (columns - 1, rows - 1)}


def printed_weight(cell: Cell, rows: int, columns: int) -> Fraction:
    """Return the directional study's weight, which divides the row by the board's width."""

    def part(at: int, size: int) -> Fraction:
        half = Fraction(size - 1, 2)
        return 1 - abs(at - half) / half / 2

    return part(cell[0], columns) * part(cell[1], rows)


def corners(rows: int, columns: int) -> set[Cell]:
    return set(product((0, rows - 1), (0, columns - 1)))


def weights(rows: int, columns: int) -> list[Fraction]:
    return [printed_weight(cell, rows, columns) for cell in product(range(rows), range(columns))]


@pytest.mark.parametrize(("rows", "columns"), SQUARE)
def test_on_square_boards_rows_and_columns_may_be_exchanged(rows: int, columns: int) -> None:
    assert printed_corners(rows, columns) == corners(rows, columns)
    assert min(weights(rows, columns)) == Fraction(1, 4)


@pytest.mark.parametrize(("rows", "columns"), OTHERS)
def test_on_other_boards_three_corners_are_missed(rows: int, columns: int) -> None:
    assert len(corners(rows, columns) - printed_corners(rows, columns)) == 3
    assert "three of the four corners" in erratum("lookahead", "corner_averse, code")


def test_on_other_boards_weights_fall_below_a_quarter() -> None:
    assert all(min(weights(*size)) < Fraction(1, 4) for size in OTHERS)
    assert min(weights(10, 3)) < 0
    assert "negative" in erratum("directional", "directional weights, code")


# -- the scan for the emptiest window ---------------------------------------------------------


def printed_windows(rows: int, columns: int) -> list[Cell]:
    """Return the positions of the windows that the aggressive study's scan reports."""
    high, wide = round(rows / 2), round(columns / 2)
    last = rows * columns - high - rows * (wide - 1)
    at, column, found = 0, 0, []
    while at <= last:
        found.append((at - column * rows, column))
        if at == rows - high + rows * column:
            column += 1
            at += wide
        else:
            at += 1
    return found


def windows(rows: int, columns: int) -> list[Cell]:
    down, right = rows - round(rows / 2) + 1, columns - round(columns / 2) + 1
    return [(row, column) for column, row in product(range(right), range(down))]


@pytest.mark.parametrize(("rows", "columns"), SQUARE)
def test_on_square_boards_the_scan_sees_every_window_once(rows: int, columns: int) -> None:
    assert printed_windows(rows, columns) == windows(rows, columns)


@pytest.mark.parametrize(("rows", "columns"), [(8, 6), (6, 8), (3, 10), (10, 6)])
def test_where_windows_are_no_squares_it_goes_astray(rows: int, columns: int) -> None:
    assert printed_windows(rows, columns) != windows(rows, columns)
    assert "i+=cluster_width" in erratum("aggressive", "open_cluster, code on other boards")


@pytest.mark.parametrize(("side", "differs"), [(5, [5]), (7, []), (8, [])])
def test_more_than_a_fifth_is_not_a_fifth(side: int, differs: list[int]) -> None:
    cells = side * side
    words = {blocked for blocked in range(cells) if blocked > Fraction(cells, 5)}
    code = {blocked for blocked in range(cells) if not blocked < Fraction(cells, 5)}
    assert sorted(code - words) == differs
    assert words <= code


def test_ours_begins_with_a_fifth() -> None:
    """Check that our `open_cluster` differs from `aggressive` once a fifth of the cells is not
    open.
    """
    position = Position.from_fen("N***1/5/5/5/4n w")
    assert len(position.open) == 20
    assert evaluator("open_cluster").value(position) != evaluator("aggressive").value(position)
    assert evaluator("open_cluster").value(position) == pytest.approx(
        NAIVE["open_cluster"](position, "w")
    )


# -- the worked example -----------------------------------------------------------------------

EXAMPLE = Position.from_fen("2*1*/**N2/3*1/1*3/3n1 w")
STATIC = ["32323", "23232", "34121", "41234", "32303"]
"""The distances printed for player 2 on the empty board."""
THROUGH = ["52X2X", "XXX32", "341X1", "2X232", "32303"]
"""The distances printed for player 2 through open cells."""


def open_or_own() -> list[Cell]:
    """Return the cells over which player 2's sums run: the open ones and its own."""
    board = EXAMPLE.board
    assert EXAMPLE.black is not None
    return [divmod(cell, board.width) for cell in [*EXAMPLE.open, EXAMPLE.black]]


def halves(slips: dict[Cell, int]) -> Fraction:
    """Return the sum of (1/2)^distance over printed distances, those in `slips` corrected."""
    return sum(
        (
            Fraction(1, 2) ** slips.get(cell, int(STATIC[cell[0]][cell[1]]))
            for cell in open_or_own()
        ),
        Fraction(),
    )


def shares(rows: range, slips: dict[Cell, int]) -> Fraction:
    """Return the sum of 1/(1 + distance) over some rows of printed distances, with those in `slips`
    corrected.
    """
    found = Fraction()
    for row, column in product(rows, range(5)):
        if THROUGH[row][column] != "X":
            found += Fraction(1, 1 + slips.get((row, column), int(THROUGH[row][column])))
    return found


def test_the_static_example_has_wrong_distances_and_one_wrong_value() -> None:
    text = erratum("reachability", "worked example, static_reach(1/2)")
    true = naive_static_reach(Fraction(1, 2))
    difference = Fraction(true(EXAMPLE, "w"))
    assert difference == Fraction(21, 4) - halves({(3, 0): 2, (3, 4): 2})
    assert halves({(3, 0): 2, (3, 4): 2}) == Fraction("4.6875")
    assert halves({}) == Fraction("4.3125")
    assert halves({(3, 2): 3}) == Fraction("4.1875")
    assert all(number in text for number in ("4.1875", "4.6875", "4.3125"))


def test_the_other_example_leaves_out_a_row() -> None:
    text = erratum("reachability", "worked example, bfs_reach")
    value = NAIVE["bfs_reach"](EXAMPLE, "w")
    assert value == pytest.approx(6.65 - 6.2)
    assert shares(range(5), {}) == Fraction("6.2")
    printed = shares(range(5), {(1, 3): 2})
    assert float(printed) == pytest.approx(6.2833, abs=1e-4)
    assert shares(range(3, 4), {}) == Fraction("1.25")
    assert float(printed - Fraction("1.25")) == pytest.approx(5.033, abs=5e-4)
    assert all(number in text for number in ("5.033", "6.2.", "1.25", "6.283"))
