"""The rules, their consequences, and the FEN."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random

import pytest
from helpers import random_game, random_positions
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import odd_positions, positions

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position, other

OPENING = "7/7/1N5/7/7/4n2/7 w"
EMPTY = "7/7/7/7/7/7/7[Nn] w"


def refusal(fen: str) -> str:
    with pytest.raises(KnightfallError) as caught:
        Position.from_fen(fen)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


# -- the rules -------------------------------------------------------------------------------


def test_a_game_from_the_first_placement() -> None:
    position = Position.start()
    assert (position.fen, position.placed, position.hunter) == (EMPTY, False, None)
    assert len(position.legal_moves) == 49
    assert position.legal_moves[0] == "a7"

    position = position.play("d4")
    assert (position.fen, position.placed, position.hunter) == ("7/7/7/3N3/7/7/7[n] b", False, None)
    assert len(position.legal_moves) == 48
    assert "d4" not in position.legal_moves

    position = position.play("e2")
    assert position.fen == "7/7/7/3N3/7/4n2/7 w"
    assert position.legal_moves == ("c6", "e6", "b5", "f5", "b3", "f3", "c2")
    assert position.last == (None, position.board.cell("e2"))

    position = position.play("c6")
    assert position.fen == "7/2N4/7/3*3/7/4n2/7 b"
    assert position.last == (position.board.cell("d4"), position.board.cell("c6"))
    assert position.legal_moves == ("f4", "c3", "g3", "c1", "g1")
    assert Position.from_moves(["d4", "e2", "c6"]) == position


def test_the_opening_of_the_documentation() -> None:
    position = Position.from_fen(OPENING)
    board = position.board
    assert (position.white, position.black) == (board.at(2, 1), board.at(5, 4))
    assert position.to_move == "w"
    assert position == Position.from_moves(["b5", "e2"])
    assert len(position.open) == 47


@given(odd_positions())
def test_moves_are_open_cells_one_knight_step_away(position: Position) -> None:
    board = position.board
    start = position.knight(position.to_move)
    expected = {
        board.name(cell)
        for cell in position.open
        if start is None
        or {
            abs(board.row(cell) - board.row(start)),
            abs(board.column(cell) - board.column(start)),
        }
        == {1, 2}
    }
    assert len(position.legal_moves) == len(expected)
    assert set(position.legal_moves) == expected
    assert position.winner == (None if expected else other(position.to_move))
    for move in position.legal_moves:
        after = position.play(move)
        assert after.open == position.open - {board.cell(move)}
        assert after.knight(position.to_move) == board.cell(move)
        assert after.knight(other(position.to_move)) == position.knight(other(position.to_move))
        assert after.to_move == other(position.to_move)
        assert after.last == (start, board.cell(move))


@given(positions())
def test_what_is_not_legal_is_refused(position: Position) -> None:
    board = position.board
    for cell in range(board.cells):
        move = board.name(cell)
        if move not in position.legal_moves:
            with pytest.raises(KnightfallError, match=f"^'{move}' is not a legal move here; legal"):
                position.play(move)


def test_messages_of_refused_moves() -> None:
    position = Position.from_fen("3/3/N1n w")
    with pytest.raises(KnightfallError) as caught:
        position.play("b2")
    assert str(caught.value) == "'b2' is not a legal move here; legal moves: b3 c2"
    with pytest.raises(KnightfallError, match=r"^'d1' is not a cell of a 3×3 board: cells are a1"):
        position.play("d1")
    over = Position.from_fen("1*1/2*/N1n w")
    with pytest.raises(KnightfallError) as caught:
        over.play("b2")
    assert str(caught.value) == "'b2' is not a legal move here; legal moves: none: the game is over"


@pytest.mark.parametrize(
    ("fen", "winner"),
    [
        ("1*1/2*/N1n w", "b"),
        ("1*1/2*/N1n b", None),
        ("1*1/*2/N1n b", "w"),
        ("3/1N1/3[n] b", None),
        ("3/1N1/2n w", "b"),
    ],
)
def test_whoever_cannot_move_has_lost(fen: str, winner: str | None) -> None:
    assert Position.from_fen(fen).winner == winner


def test_perft() -> None:
    start = Position.start(3, 3)
    assert [start.perft(depth) for depth in range(3)] == [1, 9, 72]
    assert Position.from_fen("1*1/2*/N1n w").perft(1) == 0
    assert Position.from_fen("1*1/2*/N1n w").perft(5) == 0
    with pytest.raises(
        KnightfallError, match=r"^perft depth -1 is negative: it must be 0 or more$"
    ):
        start.perft(-1)


# -- facts about every game ------------------------------------------------------------------


@given(positions(min_placed=2))
def test_only_the_hunter_takes_an_escape_and_it_stays_the_hunter(position: Position) -> None:
    escapes = set(position.targets(other(position.to_move)))
    for cell in position.targets(position.to_move):
        after = position.play(position.board.name(cell))
        assert after.hunter == position.hunter
        if cell in escapes:
            assert position.to_move == position.hunter


@given(positions(min_placed=2))
def test_roles_follow_from_the_colours(position: Position) -> None:
    assert position.white is not None
    assert position.black is not None
    rows = position.board.row(position.white) - position.board.row(position.black)
    columns = position.board.column(position.white) - position.board.column(position.black)
    same_colour = (rows + columns) % 2 == 0
    first_hunts = same_colour == (position.to_move == "w")
    assert position.hunter == ("w" if first_hunts else "b")


def test_escapes_are_taken_in_real_games() -> None:
    """Check that the property above is not vacuous, and that both players can be hunters."""
    hunters = set()
    for position in random_positions(7, 7, 200, seed=1, min_placed=2):
        if set(position.targets("w")) & set(position.targets("b")):
            hunters.add(position.hunter)
    assert hunters == {"w", "b"}
    assert Position.from_fen("N1n/3/3 w").hunter == "w"
    assert Position.from_fen("Nn1/3/3 w").hunter == "b"


@pytest.mark.parametrize("size", [(3, 4), (4, 3), (4, 4), (6, 5), (6, 6), (7, 8), (8, 8), (3, 20)])
def test_reflection_wins_for_the_second_player_on_even_boards(size: tuple[int, int]) -> None:
    rng = random.Random(str(size))
    for _ in range(25):
        position = Position.start(*size)
        while position.legal_moves:
            position = position.play(rng.choice(position.legal_moves))
            assert position.last is not None
            # `play` raises if the answer is not legal.
            mirror = position.board.cells - 1 - position.last[1]
            position = position.play(position.board.name(mirror))
        assert position.winner == "b"


def test_games_end_and_somebody_wins() -> None:
    rng = random.Random(4)
    winners = [list(random_game(Position.start(), rng))[-1].winner for _ in range(50)]
    assert set(winners) == {"w", "b"}


# -- a position is a value -------------------------------------------------------------------


@given(positions())
def test_equality_and_hash_ignore_the_last_move(position: Position) -> None:
    forgot = dataclasses.replace(position, last=None)
    assert forgot == position
    assert hash(forgot) == hash(position)


def test_equality_sees_everything_else() -> None:
    different = [
        OPENING,
        "7/7/1N5/7/7/4n2/7 b",
        "7/7/1n5/7/7/4N2/7 w",
        "7/7/1N5/7/7/5n1/7 w",
        "7/7/N6/7/7/4n2/7 w",
        "7/7/1N5/7/7/4n2/6* w",
        "8/8/1N6/8/8/4n3/8 w",
        EMPTY,
    ]
    assert len({Position.from_fen(fen) for fen in different}) == len(different)


def test_two_roads_to_one_position() -> None:
    one = Position.from_moves(["a1", "g7", "b3", "e6", "d4", "g5", "c2", "f7"])
    two = Position.from_moves(["d4", "g7", "b3", "e6", "a1", "g5", "c2", "f7"])
    assert one == two
    assert len({one, two}) == 1


def test_a_position_cannot_be_changed() -> None:
    position = Position.from_fen(OPENING)
    with pytest.raises(dataclasses.FrozenInstanceError):
        position.white = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del position.black
    assert isinstance(position.open, frozenset)
    position.play("c3")
    assert position == Position.from_fen(OPENING)


@given(positions())
def test_pickles_and_copies_are_equal_and_remember_the_last_move(position: Position) -> None:
    for twin in (pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        assert twin == position
        assert twin.last == position.last
        assert twin.board is position.board


def test_printed_forms() -> None:
    position = Position.from_fen(OPENING)
    assert str(position) == OPENING
    assert repr(position) == f"Position.from_fen('{OPENING}')"
    assert eval(repr(position)) == position


# -- FEN -------------------------------------------------------------------------------------


@given(st.one_of(positions(), odd_positions()))
def test_fen_there_and_back(position: Position) -> None:
    assert Position.from_fen(position.fen) == position
    assert Position.from_fen(position.fen).fen == position.fen


@given(odd_positions())
def test_every_position_after_an_odd_one_has_a_fen_too(position: Position) -> None:
    for move in position.legal_moves:
        after = position.play(move)
        assert Position.from_fen(after.fen) == after


@pytest.mark.parametrize(
    "fen",
    [
        "10/10/2N7/10/6n3/10 w",
        "21/N20/20n b",
        "/".join(["3"] * 19 + ["*N*", "2n"]) + " w",
        "8/8/8/8/8/8/8/8[Nn] w",
        "*****/N*n**/***** b",
        "12/12/12/12/*N9n b",
    ],
)
def test_runs_and_sizes_are_read_and_printed(fen: str) -> None:
    assert Position.from_fen(fen).fen == fen


def test_a_ten_by_six_board() -> None:
    position = Position.from_fen("10/10/2N7/10/6n3/10 w")
    assert position.board is Board.of(10, 6)
    assert position.board.name(position.white or 0) == "c4"
    assert position.play("b6").fen == "1N8/10/2*7/10/6n3/10 b"


@pytest.mark.parametrize("tail", ["", " - - 0 1", " - -", " anything at all", "\n", " - - 12 7"])
def test_trailing_fields_are_ignored(tail: str) -> None:
    assert Position.from_fen(OPENING + tail) == Position.from_fen(OPENING)


def test_an_empty_pocket_and_either_order_are_read() -> None:
    assert Position.from_fen("7/7/1N5/7/7/4n2/7[] w - - 0 1").fen == OPENING
    assert Position.from_fen("7/7/7/7/7/7/7[nN] w").fen == EMPTY


@pytest.mark.parametrize(
    ("fen", "says"),
    [
        ("", "the FEN is empty; a FEN looks like '7/7/1N5/7/7/4n2/7 w'"),
        (" \n\t", "the FEN is empty"),
        ("7/7/1N5/7/7/4n2/7", "has no side to move: add w or b"),
        ("7/7/1N5/7/7/4n2/7 W", "side to move 'W' must be w or b"),
        ("7/7/1N5/7/7/4n2/7 -", "side to move '-' must be w or b"),
        ("7/7/1N5/7/7/4n3/7 w", "row 6 has 8 cells, row 1 has 7"),
        ("7/7/1N5/7/7/4n2/ w", "row 7 has 0 cells, row 1 has 7"),
        ("7/7//1N5/7/4n2/7 w", "row 3 has 0 cells, row 1 has 7"),
        ("7/7/1N5/7/7/4nn1/7 w", "has 2 knights 'n': exactly one is needed"),
        ("7/7/1N5/7/7/4n2/6N w", "has 2 knights 'N': exactly one is needed"),
        ("7/7/1N5/7/7/4n2/7[n] w", "has 2 knights 'n': exactly one is needed"),
        ("7/7/7/7/7/7/7[NNn] w", "has 2 knights 'N': exactly one is needed"),
        ("7/7/7/7/7/4n2/7 w", "has 0 knights 'N': exactly one is needed, on the board or in the"),
        ("7/7/1N5/7/7/7/7 b", "has 0 knights 'n': exactly one is needed, on the board or in the"),
        ("7/7/7/7/7/7/7 w", "has 0 knights 'N'"),
        ("7/7/1N5/7/7/4q2/7 w", "unknown letter 'q'; rows hold digits (open cells), * (blocked)"),
        ("7/7/1N5/7/7/4n²/7 w", "unknown letter '²'"),
        ("7/7/1N5/7/7/4n٢/7 w", "unknown letter '٢'"),
        ("7/7/1N5/7/7/4n.1/7 w", "unknown letter '.'"),
        ("13/13/13/13/13[Nn] w", "a 13×5 board has 65 cells: at most 64 are supported"),
        ("/".join(["5"] * 13) + "[Nn] w", "a 5×13 board has 65 cells: at most 64 are supported"),
        ("1N/1n/2 w", "a 2×3 board is too small: each side must be at least 3"),
        ("1N1/1n1 w", "a 3×2 board is too small: each side must be at least 3"),
        ("[Nn] w", "a 0×1 board is too small"),
        ("7/7/7/7/7/7/7[Nnq] w", "pocket holds 'q'; only N and n are knights"),
        ("7/7/7/7/7/7/7[N,n] w", "pocket holds ','; only N and n are knights"),
        ("7/7/7/7/7/7/7[Nn w", "the pocket must be one [..] after the rows"),
        ("7/7/7/7/7/7/7Nn] w", "the pocket must be one [..] after the rows"),
        ("[Nn]7/7/7/7/7/7/7 w", "the pocket must be one [..] after the rows"),
        ("7/7/7/7/7/7/7[N][n] w", "the pocket must be one [..] after the rows"),
        ("7/7/7/7/7/7/7[Nn] b", "with pocket [Nn] it is w's turn to place, not b's"),
        ("7/7/7/3N3/7/7/7[n] w", "with pocket [n] it is b's turn to place, not w's"),
        ("7/7/7/3n3/7/7/7[N] w", "the first player (N) places its knight before n does"),
        ("7/7/7/3n3/7/7/7[N] b", "the first player (N) places its knight before n does"),
        ("***/*N*/***[n] b", "too few open cells (0) to place the pocket [n] on"),
        ("***/*1*/***[Nn] w", "too few open cells (1) to place the pocket [Nn] on"),
        ("7/7/1N5/7/7/4n2/70 w", "a run of 70 open cells is not from 1 to 64"),
        ("0/7/1N5/7/7/4n2/7 w", "a run of 0 open cells is not from 1 to 64"),
        ("7/7/01N5/7/7/4n2/7 w", "a run of 01 open cells is not from 1 to 64"),
        ("7/7/1N05/7/7/4n2/7 w", "a run of 05 open cells is not from 1 to 64"),
        ("65/7/7 w", "a run of 65 open cells is not from 1 to 64"),
        ("9999999999999999999999999/7/7 w", "a run of 9999999999999999999999999 open cells"),
    ],
)
def test_impossible_fens_are_refused_by_name(fen: str, says: str) -> None:
    message = refusal(fen)
    assert says in message
    # The error quotes the whole FEN, or the wrong part of it, such as a size.
    assert repr(fen) in message or "FEN is empty" in message or " board " in message


def accepted_or_refused(fen: str) -> None:
    """Check that a text gives a position that can be printed and read back, or a one-line error."""
    try:
        position = Position.from_fen(fen)
    except KnightfallError as error:
        message = str(error)
    else:
        message = "accepted"
        assert Position.from_fen(position.fen) == position
    assert len(message.splitlines()) == 1


@given(st.text())
@example("9" * 5000 + "/7/7 w")  # more digits than int() accepts
@example("N\u2028n\n w")
@example("\x00 w")
def test_any_text(fen: str) -> None:
    accepted_or_refused(fen)


@given(st.text(alphabet="Nn*0123456789/[] wb-"))
def test_any_text_that_looks_like_a_fen(fen: str) -> None:
    accepted_or_refused(fen)


@given(st.data(), odd_positions())
def test_a_fen_with_one_slip_of_the_pen(data: st.DataObject, position: Position) -> None:
    fen = position.fen
    cut = data.draw(st.integers(0, len(fen)))
    dropped = data.draw(st.integers(0, 2))
    typed = data.draw(st.text(alphabet="Nn*0123456789/[] wb-", max_size=2))
    accepted_or_refused(fen[:cut] + typed + fen[cut + dropped :])
