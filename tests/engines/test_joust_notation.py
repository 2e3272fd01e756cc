"""Moves in the notation of UCI engines, compared with Fairy-Stockfish's own library."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from helpers import at_length, random_game
from referee import SIZES, after, legal, pyffish

from knightfall.board import Board
from knightfall.engines.joust import (
    STANDARD,
    destination,
    uci_line,
    uci_move,
    variant_of,
    variants,
)
from knightfall.errors import KnightfallError
from knightfall.position import Position


@pytest.mark.parametrize(("size", "games"), [*((size, 3) for size in SIZES), at_length((7, 7), 40)])
def test_moves_are_those_of_fairy_stockfish(size: tuple[int, int], games: int) -> None:
    rng = random.Random(games)
    for _ in range(games):
        game = list(random_game(Position.start(*size), rng))
        opening, played = game[2], list[str]()
        for before, position in pairwise(game[2:]):
            ours = [uci_move(before, move) for move in before.legal_moves]
            assert sorted(ours) == sorted(legal(opening, played))
            assert [destination(before, move) for move in ours] == list(before.legal_moves)
            assert position.last is not None
            played.append(uci_move(before, position.board.name(position.last[1])))
            assert after(opening, played) == position
        assert legal(opening, played) == []


def test_placements_are_those_of_fairy_stockfish_without_its_wall() -> None:
    start = Position.start(7, 7)
    theirs = legal(start)
    assert len(theirs) == 49
    assert {destination(start, move) for move in theirs} == set(start.legal_moves)
    assert {move.partition(",")[0] for move in theirs} == {
        uci_move(start, move) for move in start.legal_moves
    }


@pytest.mark.parametrize(
    "text",
    [
        "b5d4,b5d4",
        "b5d4,d4b6",
        "b5d4,",
        "b5b6,b6b5",
        "d4",
        "N@d4",
        "b6d4",
        "",
        "0000",
        "b5d4 ",
        "b5d9",
    ],
)
def test_other_moves_are_refused(text: str) -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    assert destination(position, "b5d4") == destination(position, "b5d4,d4b5") == "d4"
    with pytest.raises(KnightfallError, match="is not a legal move here; one is b5"):
        destination(position, text)


def test_a_knight_in_hand_can_only_be_placed() -> None:
    start = Position.start(7, 7)
    assert destination(start, "N@d4") == "d4"
    for text in ("b5d4", "N@h8", "n@d4"):
        with pytest.raises(KnightfallError, match="N@"):
            destination(start, text)


def test_a_line_ends_where_it_is_no_longer_legal() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    assert uci_line(position, ("d4", "c1", "d4")) == "b5d4,d4b5 e2c1,c1e2"


def test_there_is_a_variant_for_each_board() -> None:
    assert variants()[STANDARD] == Position.from_fen(pyffish().start_fen("joust"))
    sizes = [(w, h) for w in range(3, 22) for h in range(3, 22) if w * h <= 64]
    assert len(variants()) == len(sizes) + 1
    for width, height in sizes:
        assert variants()[variant_of(Board.of(width, height))] == Position.start(width, height)
    for width, height in SIZES:
        name = variant_of(Board.of(width, height))
        assert Position.from_fen(pyffish().start_fen(name)) == variants()[name]
