"""Our boards against recorded games and answers of the course's original files.

Numbers, moves and pictures here were recorded by running the originals; none of their text is here.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import seeded

from knightfall.course import (
    generation_2017a,
    generation_2017b,
    generation_early,
    generation_oldest,
    generation_successor,
)

RECORDED = json.loads((Path(__file__).parent / "original_games.json").read_text())
OURS: dict[str, tuple[Any, Any]] = {
    "2017b": (generation_2017b.Board, generation_2017b),
    "2017a": (generation_2017a.Board, generation_2017a),
    "early": (generation_early.Board, generation_2017a),
    "oldest": (generation_oldest.Board, generation_2017a),
}
FLAT = [OURS[generation][0] for generation in ("2017b", "2017a", "early")]
EVERY = [kind for kind, _ in OURS.values()]
SETTING = ("seed", "size", "placed", "players")


@pytest.mark.parametrize("generation", [*OURS, "successor"])
def test_recorded_games_are_played_again_move_for_move(generation: str) -> None:
    assert len(RECORDED[generation]) == 40
    for record in RECORDED[generation]:
        setting = {name: value for name, value in record.items() if name in SETTING}
        if generation == "successor":
            found = seeded.successor_game(generation_successor, generation_successor, setting)
        else:
            found = seeded.game(*OURS[generation], setting)
        assert setting | found == record


# -- boards --------------------------------------------------------------------------------------


def rows(*cells: str) -> str:
    return "".join(f" | {' | '.join(row)} | \n\r" for row in cells)


def test_the_early_boards_first_cell_is_drawn_open() -> None:
    board = generation_early.Board("w", "b", 3, 3)
    numbers = "     0   1   2\n\r"
    assert board.to_string() == numbers + "".join(f"{row}  |   |   |   | \n\r" for row in range(3))
    assert board._board_state == [None, *[0] * 10, None]
    board.apply_move((1, 1))
    assert board.to_string(["x", "o"]).split("\n\r")[1:3] == [
        "0  |   |   |   | ",
        "1  |   | x |   | ",
    ]


def test_the_oldest_board_is_drawn_without_numbers() -> None:
    board = generation_oldest.Board("w", "b", 3, 2)
    assert board.to_string() == rows("   ", "   ")
    for move in ((1, 1), [0, 2], (0, 0)):
        board.apply_move(move)  # type: ignore[arg-type]
    assert board.to_string() == board.print_board() == rows("1 2", " - ")
    assert board.get_player_location("b") == [0, 2], "as it was given"


def test_the_oldest_board_before_placement() -> None:
    board = generation_oldest.Board("w", "b")
    assert board.NOT_MOVED is None
    assert board.get_player_location("w") is None
    assert board.__player_symbols__ == {0: 0, "w": 1, "b": 2}
    with pytest.raises(KeyError):
        board.get_player_location("x")
    # After a forecast resignation the knight stands beside the board; moves are found from there.
    after = board.forecast_move((-1, -1))
    assert after.get_legal_moves("w") == [(0, 1), (1, 0)]


@pytest.mark.parametrize("kind", EVERY)
def test_a_copy_of_a_derived_board_is_a_plain_one(kind: type[Any]) -> None:
    class Derived(kind):  # type: ignore[misc]
        def apply_move(self, move: Any) -> None:
            raise AssertionError("a forecast is applied to the plain copy")

    board = Derived("w", "b")
    board.mine = 1
    for other in (board.copy(), board.forecast_move((2, 1))):
        assert type(other) is kind
        assert not hasattr(other, "mine")


@pytest.mark.parametrize("kind", FLAT)
def test_what_a_derived_board_overrides_is_asked(kind: type[Any]) -> None:
    asked: list[str] = []

    class Derived(kind):  # type: ignore[misc]
        def get_player_location(self, player: Any) -> Any:
            asked.append("location")
            return super().get_player_location(player)

        def move_is_legal(self, move: Any) -> bool:
            asked.append("legal")
            return bool(super().move_is_legal(move)) and move[0] >= 2

        def get_blank_spaces(self) -> Any:
            asked.append("blank")
            return super().get_blank_spaces()[-2:]

    board = Derived("w", "b", 4, 4)
    assert board.get_legal_moves("w") == [(2, 3), (3, 3)]
    board.apply_move((1, 2))
    board.apply_move((3, 3))
    assert sorted(board.get_legal_moves()) == [(2, 0), (3, 1)], "and not (0, 0)"
    assert asked == ["location", "blank", "location", *["legal"] * 8]


@pytest.mark.parametrize("kind", FLAT)
def test_a_board_put_together_by_hand(kind: type[Any]) -> None:
    board = kind("w", "b")
    board.apply_move((3, 3))
    board.apply_move((2, 1))
    names = ("width", "height", "move_count", "_board_state", "_player_1", "_player_2")
    for ask in (
        lambda one: sorted(one.get_legal_moves()),
        lambda one: one.forecast_move((1, 2)).to_string(),
        lambda one: one.copy().to_string(),
    ):
        twin = object.__new__(kind)
        for name in (*names, "_active_player", "_inactive_player"):
            setattr(twin, name, copy.copy(getattr(board, name)))
        assert ask(twin) == ask(board)


def test_more_than_two_numbers_are_a_cell_too() -> None:
    board = generation_2017b.Board("w", "b")
    assert board.move_is_legal((1, 2, "whatever"))  # type: ignore[arg-type]
    assert board.hash() == hash(str(board._board_state))


class Keeps:
    """A player that at every move calls the `time_left` that it received at its first move."""

    def __init__(self) -> None:
        self.left: Any = None
        self.told: list[float] = []

    def get_move(self, game: Any, *rest: Any) -> Any:
        self.left = self.left or rest[-1]
        self.told.append(self.left())
        return game.get_legal_moves()[0] if game.move_count < 6 else None


@pytest.mark.parametrize("kind", EVERY)
def test_an_old_clock_tells_about_the_present_move(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def later() -> float:
        now[0] += 0.015625
        return now[0]

    monkeypatch.setattr("timeit.default_timer", later)
    players = Keeps(), Keeps()
    kind(*players).play(1000)
    assert players[0].told == [1000 - 15.625] * 4
    assert players[1].told == [1000 - 15.625] * 3


@pytest.mark.parametrize("answer", [None, (-1, -1), [1, 2], "x"])
def test_the_oldest_history_has_the_answer_that_lost(answer: Any) -> None:
    class Stubborn:
        def get_move(self, game: Any, moves: Any, time_left: Any) -> Any:
            return answer if game.move_count == 3 else moves[0]

    players = Stubborn(), Stubborn()
    winner, history, reason = generation_oldest.Board(*players).play(1000)
    assert winner is players[0]
    assert (history, reason) == ([[(0, 0), (1, 0)], [(1, 2), answer]], "illegal move")
