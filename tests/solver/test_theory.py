"""The four facts of `docs/theory.md`: roles, reflection, separation, exact keys.

Each fact is tested with played games, and the solver is compared with each fact.  Separation in the
searches is tested in `test_separation.py`.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from helpers import EVERY_BOARD, at_length, random_game, random_positions, times_the_examples
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import knight_moves
from naive_search import longest_walk, roamed, swapped
from naive_solver import BruteForce, openings, plies_to_end
from solver_helpers import Proofs
from strategies import odd_positions, positions

from knightfall.board import Board
from knightfall.kernel.rules import bitset, words
from knightfall.position import Position, Side, other
from knightfall.solver import proof_table
from knightfall.solver.engine import Engine
from knightfall.solver.reflection import loses_by_reflection, mirror_move
from knightfall.solver.solve import Solver, solve

# -- 1: roles --------------------------------------------------------------------------------


def colour(board: Board, cell: int) -> int:
    row, column = divmod(cell, board.width)
    return (row + column) % 2


def placed_hunter(position: Position) -> Side:
    """Return the hunter by the two placements: the first player if the colours are the same."""
    assert position.white is not None
    assert position.black is not None
    board = position.board
    same = colour(board, position.white) == colour(board, position.black)
    return "w" if same else "b"


def takers(game: list[Position]) -> Counter[Side]:
    """Return how often each side took a cell that its opponent could have gone to next."""
    taken: Counter[Side] = Counter()
    for before, after in pairwise(game):
        mover = before.to_move
        cell = after.knight(mover)
        enemy = before.knight(other(mover))
        assert cell is not None
        assert enemy is not None
        taken[mover] += cell in knight_moves(before.board, enemy)
    return taken


@given(size=st.sampled_from(EVERY_BOARD), rng=st.randoms(use_true_random=False))
def test_the_placement_decides_who_hunts_for_the_whole_game(
    size: Board, rng: random.Random
) -> None:
    game = list(random_game(Position.start(size.width, size.height), rng))[2:]
    hunter = placed_hunter(game[0])
    assert takers(game)[other(hunter)] == 0
    assert {position.hunter for position in game} == {hunter}


def test_hunters_do_take_escapes_whoever_they_are() -> None:
    """Check that both players take escapes in games, so that the test above is not vacuous."""
    rng = random.Random(3)
    taken: Counter[Side] = Counter()
    for _ in range(200):
        taken += takers(list(random_game(Position.start(), rng))[2:])
    assert min(taken["w"], taken["b"]) > 100


def test_no_line_of_a_small_board_lets_the_runner_take_an_escape() -> None:
    """Check that only the hunter can take an escape, in every position of 3×4 that follows from an
    opening.
    """
    seen: set[tuple[Position, Side]] = set()
    waiting = [(position, placed_hunter(position)) for position in openings(Board.of(3, 4))]
    taken: Counter[Side] = Counter()
    while waiting:
        position, hunter = waiting.pop()
        escapes = set(position.targets(other(position.to_move)))
        for move in position.legal_moves:
            if position.board.cell(move) in escapes:
                assert position.to_move == hunter
                taken[hunter] += 1
            after = position.play(move), hunter
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert min(taken["w"], taken["b"]) > 100


# -- 2: reflection ---------------------------------------------------------------------------

EVEN = [
    (width, height)
    for width in range(3, 9)
    for height in range(3, 9)
    if width % 2 == 0 or height % 2 == 0
]
"""Every board up to 8×8 with a side of even length."""


def reflection(position: Position) -> str:
    """Return the point reflection of the last move."""
    assert position.last is not None
    board = position.board
    row, column = divmod(position.last[1], board.width)
    return board.name(board.at(board.height - 1 - row, board.width - 1 - column))


def is_mirrored(position: Position) -> bool:
    """Return whether the position is its own point reflection."""
    last = position.board.cells - 1
    opposite = None if position.white is None else last - position.white
    return position.black == opposite and position.open == {last - cell for cell in position.open}


@pytest.mark.parametrize("size", EVEN)
def test_whoever_reflects_is_never_stuck_first(size: tuple[int, int]) -> None:
    rng = random.Random(str(size))
    for _ in range(20):
        position = Position.start(*size)
        while position.legal_moves:
            assert is_mirrored(position)
            position = position.play(rng.choice(position.legal_moves))
            position = position.play(reflection(position))  # raises if it is not legal
        assert position.winner == "b"


@pytest.mark.parametrize("size", [(3, 4), (4, 3), (4, 4), (3, 6), (6, 3), (4, 5), (5, 4)])
def test_reflection_wins_whatever_the_first_player_tries(size: tuple[int, int]) -> None:
    """Check that reflection wins against every line of the first player, from the empty board to
    the end.
    """
    ends = 0
    waiting, seen = [Position.start(*size)], set()
    while waiting:
        position = waiting.pop()
        if not position.legal_moves:
            assert position.winner == "b"
            ends += 1
        for move in position.legal_moves:
            after = position.play(move)
            after = after.play(reflection(after))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert ends > 10


@pytest.mark.parametrize(
    "size", [(3, 4), (4, 3), (4, 4), (3, 6), (6, 3), at_length((4, 5)), at_length((5, 4))]
)
def test_what_reflection_says_of_a_small_board_is_so(size: tuple[int, int]) -> None:
    """Compare the winner by reflection with brute force, from the empty board and after each first
    placement.
    """
    brute, start = BruteForce(Board.of(*size)), Position.start(*size)
    assert brute.plies(start) % 2 == 0
    assert loses_by_reflection(start)
    assert mirror_move(start) is None
    for move in start.legal_moves:
        placed = start.play(move)
        answer = mirror_move(placed)
        assert answer == reflection(placed)
        assert answer in brute.winning_moves(placed)
        assert not loses_by_reflection(placed)


@given(odd_positions(few=6))
def test_reflection_never_promises_too_much(position: Position) -> None:
    """Compare results by reflection with brute force, in any position a FEN can express."""
    last = position.board.cells - 1
    white = position.white
    taken = {cell for cell in (white, position.black) if cell is not None}
    both = frozenset(
        cell
        for cell in {*position.open, *(last - cell for cell in position.open)}
        if not {cell, last - cell} & taken
    )
    opposite = [replace(position, open=both)]
    if white is not None and 2 * white != last:
        open = both - {white, last - white}
        opposite.append(replace(position, open=open, black=last - white))
    for one in (position, *opposite):
        brute = BruteForce(one.board)
        if loses_by_reflection(one):
            assert brute.plies(one) % 2 == 0, one.fen
        answer = mirror_move(one)
        assert answer is None or answer in brute.winning_moves(one), one.fen
        centre = last // 2 if last % 2 == 0 else None
        assert loses_by_reflection(one) == (is_mirrored(one) and centre not in one.open), one.fen


@pytest.mark.parametrize("size", [size for size in EVEN if size[0] * size[1] > 20])
def test_the_solver_uses_it_on_every_board(size: tuple[int, int]) -> None:
    """Check that the solver knows the winner from the empty board and after any first placement
    without a search.
    """
    start = Position.start(*size)
    solver = Solver(Engine(start.board, table_mb=1), use_atlas=False)
    assert not solver.wins(start)
    assert solver.winning_moves(start) == ()
    assert all(solver.wins(start.play(move)) for move in start.legal_moves)
    assert solver.engine.nodes == 0
    for position in (start, start.play("a1")):
        found = solve(position, atlas=False, nodes=1, table_mb=1)
        assert (found.winner, found.by_reflection) == ("b", True)
        assert found.known_wins == tuple(filter(None, [mirror_move(position)]))
        assert found.plies is None


@pytest.mark.parametrize("size", [(3, 3), (3, 5), (5, 5), (5, 7), (7, 7), (7, 9)])
def test_it_says_nothing_of_boards_with_odd_sides(size: tuple[int, int]) -> None:
    start = Position.start(*size)
    for position in (start, *map(start.play, start.legal_moves)):
        assert not loses_by_reflection(position)
        assert mirror_move(position) is None
    # If the centre is not open, it does.
    assert loses_by_reflection(replace(start, open=start.open - {start.board.cells // 2}))


@cache
def engine_of(board: Board) -> Engine:
    return Engine(board)


@given(
    size=st.sampled_from([(5, 8), (6, 7), (7, 6), (7, 8), (8, 8)]),
    rng=st.randoms(use_true_random=False),
)
def test_the_solver_knows_that_who_moves_in_a_mirrored_position_loses(
    size: tuple[int, int], rng: random.Random
) -> None:
    """Check on boards too large for brute force that the mover loses a point-symmetric position,
    and that the reflected move wins.
    """
    position = Position.start(*size)
    until = rng.randint(20, 38)
    while position.legal_moves and len(position.open) > until:
        position = position.play(rng.choice(position.legal_moves))
        position = position.play(reflection(position))
    assume(len(position.open) <= 40)
    assert is_mirrored(position)
    assert not engine_of(position.board).wins(position), position.fen
    for move in position.legal_moves:
        after = position.play(move)
        found = solve(after, distance=False, atlas=False, table_mb=1)
        assert found.winning_moves is not None
        assert reflection(after) in found.winning_moves


def test_reflection_fails_in_the_centre_of_an_odd_board() -> None:
    """Check that on odd boards the centre is the only placement that cannot be mirrored."""
    for size in ((3, 3), (5, 5), (7, 7), (5, 7)):
        start = Position.start(*size)
        for move in start.legal_moves:
            placed = start.play(move)
            centre = placed.board.cells // 2
            assert (reflection(placed) in placed.legal_moves) == (placed.white != centre)


# -- 3: separation ---------------------------------------------------------------------------


def two_worlds(board: Board, wall: int, most: int, rng: random.Random) -> Position:
    """Return a position with two blocked columns between the knights, too wide to jump."""
    left = [cell for cell in range(board.cells) if cell % board.width < wall]
    right = [cell for cell in range(board.cells) if cell % board.width > wall + 1]
    white, *mine = rng.sample(left, min(len(left), rng.randint(5, most)))
    black, *theirs = rng.sample(right, min(len(right), rng.randint(5, most)))
    return Position(board, frozenset(mine + theirs), white, black, rng.choice(["w", "b"]))


@pytest.mark.parametrize(("size", "wall"), [((8, 8), 3), ((8, 6), 3), ((9, 7), 3), ((16, 4), 7)])
def test_the_solver_finds_what_two_lone_walks_decide(size: tuple[int, int], wall: int) -> None:
    """Check that after separation the longer path wins and the loser walks its whole path."""
    board = Board.of(*size)
    solver = Solver(Engine(board), use_atlas=False)
    rng = random.Random(str(size))
    lengths = set()
    for _ in range(60):
        position = two_worlds(board, wall, 22, rng)
        assert position.white is not None
        assert position.black is not None
        worlds = [roamed(board, position.open, cell) for cell in (position.white, position.black)]
        assert not worlds[0] & worlds[1]
        white = longest_walk(board, worlds[0], position.white)
        black = longest_walk(board, worlds[1], position.black)
        mine, theirs = (white, black) if position.to_move == "w" else (black, white)
        plies = 2 * theirs + 1 if mine > theirs else 2 * mine
        assert solver.wins(position) == (mine > theirs), position.fen
        assert solver.plies(position) == plies, position.fen
        lengths.add(plies)
    assert max(lengths) > 12


@times_the_examples(3)
@given(odd_positions(few=14).filter(lambda position: position.placed))
def test_no_game_outlasts_the_two_walks(position: Position) -> None:
    """Check that the loser makes at most min(2·o, 2·s+1) moves, where s and o count the cells of
    its start's colour and of the other colour that it can reach.
    """
    board = position.board
    plies = plies_to_end(position)
    loser = position.to_move if plies % 2 == 0 else other(position.to_move)
    start = position.knight(loser)
    assert start is not None
    reached = roamed(board, position.open, start)
    own = sum(colour(board, cell) == colour(board, start) for cell in reached)
    assert plies // 2 <= min(2 * (len(reached) - own), 2 * own + 1)


# -- 4: exact keys ---------------------------------------------------------------------------


def packed(position: Position) -> int:
    """Return the open cells and the two knights' cells, six bits each, in one integer."""
    assert position.white is not None
    assert position.black is not None
    mover, waiter = position.white, position.black
    if position.to_move == "b":
        mover, waiter = waiter, mover
    cells = position.board.cells
    return bitset(position.open) | mover << cells | waiter << cells + 6


