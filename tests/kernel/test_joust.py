"""The rules compared with `pyffish`, where the same game is the variant Joust.

Two things differ and are translated here.  A move is written with its origin and the wall it leaves
(``b5c7,c7b5``); only the destination is kept.  And pyffish's wall rule also puts a wall on the
board when a knight is *dropped*, so that placement is compared with a copy of the variant without
walls, which is the same game until the first move.
"""

from __future__ import annotations

import random
import re
from importlib import import_module
from typing import Any

import pytest
from helpers import at_length, random_game, random_positions

from knightfall.kernel.rules import perft_of
from knightfall.position import Position

# Width, height, and how many positions to compare.
SIZES = [(7, 7, 80), (8, 8, 80), (10, 6, 40), (3, 10, 40)]

pyffish: Any = None


@pytest.fixture(autouse=True, scope="module")
def _referee() -> None:
    """Load pyffish when it is first used: its tables take a hundred megabytes."""
    global pyffish
    pyffish = import_module("pyffish")
    for width, height, _ in SIZES:
        rows = "/".join([str(width)] * height)
        pyffish.load_variant_config(f"""
[joust{width}x{height}:joust]
maxFile = {width}
maxRank = {height}
startFen = {rows}[Nn] w - - 0 1
pieceDrops = true
mustDrop = true

[place{width}x{height}:joust{width}x{height}]
wallingRule = none
""")


def joust(position: Position) -> tuple[str, str]:
    """Return the variant's name and pyffish's FEN of a position."""
    board = position.board
    game = "joust" if position.placed else "place"
    return f"{game}{board.width}x{board.height}", f"{position.fen} - - 0 1"


def destination(move: str) -> str:
    """Return the destination of ``N@d4``, ``b5c7`` or ``b5c7,c7b5``."""
    match = re.fullmatch(r"(?:N@|[a-z][0-9]+)([a-z][0-9]+)", move.split(",")[0])
    assert match, move
    return match[1]


def joust_perft(variant: str, fen: str, depth: int, played: list[str]) -> int:
    moves = pyffish.legal_moves(variant, fen, played)
    if depth == 1:
        return len(moves)
    return sum(joust_perft(variant, fen, depth - 1, [*played, move]) for move in moves)


each_size = pytest.mark.parametrize(
    ("width", "height", "how_many"), [*SIZES, at_length(7, 7, 400), at_length(8, 8, 400)]
)


@each_size
def test_legal_moves_and_fens_agree(width: int, height: int, how_many: int) -> None:
    rng = random.Random(1)
    start = Position.start(width, height)
    half_placed = [start.play(rng.choice(start.legal_moves)) for _ in range(how_many // 10)]
    sample = [start, *half_placed, *random_positions(width, height, how_many, seed=1)]
    assert {position.winner is None for position in sample} == {True, False}
    for position in sample:
        variant, fen = joust(position)
        assert pyffish.validate_fen(fen, variant) == pyffish.FEN_OK
        assert Position.from_fen(pyffish.get_fen(variant, fen, [])) == position
        theirs = {destination(move): move for move in pyffish.legal_moves(variant, fen, [])}
        assert theirs.keys() == set(position.legal_moves)
        if theirs:
            cell, move = rng.choice(list(theirs.items()))
            after = pyffish.get_fen(variant, fen, [move])
            assert Position.from_fen(after) == position.play(cell)


@each_size
def test_whole_games_agree(width: int, height: int, how_many: int) -> None:
    """Compare the ends of whole games; pyffish gets the opening and the moves, and makes the
    positions itself.
    """
    rng = random.Random(2)
    for _ in range(how_many // 20):
        game = list(random_game(Position.start(width, height), rng))
        variant, fen = joust(game[2])
        played: list[str] = []
        for position in game[3:]:
            assert position.last is not None
            start, end = (position.board.name(cell) for cell in position.last if cell is not None)
            played.append(f"{start}{end},{end}{start}")
        assert Position.from_fen(pyffish.get_fen(variant, fen, played)) == game[-1]
        # The value is the mover's, who has no move: lost.
        assert pyffish.legal_moves(variant, fen, played) == []
        assert pyffish.game_result(variant, fen, played) == -pyffish.VALUE_MATE
        assert game[-1].winner not in (None, game[-1].to_move)


@each_size
def test_perft_agrees_three_ways(width: int, height: int, how_many: int) -> None:
    for position in random_positions(width, height, how_many // 10, seed=3, min_placed=2):
        lines = joust_perft(*joust(position), 3, [])
        assert position.perft(3) == perft_of(position, 3) == lines


def test_perft_of_the_placement_agrees_three_ways() -> None:
    """Compare perft of the two placements by three programs; deeper ones would need the wall rule
    of moves.
    """
    start = Position.start(7, 7)
    lines = joust_perft(*joust(start), 2, [])
    assert start.perft(2) == perft_of(start, 2) == lines == 49 * 48


def test_the_built_in_variant_needs_no_configuration() -> None:
    fen = pyffish.start_fen("joust")
    position = Position.from_fen(fen)
    assert position.fen == "8/8/8/4n3/3N4/8/8/8 w"
    for _ in range(12):
        move = pyffish.legal_moves("joust", fen, [])[0]
        fen = pyffish.get_fen("joust", fen, [move])
        position = position.play(destination(move))
        assert Position.from_fen(fen) == position
