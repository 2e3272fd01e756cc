"""Tests that mirror images are one position and no position is in two splits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from helpers import random_positions
from positions import images

from knightfall.board import Board
from knightfall.kernel.rules import words
from knightfall.learning.split import SPLITS, canonical_forms, class_splits, classes, kept, keys
from knightfall.position import Position
from knightfall.solver.atlas import canonical, representatives


def arrays(positions: list[Position]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    open, movers, waiters = zip(*(words(one) for one in positions), strict=True)
    return np.array(open, np.uint64), np.array(movers, np.uint8), np.array(waiters, np.uint8)


def first(positions: list[Position]) -> list[tuple[int, int, int]]:
    found = canonical_forms(positions[0].board, *arrays(positions))
    return [tuple(map(int, row)) for row in zip(*found, strict=True)]  # type: ignore[misc]


@pytest.mark.parametrize("size", [(4, 4), (5, 6), (6, 7), (7, 7), (8, 8), (4, 16)])
def test_all_images_have_one_picture_which_is_one_of_them(size: tuple[int, int]) -> None:
    for one in random_positions(*size, 25, seed=6, min_placed=2):
        all_images = sorted(images(one), key=str)
        pictures = set(first(all_images))
        assert len(pictures) == 1
        assert pictures <= {words(image) for image in all_images}


def test_the_picture_of_an_opening_is_that_of_the_atlas() -> None:
    board = Board.of(5, 5)
    cells = frozenset(range(25))
    for white in cells:
        for black in cells - {white}:
            one = Position(board, cells - {white, black}, white, black, "w")
            assert first([one])[0][1:] == canonical(one)


def test_exchanged_knights_are_another_position() -> None:
    one = Position.from_fen("5/1N3/5/3n1/5 w")
    two = Position.from_fen("5/2N2/5/3n1/5 w")
    swapped = Position(two.board, two.open, two.black, two.white, "w")
    assert first([two]) != first([swapped])
    assert first([one]) == first([Position(one.board, one.open, one.black, one.white, "w")])


def test_keys_differ_where_positions_or_boards_do() -> None:
    board = Board.of(7, 7)
    found = {*random_positions(7, 7, 400, seed=7, min_placed=2)}
    pictures = {*first(list(found))}
    columns = [np.array(column) for column in zip(*pictures, strict=True)]
    cells = columns[0].astype(np.uint64), columns[1].astype(np.uint8), columns[2].astype(np.uint8)
    told = keys(board, *cells)
    assert len(set(told.tolist())) == len(pictures)
    assert not set(told.tolist()) & set(keys(Board.of(8, 7), *cells).tolist())
    for row, key in enumerate(told.tolist()):
        open, mover, waiter = (int(column[row]) for column in cells)
        place = 7 << 20 | 7 << 12 | mover << 6 | waiter
        assert key == mixed(mixed(open) ^ mixed(place + 0x9E3779B97F4A7C15))


def mixed(word: int) -> int:
    """Return the finaliser of splitmix64, from its definition."""
    word &= 2**64 - 1
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


@pytest.mark.parametrize("board", ["4x4", "5x6", "7x7"])
def test_openings_are_split_by_class(board: str) -> None:
    splits = class_splits(Board.named(board))
    total = len(representatives(Board.named(board)))
    assert len(splits) == len(classes(Board.named(board))) == total
    for held in (1, 2):
        assert (splits == held).sum() == max(1, round(total / 10))
    assert len(representatives(Board.of(7, 7))) == 315


def test_one_of_equal_positions_is_kept_where_it_matters_most() -> None:
    rng = random.Random(8)
    told = [(rng.randrange(200), rng.randrange(3)) for _ in range(600)]
    found = kept(
        np.array([key for key, _ in told], np.uint64), np.array([at for _, at in told], np.uint8)
    )
    where = {key: max(at for other, at in told if other == key) for key, _ in told}
    wanted = {key: told.index((key, at)) for key, at in where.items()}
    assert {*np.flatnonzero(found)} == {*wanted.values()}
    assert SPLITS == ("train", "validation", "test")
    assert not kept(np.zeros(0, np.uint64), np.zeros(0, np.uint8)).any()
