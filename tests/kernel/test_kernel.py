"""The compiled rules, compared with sets of cells and with `Position`."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest
from helpers import EVERY_BOARD, FULL_WORD, NEARLY_FULL_WORD, random_positions
from hypothesis import assume, given
from hypothesis import strategies as st
from numba import types
from strategies import WORDS, boards, odd_positions, positions

from knightfall.board import UNREACHABLE, Board
from knightfall.kernel.bits import bit, count, each, first, rest
from knightfall.kernel.rules import (
    GEOMETRY,
    POCKET,
    RINGS,
    bitset,
    geometry,
    mobility,
    moves,
    perft,
    perft_of,
    reach,
    space,
    spread,
    words,
)
from knightfall.position import Position

each_board = pytest.mark.parametrize("board", EVERY_BOARD, ids=repr)
each_danger = pytest.mark.parametrize("board", FULL_WORD + NEARLY_FULL_WORD, ids=repr)


def cells(word: int) -> set[int]:
    """Return the set of cells of a word, read from its binary digits."""
    return {cell for cell, digit in enumerate(reversed(f"{int(word):b}")) if digit == "1"}


def knight_steps(board: Board, start: set[int]) -> set[int]:
    """Return all cells a knight's move from any cell of `start`."""
    return {
        cell
        for cell in range(board.cells)
        for here in start
        if abs(board.row(cell) - board.row(here)) * abs(board.column(cell) - board.column(here))
        == 2
    }


def walk(board: Board, open: set[int], start: int) -> set[int]:
    """Return all cells that a lone knight can reach, found step by step."""
    reached: set[int] = set()
    left = knight_steps(board, {start}) & open
    while left:
        reached |= left
        left = knight_steps(board, left) & open - reached
    return reached


# -- bits ------------------------------------------------------------------------------------


@given(WORDS)
def test_a_word_is_a_set_of_cells(word: int) -> None:
    members = sorted(cells(word))
    assert bitset(members) == word
    assert count(np.uint64(word)) == len(members)
    assert list(each(np.uint64(word))) == members
    if members:
        assert first(np.uint64(word)) == members[0]
        assert cells(rest(np.uint64(word))) == set(members[1:])
    else:
        assert rest(np.uint64(word)) == 0


def test_bit_is_a_set_of_one() -> None:
    assert [int(bit(cell)) for cell in range(64)] == [2**cell for cell in range(64)]


SIGNATURES: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (count, types.int64, (types.uint64,)),
    (first, types.int64, (types.uint64,)),
    (rest, types.uint64, (types.uint64,)),
    (bit, types.uint64, (types.int64,)),
    (moves, types.uint64, (GEOMETRY, types.uint64, types.int64)),
    (mobility, types.int64, (GEOMETRY, types.uint64, types.int64)),
    (space, types.int64, (GEOMETRY, types.uint64, types.int64)),
    (spread, types.uint64, (GEOMETRY, types.uint64)),
    (reach, types.uint64, (GEOMETRY, types.uint64, types.int64)),
    (perft, types.int64, (GEOMETRY, types.uint64, types.int64, types.int64, types.int64)),
]
each_signature = pytest.mark.parametrize(
    ("function", "result", "arguments"), SIGNATURES, ids=[row[0].__name__ for row in SIGNATURES]
)


@each_signature
def test_words_are_unsigned_and_cells_are_signed(
    function: Any, result: Any, arguments: tuple[Any, ...]
) -> None:
    assert function.nopython_signatures == [result(*arguments)]


@each_signature
def test_the_compiler_infers_the_same_types_by_itself(
    function: Any, result: Any, arguments: tuple[Any, ...]
) -> None:
    """Check inferred types: a declared result type would hide an intermediate float."""
    inferred = numba.njit(function.py_func)
    inferred.compile(arguments)
    assert inferred.nopython_signatures == [result(*arguments)]
    (compiled,) = inferred.overloads.values()
    assert not re.search(r":: float", str(compiled.type_annotation))


def test_each_yields_signed_cells() -> None:
    (signature,) = each.nopython_signatures  # type: ignore[attr-defined]
    assert signature.args == (types.uint64,)
    assert signature.return_type.yield_type == types.int64


# -- geometry --------------------------------------------------------------------------------


@each_board
def test_the_record_says_what_the_board_says(board: Board) -> None:
    one = geometry(board)[0]
    everywhere = set(range(board.cells))
    assert (one.width, one.height, one.cells) == (board.width, board.height, board.cells)
    assert cells(one.every) == everywhere
    assert cells(one.knight[POCKET]) == everywhere
    assert cells(one.dark) == {cell for cell in everywhere if board.colour(cell) == 1}
    assert {board.name(cell) for cell in cells(one.corners)} == {
        f"{file}{rank}"
        for file in ("a", board.name(board.width - 1)[0])
        for rank in (1, board.height)
    }
    for cell in everywhere:
        assert (one.row[cell], one.column[cell]) == (board.row(cell), board.column(cell))
        assert cells(one.knight[cell]) == set(board.knight[cell])
        assert cells(one.touching[cell]) == set(board.touching[cell])
        assert tuple(one.distance[cell][: board.cells]) == board.distance[cell]
        rings = [cells(ring) for ring in one.ring[cell]]
        for steps in range(RINGS):
            assert rings[steps] == {c for c in everywhere if board.distance[cell][c] == steps}
        assert set().union(*rings) == {
            c for c in everywhere if board.distance[cell][c] != UNREACHABLE
        }