def unpacked(board: Board, key: int) -> Position:
    cells = board.cells
    open = frozenset(cell for cell in range(cells) if key >> cell & 1)
    return Position(board, open, key >> cells & 63, key >> cells + 6, "w")


def of_the_first(position: Position) -> Position:
    """Return the same position with the side to move as first player, because keys do not name
    players.
    """
    if position.to_move == "w":
        return position
    return Position(position.board, position.open, position.black, position.white, "w")


@given(st.one_of(positions(min_placed=2), odd_positions().filter(lambda p: p.placed)))
def test_a_position_of_up_to_49_cells_fits_61_bits(position: Position) -> None:
    """Check that keys can be decoded, so that no two positions share one."""
    assume(position.board.cells <= 49)
    key = packed(position)
    assert 0 <= key < 1 << 61
    assert unpacked(position.board, key) == of_the_first(position)


def out_of_reach(position: Position) -> frozenset[int]:
    """Return the open cells that neither knight can ever reach."""
    assert position.white is not None
    assert position.black is not None
    board, open = position.board, position.open
    return open - roamed(board, open, position.white) - roamed(board, open, position.black)


def without(position: Position, cells: frozenset[int]) -> Position:
    return Position(
        position.board, position.open - cells, position.white, position.black, position.to_move
    )


