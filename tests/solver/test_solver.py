"""The exact solver compared with brute force, with known totals, and with its own answers one move
later; and its contract: no answer depends on the table, the threads, the limits or on earlier
questions.
"""

from __future__ import annotations

import math
import random
import re
import threading
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from helpers import (
    FULL_WORD,
    NEARLY_FULL_WORD,
    at_length,
    random_positions,
    some_and_all,
    times_the_examples,
)
from hypothesis import given
from hypothesis import strategies as st
from naive_search import mirrored, plies_by_the_rules, swapped
from naive_solver import BruteForce, brute_force, opening_classes, openings, plies_to_end
from solver_helpers import crowded, ends, reflected
from strategies import odd_positions, positions

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side, other
from knightfall.solver import solve as solve_module
from knightfall.solver.atlas import Entry
from knightfall.solver.engine import Engine, KeptEngines, Limits, OutOfBudget
from knightfall.solver.solve import Solution, SolveProgress, Solver, solve

SMALL = [(3, 3), (3, 4), (4, 3), (3, 5), (5, 3), (3, 6), (6, 3), (4, 4), (4, 5), (5, 4)]
"""Every board of up to 20 cells, in both orientations."""


Answer = tuple[Side | None, tuple[str, ...] | None, int | None, tuple[str, ...]]


def engine(board: Board, **options: int) -> Engine:
    """Return a new engine with an empty table."""
    return Engine(board, **{"table_mb": 1, **options})


def reshaped(board: Board, *, threads: int = 1, buckets: int | None = None, upper: int) -> Engine:
    """Return an engine with a given `upper`, and optionally with a table of only a few buckets."""
    made = engine(board, threads=threads)
    for states in made._states:
        states["upper"] = upper
        if buckets is not None:
            states["buckets"] = buckets - 1
    return made


def careful_from(board: Board) -> int:
    """Return the least number of open cells with which an engine uses its table."""
    return int(engine(board)._states[0]["upper"][0])


def solver(board: Board) -> Solver:
    return Solver(engine(board), use_atlas=False)


def answer(solution: Solution) -> Answer:
    """Return the part of a solution that does not depend on how it was found."""
    return solution.winner, solution.winning_moves, solution.plies, solution.pv


def fresh_answer(position: Position) -> Answer:
    """Return the answer of one thread with a standard table and without the atlas."""
    return answer(solve(position, atlas=False))


# -- against brute force ---------------------------------------------------------------------


def check_against(brute: BruteForce, position: Position) -> None:
    """Compare winner, length, winning moves and best play with brute force."""
    found = solve(position, atlas=False, table_mb=1)
    plies = brute.plies(position)
    assert found.plies == found.at_least == plies, position.fen
    assert found.winner == (position.to_move if plies % 2 else other(position.to_move))
    assert found.winning_moves == brute.winning_moves(position), position.fen
    assert len(found.pv) == plies
    for move in found.pv:  # `play` refuses what is not legal
        position, plies = position.play(move), plies - 1
        assert brute.plies(position) == plies, position.fen
    assert position.legal_moves == ()


@pytest.fixture(
    scope="module",
    params=[size if size[0] * size[1] < 18 else at_length(size) for size in SMALL],
    ids=lambda size: "{}x{}".format(*size),
)
def brute(request: pytest.FixtureRequest) -> BruteForce:
    """Return the brute-force solver of a board; tests run once for each small board."""
    return brute_force(Board.of(*request.param))


def test_brute_force_follows_the_rules() -> None:
    """Compare the brute-force solver with plain recursion, on boards in both orientations, with
    empty and with filled caches.
    """
    held = [Board.of(*size) for size in ((3, 3), (3, 4), (4, 3))]
    some = crowded(200, 1, 8, [Board.of(5, 4), Board.of(4, 5), Board.of(3, 7), Board.of(7, 3)])
    for position in [*(one for board in held for one in openings(board)), *some]:
        plies = plies_by_the_rules(position)
        assert BruteForce(position.board).plies(position) == plies, position.fen
        assert plies_to_end(position) == plies, position.fen
    for board in held:
        start = Position.start(board.width, board.height)
        for move in start.legal_moves[:2]:
            assert plies_to_end(start.play(move)) == plies_by_the_rules(start.play(move))


