"""Tests of labelled positions: legal games, true labels, one form of all mirror images, and no
position in two splits.
"""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from helpers import random_positions
from naive_solver import plies_to_end
from positions import images, position

import knightfall as kf
from knightfall.board import Board
from knightfall.kernel.rules import words
from knightfall.learning.data import Columns, Shard
from knightfall.learning.shard_builder import (
    EARLY,
    NAMES,
    RANDOM_PLIES,
    after,
    build_columns,
    draw,
    draw_game,
    label,
    plies_to_label,
    position_of,
)
from knightfall.learning.split import SPLITS, canonical_forms, class_splits, classes, kept, keys
from knightfall.position import Position
from knightfall.solver.atlas import canonical, representatives
from knightfall.solver.engine import Engine, Limits


def shard(board: str, positions: int, seed: str = "seed") -> Columns:
    return build_columns(Shard("name", board, 3, positions, seed))


def all_of(board: str, columns: Columns) -> list[Position]:
    cells = (columns[name] for name in ("open", "mover", "waiter"))
    return [position(Board.named(board), *row) for row in zip(*cells, strict=True)]


@pytest.mark.parametrize(("board", "most_open"), [("4x4", 16), ("4x5", 18), ("5x5", 17)])
def test_labels_are_those_of_brute_force(board: str, most_open: int) -> None:
    columns = shard(board, 1200)
    checked = 0
    for one, wins in zip(all_of(board, columns), columns["wins"], strict=True):
        if len(one.open) <= most_open:
            assert wins == plies_to_end(one) % 2, one.fen
            checked += 1
    assert checked > 500
    assert 0.2 < columns["wins"].mean() < 0.8


def test_labels_are_those_of_the_solver_on_7x7() -> None:
    columns = shard("7x7", 1500)
    late = [
        (one, wins)
        for one, wins in zip(all_of("7x7", columns), columns["wins"], strict=True)
        if len(one.open) <= 36
    ]
    for one, wins in random.Random(1).sample(late, 60):
        assert wins == (kf.solve(one).winner == "w"), one.fen


def test_games_follow_the_rules_and_tell_what_happened() -> None:
    board, rng = Board.of(5, 5), random.Random(2)
    drawn, ranks = set(), set()
    for _ in range(60):
        game = draw_game(board, rng)
        drawn.add(game.drawn)
        now = position(board, *game.positions[0])
        assert canonical(now) is not None
        assert (now.white, now.black) == game.opening
        for ply, (here, there) in enumerate(pairwise(game.positions)):
            assert there == after(here, there[2])
            if ply < game.drawn:
                ranks.add(now.legal_moves.index(board.name(there[2])))
            now = now.play(board.name(there[2]))
            assert position(board, *there).open == now.open
        for ply in range(len(game.positions)):
            assert game.result(ply) == (now.winner == "wb"[ply % 2])
        assert len(game.positions) - 1 > game.drawn
        assert set(game.agents) <= set(NAMES)
    assert len(drawn & set(RANDOM_PLIES)) > 4
    assert len(ranks) > 4  # the first moves are random


def test_rows_tell_of_the_game() -> None:
    columns = shard("5x6", 400)
    board = Board.named("5x6")
    known = {number: cells for cells, number in classes(board).items()}
    assert (columns["game"] >> 16 == 3).all()
    for row, one in enumerate(all_of("5x6", columns)):
        assert (one.hunter == "w") == columns["hunter"][row]
        # The knights have left as many cells as moves were made.
        assert len(one.open) == board.cells - 2 - columns["ply"][row]
        assert one.winner is None
        if columns["ply"][row] == 0:
            assert canonical(one) == known[columns["opening"][row]]
    for game in np.unique(columns["game"]):
        here = columns["game"] == game
        assert len(np.unique(columns["opening"][here])) == 1
        turns = columns["ply"][here] % 2
        for turn in (0, 1):  # each player keeps its name, its role and its result
            for name in ("mover_agent", "hunter", "result"):
                assert len(np.unique(columns[name][here][turns == turn])) <= 1
                if name != "mover_agent" and len(set(turns)) == 2:
                    assert len(np.unique(columns[name][here])) == 2


def test_a_label_needs_no_question_where_the_game_shows_it() -> None:
    board, rng, asked = Board.of(5, 5), random.Random(3), 0

    class CountingEngine(Engine):
        def wins(self, position: Position, limits: Limits | None = None) -> bool:
            nonlocal asked
            asked += 1
            return super().wins(position, limits)

    engine, taken = CountingEngine(board), 0
    for _ in range(40):
        game = draw_game(board, rng)
        plies = plies_to_label(game, rng)
        told = label(engine, game, plies)
        assert told == [engine.wins(position_of(board, game.positions[ply])) for ply in plies]
        asked -= len(plies)
        taken += len(plies)
        assert len(game.positions) - 1 not in plies
    assert asked < 0.8 * taken


def test_few_early_positions_are_taken_and_none_too_hard_to_solve() -> None:
    rng = random.Random(4)
    for name, most in (("7x7", 41), ("8x8", 41)):
        early = late = games = 0
        for _ in range(30):
            game = draw_game(Board.named(name), rng)
            plies = plies_to_label(game, rng)
            everywhere = [open.bit_count() for open, _, _ in game.positions[:-1]]
            assert {ply for ply, left in enumerate(everywhere) if left <= most} <= set(plies)
            opened = [everywhere[ply] for ply in plies]
            early += sum(count > most for count in opened)
            late += sum(count <= most for count in opened)
            games += 1
        assert (0 < early <= games) if name == "7x7" else early == 0
        assert late > 10 * games
    assert EARLY * 49 >= 41


def test_every_agent_gets_its_turn() -> None:
    rng = random.Random(5)
    assert {draw(rng) for _ in range(3000)} == set(NAMES)


def test_stored_positions_are_canonical_forms() -> None:
    columns = shard("5x5", 200)
    cells = [columns[name] for name in ("open", "mover", "waiter")]
    for one, two in zip(canonical_forms(Board.of(5, 5), *cells), cells, strict=True):
        assert (one == two).all()


# -- canonical forms, and the split -------------------------------------------------------------


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
