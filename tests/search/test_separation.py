"""Separation: its detection, longest paths of lone knights, and results of the two solitaires."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers import random_positions, times_the_examples
from hypothesis import given
from hypothesis import strategies as st
from naive import knight_moves
from naive_search import exact_value, longest_walk, reported, roamed, search
from naive_solver import plies_to_end
from strategies import boards, odd_positions, positions

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.kernel.rules import NO_LIMIT, bitset, geometry, path_bound, reach
from knightfall.position import Position, Side
from knightfall.search.search_state import DTYPE
from knightfall.search.separation import (
    GAVE_UP,
    STEPS,
    UNSETTLED,
    longest_path,
    separated,
    solitaires,
)

SIZES = [(3, 3), (4, 4), (5, 5), (3, 7), (7, 7), (8, 8), (4, 16), (16, 4), (3, 21), (9, 7)]


def cells_of(position: Position) -> tuple[int, int]:
    assert position.white is not None
    assert position.black is not None
    return position.white, position.black


def apart(position: Position) -> bool:
    """Return whether no open cell can be reached by both knights: the definition."""
    white, black = cells_of(position)
    return not roamed(position.board, position.open, white) & roamed(
        position.board, position.open, black
    )


def kernel_separated(position: Position) -> bool:
    white, black = cells_of(position)
    board, open = geometry(position.board)[0], np.uint64(bitset(position.open))
    one_way, other_way = separated(board, open, white, black), separated(board, open, black, white)
    assert one_way == other_way
    return bool(one_way)


class Walks:
    """The kernel's path searches on one board, with their node counts."""

    def __init__(self, board: Board, open: frozenset[int], limit: int = NO_LIMIT) -> None:
        self.boards = geometry(board)
        self.boards["limit"] = limit
        self.states = np.zeros(1, DTYPE)
        self.open = np.uint64(bitset(open))

    @property
    def nodes(self) -> int:
        return int(self.states["nodes"][0])

    def bound(self, cell: int) -> int:
        board, open = self.boards[0], self.open
        return int(path_bound(board, np.uint64(reach(board, open, cell)), cell))

    def longest(self, cell: int, goal: int) -> int:
        return int(longest_path(self.boards[0], self.states[0], self.open, cell, goal))

    def solitaires(self, mover: int, waiter: int) -> int:
        return int(solitaires(self.boards[0], self.states[0], self.open, mover, waiter))


# -- separated positions ---------------------------------------------------------------------


def grown(board: Board, start: int, size: int, taken: set[int], rng: Any) -> set[int]:
    """Return a region around a cell in which every cell is a knight's move from another."""
    region: set[int] = set()
    while len(region) < size:
        edge = set(knight_moves(board, start))
        for cell in region:
            edge |= knight_moves(board, cell)
        edge -= region | taken
        if not edge:
            break
        region.add(rng.choice(sorted(edge)))
    return region


def split(board: Board, sizes: tuple[int, int], rng: Any) -> Position:
    """Return a position of two knights with a region each; sometimes the regions touch."""
    white, black = rng.sample(range(board.cells), 2)
    taken = {white, black}
    mine = grown(board, white, sizes[0], taken, rng)
    # Not within a knight's move of the first region.
    near = {cell for inside in mine | {white} for cell in knight_moves(board, inside)}
    theirs = grown(board, black, sizes[1], taken | mine | near, rng)
    side: Side = rng.choice(["w", "b"])
    return Position(board, frozenset(mine | theirs), white, black, side)


@st.composite
def split_positions(draw: st.DrawFn, most: int = 8) -> Position:
    sizes = draw(st.tuples(st.integers(0, most), st.integers(0, most)))
    return split(draw(boards()), sizes, draw(st.randoms(use_true_random=False)))


@cache
def split_games() -> list[Position]:
    """Return separated positions of many boards; most are not over."""
    rng = random.Random(8)
    found = [
        split(Board.of(*size), (rng.randint(0, 9), rng.randint(0, 9)), rng)
        for size in SIZES
        for _ in range(60)
    ]
    return [position for position in found if apart(position)]