def test_every_opening_of_a_small_board(brute: BruteForce) -> None:
    board = brute.board
    for position in openings(board):
        check_against(brute, position)


def test_every_first_placement_on_a_small_board(brute: BruteForce) -> None:
    board = brute.board
    start = Position.start(board.width, board.height)
    if board.cells <= 16:
        check_against(brute, start)
    for move in start.legal_moves[:: 1 if board.cells <= 16 else 4]:
        check_against(brute, start.play(move))


def test_every_question_about_every_opening(brute: BruteForce) -> None:
    """Compare one engine's answers with brute force, in random order, so that they use proofs of
    earlier ones.
    """
    board = brute.board
    asked = engine(board)
    questions = [
        (position, plies) for position in openings(board) for plies in range(-1, board.cells)
    ]
    random.Random(board.cells).shuffle(questions)
    for position, within in questions:
        plies = brute.plies(position)
        if within < 0:
            assert asked.wins(position) == (plies % 2 == 1), position.fen
        else:
            assert asked.ends_within(position, within) == ends(plies, within), (position, within)


def test_positions_with_blocked_cells_on_boards_of_every_shape() -> None:
    shapes = [*(Board.of(*size) for size in SMALL), Board.of(5, 5), Board.of(7, 7)]
    lengths = set()
    for position in crowded(800, 1, 14, shapes + FULL_WORD + NEARLY_FULL_WORD):
        brute = BruteForce(position.board)
        check_against(brute, position)
        lengths.add(brute.plies(position))
    assert lengths >= set(range(12))


@given(odd_positions(few=12))
def test_any_position_a_fen_can_express(position: Position) -> None:
    """Compare with brute force, also positions with open cells that no knight can reach."""
    check_against(BruteForce(position.board), position)


@pytest.mark.parametrize(
    "fen",
    [
        "2*1/*2*/1*2/3*[Nn] w",
        "*2/1*1/2*/3/1*1[Nn] w",
        "1**1*/2*2/*1*1*[Nn] w",
        "4/1**1/1**1/4[Nn] w",
        "*3*/1*1*1/*3*/5[Nn] w",
        "**********/***2*****/**1**1****/****1*****/**1*******/****1*****[Nn] w",
        "N1*2/2*2/5/*3*[n] b",
        "2*1/*2*/1*N1/3*[n] b",
        "***/*N*/*1*[n] b",
        "*1*/*1*/***[Nn] w",
    ],
)
def test_placement_among_blocked_cells(fen: str) -> None:
    position = Position.from_fen(fen)
    check_against(BruteForce(position.board), position)


@pytest.mark.parametrize("upper", [0, 4, 9, 99])
def test_where_care_begins_changes_nothing(upper: int) -> None:
    """Compare with brute force for every `upper`, from using the table in all positions to using it
    in none.
    """
    board = Board.of(4, 5)
    one = reshaped(board, upper=upper)
    two = reshaped(board, upper=upper, buckets=2)
    brute = BruteForce(board)
    for position in random_positions(4, 5, 150, upper, min_placed=2):
        plies = brute.plies(position)
        for asked in (one, two):
            assert asked.wins(position) == (plies % 2 == 1), position.fen
            for within in (plies - 2, plies - 1, plies, plies + 1, plies + 2):
                if within >= 0:
                    assert asked.ends_within(position, within) == ends(plies, within), position.fen


def test_positions_that_are_their_own_image() -> None:
    """Check that without an open centre the waiter wins by reflection; with it, either may win."""
    shapes = [Board.of(*size) for size in ((4, 4), (4, 5), (3, 5), (5, 5), (3, 7), (7, 7), (8, 8))]
    won = {True: 0, False: 0}
    for position in reflected(300, 4, 16, shapes):
        brute, board = BruteForce(position.board), position.board
        check_against(brute, position)
        plies = brute.plies(position)
        for asked in (reshaped(board, upper=0), reshaped(board, upper=99)):
            assert asked.wins(position) == (plies % 2 == 1), position.fen
            for move in position.legal_moves:
                after = position.play(move)
                assert asked.wins(after) == (brute.plies(after) % 2 == 1), after.fen
            for within in range(max(0, plies - 3), plies + 3):
                assert asked.ends_within(position, within) == ends(plies, within), position.fen
        centre_open = board.cells % 2 == 1 and board.cells // 2 in position.open
        won[centre_open] += plies % 2
    assert won[False] == 0 < won[True]