def test_cells_out_of_reach_do_not_count() -> None:
    """Check, by brute force and by the solver, that blocking unreachable cells does not change a
    game's length.
    """
    merged = 0
    for size in ((4, 4), (5, 5), (7, 7), (3, 9), (8, 8)):
        brute = BruteForce(Board.of(*size))
        engine = Solver(Engine(brute.board), use_atlas=False)
        for position in random_positions(*size, 150, 21, min_placed=2):
            lost = out_of_reach(position)
            if lost and len(position.open) <= 30:
                bare = without(position, lost)
                if len(bare.open) <= 14:
                    assert brute.plies(bare) == brute.plies(position)
                    assert engine.plies(bare) == brute.plies(bare)
                assert engine.plies(bare) == engine.plies(position), position.fen
                merged += 1
    assert merged > 100


@cache
def every_position_of_3x4() -> frozenset[Position]:
    """Return all positions of all games on 3×4, from any opening."""
    found: set[Position] = set()
    waiting = openings(Board.of(3, 4))
    while waiting:
        position = waiting.pop()
        if position not in found:
            found.add(position)
            waiting += [position.play(move) for move in position.legal_moves]
    return frozenset(found)


def test_dropping_them_merges_positions_and_never_two_of_different_value() -> None:
    """Check on 3×4 that positions which differ only in unreachable cells have the same value, and
    that a fifth of the keys is saved by ignoring these cells.
    """
    brute = BruteForce(Board.of(3, 4))
    every = every_position_of_3x4()
    values: dict[int, set[int]] = {}
    for position in every:
        key = packed(without(position, out_of_reach(position)))
        values.setdefault(key, set()).add(brute.plies(position))
    assert all(len(found) == 1 for found in values.values())
    assert len(values) < len({packed(position) for position in every}) * 0.8


