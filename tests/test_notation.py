"""Games as text: every written form is read back, and other text is refused."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest
from helpers import random_game
from hypothesis import given
from hypothesis import strategies as st

from knightfall.errors import KnightfallError
from knightfall.notation import NO_MOVES, RESIGNED, Scoresheet, looks_like_a_game, read_game
from knightfall.position import Position, other

SMALL = "4/4/4/4[Nn] w"
MOVES = ("a2", "c3", "b4")


def some_game(seed: int, length: int | None = None) -> tuple[list[Position], list[str]]:
    """Return a random game from a random position, cut after a number of moves."""
    rng = random.Random(seed)
    line = list(random_game(Position.start(5, 4), rng))
    line = line[rng.randrange(3) :][: None if length is None else length + 1]
    return line, [p.board.name(p.last[1]) for p in line[1:] if p.last]


def by_hand(text: str) -> dict[str, str]:
    """Return the tags of a text, parsed without `read_game`."""
    found = re.findall(r'^\[(\w+) "(.*)"\]$', text, re.MULTILINE)
    return {name: value.replace('\\"', '"').replace("\\\\", "\\") for name, value in found}


@pytest.mark.parametrize(
    "write",
    [
        lambda sheet: sheet.to_text(),
        lambda sheet: json.dumps(sheet.to_dict()),
        lambda sheet: f"{sheet.start.fen} {' '.join(sheet.moves)}",
    ],
    ids=["text", "json", "moves"],
)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_written_is_read_back(write: Callable[[Scoresheet], str], seed: int) -> None:
    line, moves = some_game(seed)
    sheet = Scoresheet.played(line[0], moves)
    assert (sheet.winner, sheet.reason) == (line[-1].winner, NO_MOVES)
    again = read_game(write(sheet))
    assert [p.fen for p in again.positions] == [p.fen for p in line]
    assert (again.moves, again.winner, again.reason) == (tuple(moves), sheet.winner, sheet.reason)


@given(st.integers(0, 99), st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
def test_tags_survive_whatever_they_hold(seed: int, name: str) -> None:
    line, moves = some_game(seed, 3)
    loser = line[-1].to_move
    sheet = Scoresheet.played(line[0], moves, other(loser), "timeout", {"White": name, "Pair": "3"})
    text = sheet.to_text()
    assert by_hand(text)["White"] == name
    again = read_game(text)
    assert dict(again.tags) == {"White": name, "Pair": "3"}
    assert (again.name("w"), again.name("b")) == (name, None)
    if line[-1].winner is None:
        assert (again.loser, again.reason) == (loser, "timeout")


def test_text_is_numbered_by_whites_moves() -> None:
    white = Scoresheet.played(Position.from_fen("5/1N3/5/3n1/5 w"), ["d5", "b3"])
    assert white.to_text().endswith("\n\n1. d5 b3 *\n")
    black = Scoresheet.played(Position.from_fen("5/1N3/5/3n1/5 b"), ["b1", "d5"])
    assert black.to_text().endswith("\n\n1... b1 2. d5 *\n")


def test_ways_to_write_a_game_down() -> None:
    assert read_game("a2 c3\n\tb4 ").moves == MOVES
    assert read_game("a2 c3 b4").start == Position.start()
    for start in (SMALL, f"{SMALL} - - 0 1"):
        for moves in ("a2 c3 b4", "1. a2 c3 2. b4 *"):
            game = read_game(f"{start} {moves}")
            assert (game.start, game.moves) == (Position.start(4, 4), MOVES)
    watched = {"fen": SMALL, "moves": MOVES, "first": "random", "second": "AB_Open"}
    game = read_game(json.dumps(watched))
    assert (game.name("w"), game.name("b")) == ("random", "AB_Open")
    assert game.positions == read_game(f"{SMALL} a2 c3 b4").positions


def test_a_saved_game_tells_who_played_and_who_gave_up() -> None:
    saved = {"start": SMALL, "moves": MOVES, "you": "second", "agent": "random", "resigned": True}
    saved["fen"] = read_game(f"{SMALL} a2 c3 b4").final.fen  # as in the last line of play --json
    game = read_game(json.dumps(saved))
    assert game.start.fen == SMALL
    assert (game.winner, game.loser, game.reason) == ("w", "b", RESIGNED)
    assert (game.name("w"), game.name("b")) == ("random", "you")
    assert read_game(json.dumps(saved | {"resigned": False})).winner is None


def test_games_are_told_from_names() -> None:
    for game in (
        "a2",
        "1. a2",
        "a2 zz",
        "",
        "7/7/1N5/7/7/4n2/7 w",
        "7/x w",
        "{}",
        '[White "x"]',
        "% {}",
    ):
        assert looks_like_a_game(game)
    for name in ("last", "20260101-1", "games/mine.txt", "my game", "4.0.0", "last.0.1"):
        assert not looks_like_a_game(name)


OVER = {"fen": "3/1n1/N2 w", "moves": ["b3"]}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (json.dumps({**OVER, "winner": "b"}), "the winner is w, not 'b'"),
        (json.dumps({**OVER, "winner": "x"}), '"winner" must be one of w, b or null'),
        (json.dumps({**OVER, "winner": []}), '"winner" must be one of w, b or null'),
        ('[Opening "3/1n1/N2 w"]\n\n1. b3 0-1', "the winner is w"),
        ('[Opening "4/4/4 w"]\n\n1. b3 0-1', "0 knights"),
        (2 * '[Opening "3/1n1/N2 w"]\n\n1. b3 1-0\n\n', "more than one game"),
        ("b5 e2 b5", "move 3: 'b5'"),
        ("1. b5 e2 2. b5 *", "move 3: 'b5'"),
    ],
)
def test_what_is_wrong_is_named(text: str, named: str) -> None:
    with pytest.raises(KnightfallError, match=re.escape(named)):
        read_game(text)