# -- detection -------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_separated_means_that_no_cell_is_reached_by_both(width: int, height: int) -> None:
    for position in random_positions(width, height, 80, width, min_placed=2):
        assert kernel_separated(position) == apart(position), position.fen


@given(st.one_of(positions(min_placed=2), odd_positions().filter(lambda p: p.placed)))
def test_separated_on_any_position(position: Position) -> None:
    assert kernel_separated(position) == apart(position)


@given(split_positions(most=14))
def test_separated_where_it_is_likely(position: Position) -> None:
    assert kernel_separated(position) == apart(position)


def test_both_answers_are_met() -> None:
    rng = random.Random(1)
    drawn = [split(Board.of(8, 8), (6, 6), rng) for _ in range(50)]
    assert sum(map(kernel_separated, drawn)) > 20
    assert not all(map(kernel_separated, random_positions(8, 8, 20, 1, min_placed=2)))


def test_separated_for_ever() -> None:
    for position in split_games()[::7]:
        for move in position.legal_moves:
            assert kernel_separated(position.play(move))


# -- longest paths ---------------------------------------------------------------------------


def bound_of(board: Board, open: frozenset[int], start: int) -> int:
    """Return the bound of fact 3 (`docs/theory.md`): min(2·o, 2·s+1)."""
    reached = roamed(board, open, start)
    same = sum(board.colour(cell) == board.colour(start) for cell in reached)
    return min(2 * (len(reached) - same), 2 * same + 1)


@given(st.one_of(positions(min_placed=2), odd_positions().filter(lambda p: p.placed)))
def test_path_bound_is_the_formula(position: Position) -> None:
    walks = Walks(position.board, position.open)
    for cell in cells_of(position):
        assert walks.bound(cell) == bound_of(position.board, position.open, cell)


@times_the_examples(3)
@given(board=boards(), size=st.integers(0, 13), rng=st.randoms(use_true_random=False))
def test_no_walk_is_longer_than_the_bound(board: Board, size: int, rng: Any) -> None:
    start = rng.randrange(board.cells)
    open = frozenset(grown(board, start, size, {start}, rng))
    longest = longest_walk(board, open, start)
    assert longest <= bound_of(board, open, start)
    assert Walks(board, open).bound(start) >= longest


@times_the_examples(3)
@given(
    board=boards(),
    size=st.integers(0, 13),
    goal=st.integers(0, 16),
    rng=st.randoms(use_true_random=False),
)
def test_longest_path_is_the_longest_of_all(board: Board, size: int, goal: int, rng: Any) -> None:
    start = rng.randrange(board.cells)
    open = frozenset(grown(board, start, size, {start}, rng))
    exact = longest_walk(board, open, start)
    assert Walks(board, open).longest(start, board.cells) == exact
    found = Walks(board, open).longest(start, goal)
    assert found == exact if exact < goal else goal <= found <= exact


def test_longest_path_in_random_games() -> None:
    lengths = set()
    for width, height in SIZES:
        for position in random_positions(width, height, 60, 77, min_placed=2):
            for cell in cells_of(position):
                if len(roamed(position.board, position.open, cell)) <= 13:
                    exact = longest_walk(position.board, position.open, cell)
                    lengths.add(exact)
                    assert Walks(position.board, position.open).longest(cell, 64) == exact
    assert lengths >= set(range(8))


def test_a_walk_gives_up_after_so_many_steps() -> None:
    given_up = 0
    for position in random_positions(8, 8, 60, 9, min_placed=2):
        walks = Walks(position.board, position.open)
        found = walks.longest(cells_of(position)[0], 64)
        assert walks.nodes <= STEPS
        given_up += found == GAVE_UP
    assert 0 < given_up < 60


@given(
    position=positions(min_placed=2, board=Board.of(7, 7)),
    spent=st.integers(0, 50),
    more=st.integers(1, 60),
)
def test_a_walk_stops_at_the_node_limit(position: Position, spent: int, more: int) -> None:
    walks = Walks(position.board, position.open, limit=spent + more)
    walks.states["nodes"] = spent
    cell = cells_of(position)[0]
    found = walks.longest(cell, 64)
    assert spent <= walks.nodes <= spent + more
    if found != GAVE_UP:
        free = Walks(position.board, position.open)
        assert found == free.longest(cell, 64)
        assert free.nodes == walks.nodes - spent