def test_each_search_gets_a_work_sheet_of_its_own() -> None:
    mine, yours = geometry(Board.of(7, 7)), geometry(Board.of(7, 7))
    mine[0].step_limit = 5
    mine[0].knight[3] = 0
    assert yours[0].step_limit != 5
    assert geometry(Board.of(7, 7))[0].knight[3] == yours[0].knight[3] != 0


# -- rules -----------------------------------------------------------------------------------


def check_rules(position: Position) -> None:
    """Compare every rule, for both knights, with sets."""
    board = position.board
    one = geometry(board)[0]
    open, mover, waiter = words(position)
    assert cells(open) == position.open
    for side, cell in (
        (position.to_move, mover),
        ("b" if position.to_move == "w" else "w", waiter),
    ):
        start = position.knight(side)
        assert cell == (POCKET if start is None else start)
        targets = set(position.targets(side))
        assert cells(moves(one, np.uint64(open), cell)) == targets
        assert mobility(one, np.uint64(open), cell) == len(targets)
        reached = cells(reach(one, np.uint64(open), cell))
        if start is None:
            assert reached == position.open
        else:
            assert reached == walk(board, set(position.open), start)
            around = [
                there
                for there in position.open
                if abs(board.row(there) - board.row(start)) < 2
                and abs(board.column(there) - board.column(start)) < 2
            ]
            assert space(one, np.uint64(open), cell) == len(around)


@given(st.one_of(positions(), odd_positions()))
def test_rules_agree_with_the_position(position: Position) -> None:
    check_rules(position)


@each_danger
def test_rules_agree_on_boards_that_fill_the_word(board: Board) -> None:
    for position in random_positions(board.width, board.height, 40, seed=board.width):
        check_rules(position)


@each_danger
def test_the_last_cell_is_a_cell_like_any_other(board: Board) -> None:
    corner = board.cells - 1
    position = Position.start(board.width, board.height).play(board.name(corner)).play("a1")
    check_rules(position)
    before = Position.start(board.width, board.height)
    for cell in board.knight[corner]:
        check_rules(before.play(board.name(cell)).play("a1"))
    # A knight whose only move is to the last cell.
    start = board.knight[corner][0]
    other = next(cell for cell in range(board.cells) if cell not in (start, corner))
    cornered = Position(board, frozenset({corner}), start, other, "w")
    check_rules(cornered)
    assert cornered.legal_moves == (board.name(corner),)
    assert perft_of(cornered, 1) == 1


@given(boards(), WORDS)
def test_spread_is_every_knight_step_at_once(board: Board, word: int) -> None:
    one = geometry(board)[0]
    word &= int(one.every)
    assert cells(spread(one, np.uint64(word))) == knight_steps(board, cells(word))


@each_board
def test_spread_of_one_cell_never_wraps_around(board: Board) -> None:
    one = geometry(board)[0]
    for cell in range(board.cells):
        assert spread(one, bit(cell)) == one.knight[cell]
    assert cells(spread(one, one.every)) == knight_steps(board, set(range(board.cells)))
    assert spread(one, np.uint64(0)) == 0


@given(boards(), WORDS, st.integers(0, 63))
def test_reach_is_a_walk(board: Board, word: int, start: int) -> None:
    assume(start < board.cells)
    one = geometry(board)[0]
    open = word & int(one.every) & ~(1 << start)
    assert cells(reach(one, np.uint64(open), start)) == walk(board, cells(open), start)


@given(st.one_of(positions(min_placed=1), odd_positions()))
def test_perft_agrees_with_the_position(position: Position) -> None:
    for depth in (0, 1, 2):
        assert perft_of(position, depth) == position.perft(depth)


@each_danger
def test_perft_agrees_on_boards_that_fill_the_word(board: Board) -> None:
    for position in random_positions(board.width, board.height, 10, seed=5, min_placed=2):
        assert perft_of(position, 4) == position.perft(4)


def test_perft_from_the_empty_board() -> None:
    for width, height in [(3, 3), (3, 4), (5, 5), (8, 8)]:
        start = Position.start(width, height)
        assert perft_of(start, 3) == start.perft(3)
    # Of the 48 cells for the other knight, one blocks any given step.
    seven = Board.of(7, 7)
    steps = sum(len(seven.knight[cell]) for cell in range(49))
    assert perft_of(Position.start(), 3) == 47 * steps


@given(positions())
def test_words_can_be_asked_from_either_side(position: Position) -> None:
    open, white, black = words(position, "w")
    assert words(position, "b") == (open, black, white)
    assert words(position) in ((open, white, black), (open, black, white))
    assert words(position)[1] == (white if position.to_move == "w" else black)


def test_perft_to_the_end_of_games() -> None:
    for position in random_positions(5, 5, 10, seed=6, min_placed=2):
        for depth in (6, 9):
            assert perft_of(position, depth) == position.perft(depth)
    short = Position.from_fen("4/1N2/2n1 w")
    assert perft_of(short, 4) == short.perft(4) > 0
    assert perft_of(short, 12) == short.perft(12) == 0