# -- known totals ----------------------------------------------------------------------------


WON_BY_THE_FIRST = {
    (3, 4): (132, 46),
    (4, 4): (240, 64),
    (5, 5): (600, 296),
    (6, 6): (1260, 576),
}
"""Numbers of openings and of those the first player wins, computed by another program."""


@pytest.mark.parametrize(
    ("size", "known"),
    [at_length(*case) if case[0] == (6, 6) else case for case in WON_BY_THE_FIRST.items()],
)
def test_how_many_openings_the_first_player_wins(
    size: tuple[int, int], known: tuple[int, int]
) -> None:
    board = Board.of(*size)
    asked = engine(board)
    every = openings(board)
    assert (len(every), sum(map(asked.wins, every))) == known


@pytest.fixture(scope="module")
def seven() -> Solver:
    """Return an engine for 7×7 that all tests of this module share."""
    return Solver(Engine(Board.of(7, 7)), use_atlas=False)


@pytest.mark.slow
def test_the_totals_of_7x7(seven: Solver) -> None:
    """Compare the numbers of openings, classes and won openings of 7×7 with known ones."""
    classes = opening_classes(Board.of(7, 7))
    assert (len(classes), sum(classes.values())) == (315, 2352)
    won = sum(members for position, members in classes.items() if seven.wins(position))
    assert won == 1160


@pytest.mark.parametrize(
    ("moves", "replies"),
    [
        ("d4", {16}),
        at_length("a7 b7 c7 d7 b6 c6 d6 c5 d5", {24, 25}),  # one of every other class
    ],
)
def test_a_first_placement_on_7x7_has_so_many_winning_replies(
    moves: str, replies: set[int], seven: Solver
) -> None:
    start = Position.start()
    for move in moves.split():
        placed = start.play(move)
        winning = sum(not seven.wins(placed.play(reply)) for reply in placed.legal_moves)
        assert winning in replies, move


@pytest.mark.slow
def test_the_second_player_wins_7x7_from_the_empty_board(seven: Solver) -> None:
    assert not seven.wins(Position.start())


def test_the_opening_everyone_shows() -> None:
    found = solve(Position.from_fen("7/7/1N5/7/7/4n2/7 w"), distance=False, atlas=False)
    assert found.winner == "w"
    assert found.winning_moves
    assert found.pv == found.winning_moves[:1]
    assert (found.plies, found.from_atlas, found.interrupted) == (None, False, False)


@pytest.mark.slow
def test_7x7_solved_from_the_empty_board() -> None:
    start = Position.start()
    found = solve(start, distance=False, atlas=False, threads=2)
    assert answer(found) == ("b", (), None, ())
    for move in ("a7", "b7", "c7", "d7", "b6", "c6", "d6", "c5", "d5", "d4"):
        found = solve(start.play(move), distance=False, atlas=False, threads=2)
        assert found.winner == "b"
        assert found.winning_moves is not None
        assert len(found.winning_moves) in ((16,) if move == "d4" else (24, 25))


# -- against its own answers one move later --------------------------------------------------


def check_winner(one: Engine, two: Engine, position: Position) -> None:
    """Check that a position is won exactly if a move leads to a lost one, by another engine."""
    assert one.wins(position) == any(
        not two.wins(position.play(move)) for move in position.legal_moves
    ), position.fen


def check_plies(one: Solver, two: Solver, position: Position) -> None:
    """Check that a game's length is 1 plus that after the winner's quickest or the loser's longest
    move.
    """
    after = [two.plies(position.play(move)) for move in position.legal_moves]
    wins = [plies for plies in after if plies % 2 == 0]
    expected = 1 + (min(wins) if wins else max(after)) if after else 0
    assert one.plies(position) == expected, position.fen