# -- two solitaires --------------------------------------------------------------------------


def outcome(position: Position) -> int:
    """Return the result of `solitaires` for a position."""
    white, black = cells_of(position)
    mover, waiter = (white, black) if position.to_move == "w" else (black, white)
    return Walks(position.board, position.open).solitaires(mover, waiter)


def check_solitaires(position: Position) -> None:
    plies = plies_to_end(position)
    said = outcome(position)
    # Positive: the mover wins in that many plies; otherwise it loses in minus that many.
    assert said == (plies if plies % 2 else -plies), position.fen


def test_solitaires_end_as_the_game_does() -> None:
    lengths = set()
    for position in split_games():
        check_solitaires(position)
        lengths.add(plies_to_end(position))
    assert lengths >= set(range(10))


@times_the_examples(3)
@given(split_positions().filter(apart))
def test_solitaires_on_any_board(position: Position) -> None:
    check_solitaires(position)


def test_solitaires_in_random_games() -> None:
    met = 0
    for width, height in SIZES:
        for position in random_positions(width, height, 80, 5, min_placed=2):
            if apart(position) and len(position.open) <= 16:
                check_solitaires(position)
                met += 1
    assert met > 80


def test_the_longer_walk_wins() -> None:
    """Check in plain Python that after separation the longer walk wins (fact 3 of
    `docs/theory.md`).
    """
    for position in split_games():
        white, black = (longest_walk(position.board, position.open, c) for c in cells_of(position))
        mine, theirs = (white, black) if position.to_move == "w" else (black, white)
        assert (plies_to_end(position) % 2 == 1) == (mine > theirs), position.fen


def walled(seed: int) -> Position:
    """Return 8×8 positions divided by a wall of two columns, with random cells blocked."""
    rng = random.Random(seed)
    board = Board.of(8, 8)
    left = [cell for cell in range(64) if cell % 8 < 3]
    right = [cell for cell in range(64) if cell % 8 > 4]
    white, *mine = rng.sample(left, 21)
    black, *theirs = rng.sample(right, 21)
    return Position(board, frozenset(mine + theirs), white, black, "w")


def test_solitaires_that_take_too_long_are_left_unsettled() -> None:
    unsettled = 0
    for position in map(walled, range(60)):
        assert kernel_separated(position)
        white, black = cells_of(position)
        walks = Walks(position.board, position.open)
        said = walks.solitaires(white, black)
        assert walks.nodes <= 2 * STEPS
        unsettled += said == UNSETTLED
        if said != UNSETTLED:
            bounds = walks.bound(white), walks.bound(black)
            assert said <= 2 * bounds[1] + 1
            assert said >= -2 * bounds[0]
        hurried = Walks(position.board, position.open, limit=5)
        assert hurried.solitaires(white, black) == UNSETTLED
        assert hurried.nodes <= 5
    assert 0 < unsettled < 60


# -- separation in the search ----------------------------------------------------------------


@pytest.mark.parametrize("id", ["improved", "center", "null"])
def test_deepening_sees_the_end_of_a_separated_game(id: str) -> None:
    for position in split_games()[::3]:
        if position.winner is None:
            report = parse_agent(f"id({id}, depth=64)").analyse(position)
            assert reported(report) == exact_value(position), position.fen
            assert plies_to_end(position.play(report.move)) == plies_to_end(position) - 1


def test_deepening_sees_beyond_its_horizon_but_never_wrongly() -> None:
    beyond = 0
    for position in split_games():
        if position.winner is not None:
            continue
        for depth in (6, 7, 8):
            report = parse_agent(f"id(improved, depth={depth})").analyse(position)
            tree = search(position, depth, lambda *_: 0.0)
            if report.proven:
                assert report.plies is not None
                assert (report.score > 0) == (plies_to_end(position) % 2 == 1), position.fen
                beyond += report.plies > depth
            else:
                assert tree.value == 0, position.fen
    assert beyond > 10