@pytest.mark.parametrize("buckets", [1, 64, 4096])
def test_the_table_never_takes_one_position_for_another(buckets: int) -> None:
    """Check that the stored length of every unfinished position of 3×4 is read back."""
    brute, table = BruteForce(Board.of(3, 4)), Proofs(buckets)
    every = [position for position in every_position_of_3x4() if position.legal_moves]
    random.Random(buckets).shuffle(every)
    for position in every:
        table.store(words(position), proof_table.with_answer(0, brute.plies(position), True))
    probed = [(brute.plies(one), table.probe(words(one))) for one in every]
    kept = [(plies, known) for plies, known in probed if known]
    assert all(plies == proof_table.within(known) for plies, known in kept)
    assert len(kept) >= min(buckets * proof_table.BUCKET, len(every) // 2)


@given(odd_positions().filter(lambda position: position.placed and len(position.open) > 1))
def test_a_position_is_not_what_differs_from_it_in_one_cell(position: Position) -> None:
    table = Proofs(1)
    table.store(words(position), proof_table.with_answer(0, 5, True))

    def stored(one: Position) -> bool:
        return table.probe(words(one)) != 0

    assert stored(position)
    assert stored(swapped(position))
    standing = {position.white, position.black}
    for cell in set(range(position.board.cells)) - standing:
        assert not stored(replace(position, open=position.open ^ {cell}))
    assert not stored(replace(position, to_move=other(position.to_move)))
    for cell in position.open:
        assert not stored(replace(position, white=cell))
        assert not stored(replace(position, black=cell))