@some_and_all
@pytest.mark.parametrize(("size", "most"), [((6, 6), 34), ((7, 7), 38), ((7, 8), 40), ((8, 8), 42)])
def test_whoever_wins_has_a_move_that_wins(size: tuple[int, int], most: int, step: int) -> None:
    board = Board.of(*size)
    one, two = engine(board), engine(board)
    checked = 0
    for position in random_positions(*size, 1500 // step, sum(size), min_placed=2):
        if len(position.open) <= most:
            check_winner(one, two, position)
            checked += 1
    assert checked > 500 // step


@some_and_all
@pytest.mark.parametrize(("size", "most"), [((5, 5), 23), ((6, 6), 30), ((7, 7), 32), ((8, 8), 34)])
def test_a_game_lasts_one_ply_longer_than_after_the_best_move(
    size: tuple[int, int], most: int, step: int
) -> None:
    board = Board.of(*size)
    one, two = solver(board), solver(board)
    checked = 0
    for position in random_positions(*size, 800 // step, sum(size), min_placed=2):
        if len(position.open) <= most:
            check_plies(one, two, position)
            checked += 1
    assert checked > 100 // step


def test_openings_of_6x6_last_one_ply_longer_than_after_the_best_move() -> None:
    board = Board.of(6, 6)
    one, two = solver(board), solver(board)
    for position in random.Random(6).sample(sorted(opening_classes(board), key=str), 20):
        check_winner(one.engine, two.engine, position)
        check_plies(one, two, position)


@times_the_examples(4)
@given(odd_positions().filter(lambda position: position.placed and len(position.open) <= 36))
def test_one_move_later_on_any_board(position: Position) -> None:
    one, two = solver(position.board), solver(position.board)
    check_winner(one.engine, two.engine, position)
    check_plies(one, two, position)


# -- mirror images and names -----------------------------------------------------------------


def few_open(most: int) -> st.SearchStrategy[Position]:
    """Return positions of games and positions that no game leads to."""
    played = positions(min_placed=2).filter(lambda position: len(position.open) <= most)
    blocked = odd_positions().filter(lambda p: p.placed and len(p.open) <= most)
    return st.one_of(played, blocked)


@given(few_open(34))
def test_mirror_images_have_mirrored_answers(position: Position) -> None:
    board = position.board
    winner, winning, plies, _ = fresh_answer(position)
    assert winning is not None
    for symmetry in board.symmetries:
        found = solve(mirrored(position, symmetry), atlas=False, table_mb=1)
        assert (found.winner, found.plies) == (winner, plies)
        assert found.winning_moves is not None
        images = {board.name(symmetry[board.cell(move)]) for move in winning}
        assert set(found.winning_moves) == images


@given(few_open(34))
def test_the_board_can_be_held_the_other_way(position: Position) -> None:
    """Compare a position with its transpose, which on a rectangle is on another board."""
    board, turned = position.board, Board.of(position.board.height, position.board.width)

    def image(cell: int) -> int:
        return turned.at(board.column(cell), board.row(cell))

    assert position.white is not None
    assert position.black is not None
    there = Position(
        turned,
        frozenset(map(image, position.open)),
        image(position.white),
        image(position.black),
        position.to_move,
    )
    here, found = fresh_answer(position), fresh_answer(there)
    assert (found[0], found[2]) == (here[0], here[2])
    assert here[1] is not None
    assert found[1] is not None
    assert {image(board.cell(move)) for move in here[1]} == set(map(turned.cell, found[1]))


@given(few_open(34))
def test_names_of_players_are_only_names(position: Position) -> None:
    winner, *rest = fresh_answer(position)
    assert winner is not None
    assert fresh_answer(swapped(position)) == (other(winner), *rest)


# -- independence of answers -----------------------------------------------------------------


@cache
def samples() -> dict[Position, Answer]:
    """Return openings, placements and positions of games with their right answers."""
    rng = random.Random(5)
    found = [
        position
        for size, number in {(4, 4): 6, (5, 5): 10, (6, 6): 8}.items()
        for position in rng.sample(openings(Board.of(*size)), number)
    ]
    found += [
        position
        for size in ((7, 7), (5, 8), (8, 8))
        for position in random_positions(*size, 25, 11, min_placed=2)
        if len(position.open) <= 36
    ]
    found += [Position.from_fen(fen) for fen in ("4/4/1N2/4[n] b", "5/5/2N2/5/5[n] b")]
    return {position: fresh_answer(position) for position in found}


def test_the_samples_are_of_every_kind() -> None:
    answers = samples().values()
    assert {(winner, (plies or 0) % 2) for winner, _, plies, _ in answers} == {
        (winner, parity) for winner in "wb" for parity in (0, 1)
    }
    assert max(plies or 0 for _, _, plies, _ in answers) > 20
    assert sum(len(position.open) >= careful_from(position.board) for position in samples()) > 25


@some_and_all
@pytest.mark.parametrize(("table_mb", "threads"), [(1, 1), (64, 1), (1, 2), (64, 4)])
def test_no_answer_depends_on_table_or_threads(table_mb: int, threads: int, step: int) -> None:
    for position, expected in [*samples().items()][:: step if threads + table_mb > 2 else 1]:
        found = solve(position, atlas=False, table_mb=table_mb, threads=threads)
        assert answer(found) == expected, position.fen


@pytest.mark.parametrize("threads", [1, 4])
def test_no_answer_depends_on_a_table_that_is_always_full(threads: int) -> None:
    """Compare answers with a table of a few buckets, in which threads soon overwrite every entry,
    with the right ones.
    """
    for position, (winner, winning, plies, _) in [*samples().items()][::threads]:
        if position.placed:
            assert plies is not None
            upper = careful_from(position.board)
            asked = reshaped(position.board, threads=threads, buckets=2, upper=upper)
            assert asked.wins(position) == (winner == position.to_move), position.fen
            for move in position.legal_moves:
                assert asked.wins(position.play(move)) != (move in (winning or ())), position.fen
            for within in (plies - 2, plies - 1, plies, plies + 1):
                if within >= 0:
                    assert asked.ends_within(position, within) == ends(plies, within), position.fen


def test_what_is_known_without_a_search_is_true() -> None:
    board = Board.of(6, 6)
    asked, truth = engine(board), solver(board)
    every = random.Random(9).sample(openings(board), 30)
    assert {asked.known(position) for position in every} == {None}
    for position in every:
        wins = asked.wins(position)
        assert asked.known(position) in (None, wins)
    spent = asked.nodes
    after = [position.play(move) for position in every for move in position.legal_moves]
    known = {position: asked.known(position) for position in every + after}
    assert asked.nodes == spent
    told = {position: wins for position, wins in known.items() if wins is not None}
    assert {*told.values()} == {True, False}
    for position, wins in told.items():
        assert truth.wins(position) == wins, position.fen


@pytest.mark.parametrize("threads", [1, 3])
def test_no_answer_depends_on_what_was_asked_before(threads: int) -> None:
    """Compare the answers of a used engine, in another order, with those of a new one."""
    of_board: dict[Board, Solver] = {}
    asked = [*samples().items()][:: threads**2] * 2
    random.Random(threads).shuffle(asked)
    for position, (winner, _, plies, pv) in asked:
        board = position.board
        knows = of_board.setdefault(board, Solver(engine(board, threads=threads), use_atlas=False))
        assert knows.plies(position) == plies, position.fen
        assert knows.wins(position) == (winner == position.to_move), position.fen
        assert plies is not None
        assert knows.line(position, plies) == pv, position.fen


def test_a_length_that_is_known_is_not_searched_again() -> None:
    """Check that a question asked again needs hardly a node; only reflections are seen anew."""
    board = Board.of(6, 6)
    asked, first, again = engine(board), 0, 0
    for position in random_positions(6, 6, 20, 3, min_placed=2):
        if position.winner is None and len(position.open) >= careful_from(board):
            for within in (5, 8):
                before = asked.nodes
                told = asked.ends_within(position, within)
                between = asked.nodes
                assert asked.ends_within(position, within) == told
                first, again = first + between - before, again + asked.nodes - between
    assert again < first / 20
    assert first > 100


def test_one_thread_searches_the_same_nodes_every_time() -> None:
    for position, _ in zip(samples(), range(30), strict=False):
        one, two = (solve(position, atlas=False) for _ in range(2))
        assert one.nodes == two.nodes, position.fen


def test_a_player_keeps_an_engine_for_each_board() -> None:
    kept = KeptEngines()
    assert kept.on(Board.of(5, 5)) is kept.on(Board.of(5, 5))
    assert kept.on(Board.of(5, 5)).board == Board.of(5, 5)
    assert kept.on(Board.of(5, 6)) is not kept.on(Board.of(5, 5))
    assert KeptEngines().on(Board.of(5, 5)) is not kept.on(Board.of(5, 5))


# -- the atlas -------------------------------------------------------------------------------


def test_no_answer_depends_on_the_atlas() -> None:
    """Compare solutions with and without the atlas."""
    for size in ((3, 4), (4, 3), (4, 4), (5, 5), (5, 6), (6, 5), (6, 6)):
        for position in random.Random(2).sample(openings(Board.of(*size)), 5):
            for one in (position, swapped(position)):
                assert answer(solve(one)) == fresh_answer(one), one.fen


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Position]:
    """Replace the atlas by brute-force entries of 4×4; return a list that collects the positions
    looked up.
    """
    board = Board.of(4, 4)
    brute, openings_told = BruteForce(board), []

    def lookup(position: Position) -> Entry | None:
        if position.board != board or not position.placed or len(position.open) != 14:
            return None
        openings_told.append(position)
        winning = brute.winning_moves(position)
        return Entry(brute.plies(position), winning, (*winning, None)[0])

    monkeypatch.setattr(solve_module, "lookup", lookup)
    return openings_told


def test_an_atlas_saves_the_search_and_changes_nothing(told: list[Position]) -> None:
    for position in openings(Board.of(4, 4))[::7]:
        found = solve(position)
        assert found.from_atlas
        assert answer(found) == fresh_answer(position), position.fen
        quick = solve(position, distance=False)
        assert (quick.nodes, quick.plies, quick.at_least) == (0, None, 0)
        assert quick.winning_moves == found.winning_moves
    for fen in ("4/4/4/4[Nn] w", "4/1N2/4/4[n] b", "N3/4/4/4[n] b"):
        position = Position.from_fen(fen)
        found = solve(position)
        assert not found.from_atlas
        assert answer(found) == fresh_answer(position)
        assert solve(position, distance=False).nodes == 0
    asked = len(told)
    assert asked > 0
    assert not solve(openings(Board.of(4, 4))[0], atlas=False).from_atlas
    assert not solve(Position.from_fen("N3/4/4/2*n w")).from_atlas
    assert len(told) == asked


# -- limits ----------------------------------------------------------------------------------


def check_partial(found: Solution, expected: Answer, label: str) -> None:
    """Check that all known parts of a solution are right."""
    winner, winning_moves, plies, pv = expected
    assert plies is not None
    assert found.winner in (None, winner), label
    assert found.winning_moves in (None, winning_moves), label
    assert winning_moves is not None, label
    assert set(found.known_wins) <= set(winning_moves), label
    assert found.winning_moves is None or found.known_wins == winning_moves, label
    assert found.plies in (None, plies), label
    assert found.pv in ((), pv), label
    assert found.at_least <= plies, label
    if found.winner is None:
        assert (found.winning_moves, found.plies, found.pv) == (None, None, ()), label
    if found.plies is not None:
        assert found.at_least == plies, label
        assert found.winning_moves is not None, label


PLACEMENTS = ["3/3/3/3[Nn] w", "4/4/4/4[Nn] w", "3/N2/3/3/3[n] b", "5/5/2N2/5/5[n] b"]


@some_and_all
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["placed", "pocket"])
def test_a_node_limit_is_kept_and_nothing_false_is_told(kind: str, threads: int, step: int) -> None:
    """Check that all parts of a limited solution are right, and that its nodes exceed the limit by
    less than the number of threads.
    """
    if kind == "placed":
        every = (2 if threads == 1 else 6) if step == 1 else (4 if threads == 1 else 9)
        some = [*samples().items()][::every]
        cases = {p: known for p, known in some if p.placed}
    else:
        cases = {p: fresh_answer(p) for p in map(Position.from_fen, PLACEMENTS)}
    parts = range(1, 9, 1 if step == 1 else 2) if threads == 1 else (3, 7)
    seen = set()
    for position, expected in cases.items():
        full = solve(position, atlas=False, table_mb=1).nodes
        limits = {1, 2, 9 * full + 9, *(max(1, full * part // 8) for part in parts)}
        for nodes in limits:
            found = solve(position, atlas=False, table_mb=1, nodes=nodes, threads=threads)
            assert found.nodes <= nodes + threads - 1, (position.fen, nodes)
            check_partial(found, expected, f"{position.fen} {nodes}")
            seen.add((found.winner is None, found.winning_moves is None, found.plies is None))
        if threads == 1:
            enough = solve(position, atlas=False, table_mb=1, nodes=full + 1)
            assert answer(enough) == expected
            assert enough.nodes == full
    # Seen: no winner; a winner only; the winning moves, too; everything.
    assert {(True, True, True), (False, False, True), (False, False, False)} <= seen
    assert kind == "pocket" or (False, True, True) in seen


@pytest.mark.parametrize("seconds", [1e-9, 1e-5, 1e-4, 1e-3, 1e-2])
def test_a_time_limit_ends_with_nothing_or_with_the_truth(seconds: float) -> None:
    for position, expected in samples().items():
        found = solve(position, atlas=False, table_mb=1, seconds=seconds)
        check_partial(found, expected, position.fen)
        if seconds == 1e-9 and position.winner is None:
            assert found.winner is None or found.by_reflection
            assert found.nodes == 0


def test_a_time_limit_ends_what_would_take_minutes() -> None:
    """Check that solving the empty 7×9 board ends after a limit of a tenth of a second."""
    for threads in (1, 2):
        found = solve(Position.start(7, 9), atlas=False, seconds=0.1, threads=threads)
        assert answer(found) == (None, None, None, ())


@pytest.mark.parametrize("threads", [1, 3])
def test_an_engine_that_was_cut_short_has_learnt_nothing_false(threads: int) -> None:
    """Check that an engine that was stopped hundreds of times still gives right answers."""
    rng = random.Random(threads)
    for size in ((5, 5), (6, 6)):
        board = Board.of(*size)
        cut, truth = engine(board, threads=threads), solver(board)
        unanswered = 0
        for position in rng.sample(openings(board), 30 if threads == 1 else 3):
            plies = truth.plies(position)
            for _ in range(20):
                limits = Limits(nodes=rng.choice([1, 5, 30, 200, 1000, 5000]))
                within = rng.randint(0, plies + 3)
                try:
                    if rng.random() < 0.5:
                        assert cut.wins(position, limits) == (plies % 2 == 1)
                    else:
                        assert cut.ends_within(position, within, limits) == ends(plies, within)
                except OutOfBudget:
                    unanswered += 1
            assert cut.wins(position) == (plies % 2 == 1), position.fen
            for move in position.legal_moves:
                after = position.play(move)
                assert cut.wins(after) == truth.wins(after), after.fen
            for within in range(plies - 3, plies + 3):
                assert cut.ends_within(position, within) == ends(plies, within), position.fen
        assert unanswered > 10


def test_limits_are_spent_by_one_question_after_the_other() -> None:
    board = Board.of(5, 5)
    asked, limits = engine(board), Limits(nodes=5000)
    answered = 0
    for position in openings(board)[:100]:
        before = limits.nodes
        with suppress(OutOfBudget):
            asked.wins(position, limits)
            answered += 1
        assert limits.nodes == 5000 - asked.nodes <= before
    assert 0 < answered < 100
    assert asked.nodes == 5000


def test_a_question_that_needs_no_search_is_answered_within_any_limit() -> None:
    """Check three positions: the mover has no move; the waiter has none; the waiter's only target
    can be taken.
    """
    for fen, winner in {"Nn*/***/*** w": "b", "N**/*n1/*** w": "w", "N**/**1/n** w": "w"}.items():
        found = solve(Position.from_fen(fen), atlas=False, nodes=1)
        assert (found.winner, found.nodes) == (winner, 0), fen


@pytest.mark.parametrize("threads", [1, 2])
def test_stop_ends_what_would_take_long(threads: int) -> None:
    """Check that `stop` ends the solving of an 8×8 opening, which takes hundreds of millions of
    nodes.
    """
    position = Position.from_fen("8/8/2N5/8/8/4n3/8/8 w")
    asked = Engine(position.board, threads=threads)
    ended: list[str] = []

    def work() -> None:
        try:
            ended.append(f"answered {asked.ends_within(position, 33)}")
        except OutOfBudget:
            ended.append("stopped")

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while asked.nodes < 100_000 and worker.is_alive():
        worker.join(0.01)
    asked.stop()
    worker.join(60)
    assert ended == ["stopped"]
    spent = asked.nodes
    for asked_later in (position, Position.from_fen("N7/8/8/8/8/8/8/n7 b")):
        with pytest.raises(OutOfBudget):
            asked.wins(asked_later)
    assert asked.nodes == spent


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_solve_says_what_is_known_by_then(threads: int) -> None:
    heard: list[tuple[int, float, str]] = []

    def on_progress(progress: SolveProgress) -> None:
        heard.append((progress.nodes, progress.fill, progress.stage))
        if progress.nodes > 0:
            raise KeyboardInterrupt

    found = solve(Position.start(7, 9), atlas=False, threads=threads, progress=on_progress)
    assert answer(found) == (None, None, None, ())
    assert found.interrupted
    nodes, fill, stage = heard[-1]
    assert 0 < nodes <= found.nodes
    assert 0 < fill <= 1
    assert stage == "who wins"


def test_a_line_of_progress_has_every_figure_in_its_place() -> None:
    line = SolveProgress(
        360_000_000, 120.0, 0.25, "length", at_least=7, known_wins={"a1"}, winner="b"
    )
    assert str(line).split(" · ") == [
        "length",
        "the second player (n) wins",
        "not before ply 7",
        "360,000,000 nodes",
        "3 million a second",
        "table 25 % full",
        "2:00",
    ]


# -- errors ----------------------------------------------------------------------------------


def test_an_error_while_solving_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(solve_module, "_work", fail)
    with pytest.raises(MemoryError, match="no room"):
        solve(Position.start(3, 3), atlas=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 0}, "nodes=0 must be at least 1"),
        ({"nodes": -5}, "nodes=-5 must be at least 1"),
        ({"seconds": 0}, "seconds=0 must be more than 0 and less than 100000000"),
        ({"seconds": -0.5}, "seconds=-0.5 must be more than 0 and less than 100000000"),
        ({"seconds": math.inf}, "seconds=inf must be more than 0 and less than 100000000"),
        ({"seconds": math.nan}, "seconds=nan must be more than 0 and less than 100000000"),
        ({"threads": 0}, "threads=0 must be from 1 to 64"),
        ({"threads": 65}, "threads=65 must be from 1 to 64"),
        ({"table_mb": 0}, "a table of 0 MB is not accepted: give 1 to 16384 MB"),
        ({"table_mb": 16385}, "a table of 16385 MB is not accepted: give 1 to 16384 MB"),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KnightfallError, match=f"^{re.escape(message)}$"):
        solve(Position.from_fen("Nn2/4/4/4 w"), **options)


def test_an_engine_is_for_one_board_and_two_knights() -> None:
    asked = engine(Board.of(4, 5))
    for fen in ("5/5/5/3Nn w", "4/4/4/4/4[Nn] w", "4/4/4/4/3N[n] b"):
        for ask in (asked.wins, lambda position: asked.ends_within(position, 3)):
            with pytest.raises(KnightfallError, match=re.escape(repr(fen))):
                ask(Position.from_fen(fen))
