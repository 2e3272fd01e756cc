"""The boards' interface, checked fact by fact against the specification."""

from __future__ import annotations

import copy
import pickle
import random
from math import inf
from typing import Any

import pytest

from knightfall.course import (
    Board,
    generation_2017a,
    generation_2017b,
    generation_early,
    generation_oldest,
    scores,
)

EarlyBoard, OldestBoard = generation_early.Board, generation_oldest.Board
FLAT = [generation_2017b.Board, generation_2017a.Board, EarlyBoard]
EVERY = [*FLAT, OldestBoard]


def placed(kind: type[Any] = Board) -> Any:
    game = kind("white", "black")
    game.apply_move((2, 1))
    game.apply_move((5, 4))
    return game


def stuck() -> Board:
    """Return a board on which white, on (0, 0), is to move and has no move."""
    game = placed()
    game._board_state[:49] = [1] * 49
    return game


# -- all of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_players_and_numbers(kind: type[Any]) -> None:
    game = kind("white", "black", 5, 4)
    assert (game.width, game.height, game.move_count, game.BLANK) == (5, 4, 0, 0)
    assert (game.active_player, game.inactive_player) == ("white", "black")
    assert game.get_opponent("white") == "black"
    assert game.get_opponent("black") == "white"
    with pytest.raises(RuntimeError):
        game.get_opponent("somebody")
    game.apply_move((1, 2))
    assert (game.active_player, game.inactive_player, game.move_count) == ("black", "white", 1)
    assert kind("white", "black").width == kind("white", "black").height == 7


@pytest.mark.parametrize("kind", EVERY)
def test_blank_spaces_go_column_by_column(kind: type[Any]) -> None:
    game = kind("white", "black", 3, 4)
    game.apply_move((0, 0))
    game.apply_move((1, 1))
    assert game.get_blank_spaces() == [
        *((1, 0), (2, 0), (3, 0)),
        *((0, 1), (2, 1), (3, 1)),
        *((0, 2), (1, 2), (2, 2), (3, 2)),
    ]


@pytest.mark.parametrize("kind", EVERY)
def test_legality_is_bounds_and_blankness_only(kind: type[Any]) -> None:
    game = placed(kind)
    assert game.move_is_legal((6, 6))
    assert not game.move_is_legal((2, 1))
    for outside in ((-1, 0), (0, -1), (7, 0), (0, 7), (-1, -1)):
        assert not game.move_is_legal(outside)


@pytest.mark.parametrize("kind", EVERY)
def test_moves_are_applied_unchecked_and_in_place(kind: type[Any]) -> None:
    game = placed(kind)
    game.apply_move((6, 6))
    assert game.get_player_location("white") == (6, 6)
    assert not game.move_is_legal((6, 6))
    assert game.active_player == "black"


@pytest.mark.parametrize("kind", EVERY)
def test_forecasts_and_copies_leave_the_board_alone(kind: type[Any]) -> None:
    game = placed(kind)
    before = game.to_string()
    after = game.forecast_move((0, 2))
    game.copy().apply_move((0, 2))
    assert game.to_string() == before
    assert type(after) is type(game.copy()) is kind
    assert after.get_player_location("white") == (0, 2)
    assert after.move_count == 3


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(("width", "height"), [(4, 6), (6, 4)])
def test_forecasts_and_moves_in_place_give_one_board(
    kind: type[Any], width: int, height: int
) -> None:
    """Check both ways to move from a new board that is not square, before it lists any moves."""
    forecast, moved = kind("white", "black", width, height), kind("white", "black", width, height)
    for move in ((3, 1), (1, 2), (1, 0), (3, 3)):
        vars(forecast).pop("_targets", None)  # as on a copy that a student's subclass builds
        forecast = forecast.forecast_move(move)
        moved.apply_move(move)
    assert forecast.to_string() == moved.to_string()
    row, column = forecast.get_player_location("black")
    around = [(row + down, column + right) for down in range(-2, 3) for right in range(-2, 3)]
    assert set(forecast.get_legal_moves("black")) == {
        (to, beside)
        for to, beside in around
        if abs((to - row) * (beside - column)) == 2 and forecast.move_is_legal((to, beside))
    }
    for player in ("white", "black"):
        assert forecast.get_player_location(player) == moved.get_player_location(player)
        assert sorted(forecast.get_legal_moves(player)) == sorted(moved.get_legal_moves(player))
    assert forecast.get_blank_spaces() == moved.get_blank_spaces()


@pytest.mark.parametrize("kind", EVERY)
def test_boards_are_keys_by_identity_and_take_attributes(kind: type[Any]) -> None:
    game = placed(kind)
    twin = game.copy()
    assert len({game: 1, twin: 2}) == 2
    assert game != twin
    game.remembered = "mine"
    assert game.remembered == "mine"
    assert not hasattr(game.forecast_move((0, 2)), "remembered")


@pytest.mark.parametrize("kind", EVERY)
def test_both_private_names_for_the_moves_of_a_cell(kind: type[Any]) -> None:
    game = placed(kind)
    moves = [(0, 1), (0, 3), (1, 0), (1, 4), (3, 0), (3, 4), (4, 1), (4, 3)]
    assert sorted(game.__get_moves__((2, 2))) == moves
    assert sorted(game._Board__get_moves((2, 2))) == moves
    assert game.__get_moves__(game.NOT_MOVED) == game.get_blank_spaces()


@pytest.mark.parametrize("kind", FLAT)
def test_pictures(kind: type[Any]) -> None:
    game = kind("white", "black", 3, 3)
    for move in ((1, 1), (2, 1), (1, 2)):
        game.apply_move(move)
    lines = game.to_string(["N", "n"]).split("\n\r")
    assert lines[2:] == ["1  |   | - | N | ", "2  |   | n |   | ", ""]
    assert lines[0] == "     0   1   2"
    assert game.print_board() == game.to_string() == game.to_string(["1", "2"])


def test_boards_can_be_pickled_and_deeply_copied() -> None:
    for game in (placed(), placed(generation_2017a.Board), placed(EarlyBoard)):
        game.mine = [1]
        for twin in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game), copy.copy(game)):
            assert twin._board_state == game._board_state
            assert twin.mine == [1]
            assert sorted(twin.get_legal_moves()) == sorted(game.get_legal_moves())


# -- 2017b ---------------------------------------------------------------------------------------


def test_layout_of_the_private_list() -> None:
    game = Board("white", "black", 5, 4)
    assert game._board_state == [0] * 21 + [None, None]
    assert type(game._board_state) is list
    game.apply_move((3, 1))
    assert [i for i, value in enumerate(game._board_state) if value == 1] == [3 + 1 * 4, 20]
    assert game._board_state[-3:] == [1, None, 7]
    game.apply_move((0, 4))
    assert game._board_state[-3:] == [0, 16, 7]
    assert (game._player_1, game._player_2) == ("white", "black")


def test_locations_before_and_after_placement() -> None:
    game = Board("white", "black")
    assert Board.NOT_MOVED is None
    assert game.get_player_location("white") is None
    game.apply_move((4, 2))
    assert game.get_player_location("white") == (4, 2)
    assert game.get_player_location("black") is None
    with pytest.raises(RuntimeError):
        game.get_player_location("somebody")
    with pytest.raises(RuntimeError):
        game.get_legal_moves("somebody")


def test_players_are_compared_by_equality() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name == other.name

        __hash__ = None  # type: ignore[assignment]  # flat boards do not need it

    game = Board(Named("a"), Named("b"))
    game.apply_move((3, 3))
    assert game.get_player_location(Named("a")) == (3, 3)
    assert game.get_opponent(Named("b")) == Named("a")
    assert len(game.get_legal_moves(Named("a"))) == 8
    with pytest.raises(TypeError):
        OldestBoard(Named("a"), Named("b"))


def test_ends() -> None:
    game = placed()
    for player in ("white", "black"):
        assert not game.is_loser(player)
        assert not game.is_winner(player)
        assert game.utility(player) == 0.0
    game = stuck()
    assert game.is_loser("white")
    assert game.is_winner("black")
    assert not game.is_loser("black")
    assert not game.is_winner("white")
    assert (game.utility("white"), game.utility("black")) == (-inf, inf)


def test_hash_is_that_of_the_position() -> None:
    game = placed()
    assert game.hash() == placed().hash()
    assert game.hash() != game.forecast_move((0, 2)).hash()
    assert isinstance(game.hash(), int)


def test_writes_to_private_names_count() -> None:
    game = placed()
    game._active_player, game._inactive_player = game._inactive_player, game._active_player
    assert game.active_player == "black"
    assert (3, 3) in game.get_legal_moves()
    game._board_state[3 + 3 * 7] = 1
    assert (3, 3) not in game.get_legal_moves()
    assert (3, 3) not in game.get_blank_spaces()
    game._board_state[-2] = 0
    assert sorted(game.get_legal_moves("black")) == [(1, 2)]  # (2, 1) is white's
    game._board_state = [0] * 49 + [0, 48, 0]
    assert sorted(game.forecast_move((4, 5)).get_legal_moves("white")) == [(1, 2), (2, 1)]
    game._player_1 = "red"
    assert game.get_player_location("red") == (0, 0)


def test_a_list_of_values_may_be_anything_that_equals_zero_or_not() -> None:
    numpy = pytest.importorskip("numpy")
    game = placed()
    cells = numpy.array(game._board_state[:49]).reshape(7, 7)
    assert cells[1][2] == cells[4][5] == 1  # a row of it is a column of the board
    game._board_state[:49] = list(cells.ravel())
    assert (0, 0) in game.get_legal_moves()
    game._board_state[0] = "taken"
    assert (0, 0) not in game.get_legal_moves()
    assert (0, 0) not in game.copy().get_blank_spaces()


# -- subclasses ----------------------------------------------------------------------------------


def test_overridden_copy_forecast_and_apply_are_called() -> None:
    calls: list[str] = []

    class Counting(Board):
        def copy(self) -> Board:
            calls.append("copy")
            return super().copy()

        def apply_move(self, move: Any) -> None:
            calls.append("apply")
            super().apply_move(move)

        def get_legal_moves(self, player: Any = None) -> Any:
            calls.append("moves")
            return super().get_legal_moves(player)

    game = Counting("white", "black")
    assert type(game.forecast_move((3, 3))) is Board
    assert calls == ["copy"], "what it returns is plain"
    calls.clear()
    game.apply_move((3, 3))
    game.apply_move((0, 0))
    game.is_loser("white"), game.is_winner("white"), game.utility("white")
    assert calls == ["apply", "apply", "moves", "moves"]


def test_a_class_that_builds_its_copies_itself() -> None:
    class Own(Board):
        made = 0

        def copy(self) -> Own:
            Own.made += 1
            twin = Own(self._player_1, self._player_2, width=self.width, height=self.height)
            twin.move_count = self.move_count
            twin._active_player = self._active_player
            twin._inactive_player = self._inactive_player
            twin._board_state = copy.deepcopy(self._board_state)
            return twin

    after = placed(Own).forecast_move((0, 2))
    assert Own.made == 1
    assert type(after) is Own
    assert after.to_string() == placed().forecast_move((0, 2)).to_string()


# -- early ---------------------------------------------------------------------------------------


def test_the_first_cell_of_the_early_board_cannot_be_used() -> None:
    game = EarlyBoard("white", "black")
    assert (0, 0) not in game.get_legal_moves()
    assert len(game.get_legal_moves()) == 48
    assert not game.move_is_legal((0, 0))
    assert game.get_player_location("white") is None
    assert game.get_player_location("black") == (0, 0)
    game.apply_move((3, 3))
    seen = {tuple(game.get_legal_moves()) for _ in range(50)}
    assert seen == {((1, 2), (2, 1)), ((2, 1), (1, 2))}, "shuffled, unlike other placements"
    game.apply_move((2, 1))
    assert game.get_player_location("black") == (2, 1)
    assert (0, 0) not in game.get_blank_spaces()
    assert (0, 0) not in game.copy().get_legal_moves("black")


# -- oldest --------------------------------------------------------------------------------------


def test_private_names_of_the_oldest_board() -> None:
    game = placed(OldestBoard)
    assert game.__board_state__[2][1] == 1
    assert game.__board_state__[5][4] == 2
    assert game.__last_player_move__ == {"white": (2, 1), "black": (5, 4)}
    assert game.__player_symbols__ == {0: 0, "white": 1, "black": 2}
    assert (game.__active_player__, game.__inactive_player__) == ("white", "black")
    assert (game.__player_1__, game.__player_2__) == ("white", "black")
    assert not hasattr(game, "hash")
    assert hash(game) != hash(game.copy())


def test_writes_to_the_oldest_boards_names_count() -> None:
    game = placed(OldestBoard)
    game.__board_state__[0][0] = 2
    assert (0, 0) not in game.get_legal_moves()
    game.__last_player_move__["white"] = (6, 0)
    assert game.get_legal_moves() == [(4, 1), (5, 2)]
    game.__active_player__, game.__inactive_player__ = "black", "white"
    assert game.active_player == "black"
    twin = game.copy()
    twin.__board_state__[4][1] = 1
    twin.__last_player_move__["black"] = (0, 0)
    assert game.__board_state__[4][1] == 0, "copied to the ground"
    assert game.get_player_location("black") == (5, 4)


def test_the_oldest_board_never_shuffles() -> None:
    random.seed(1)
    state = random.getstate()
    game = placed(OldestBoard)
    assert game.get_legal_moves() == [(0, 0), (0, 2), (1, 3), (3, 3), (4, 0), (4, 2)]
    assert random.getstate() == state


# -- a player with a score -----------------------------------------------------------------------


def test_a_player_with_a_score_moves_as_plain_minimax_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scores, "DEEPEST", 3)
    rng, decided = random.Random(5), 0

    def score(game: Any, player: Any) -> float:
        me, opponent = game.get_player_location(player), game.get_player_location(rival[0])
        return random.Random(f"{me}{opponent}{game.get_blank_spaces()}").random()

    def value(game: Any, depth: int) -> float:
        """Return the value for the player after `depth` more plies, from every line."""
        mine = game.active_player is player
        moves = game.get_legal_moves()
        if not moves:
            return -inf if mine else inf
        if depth == 0:
            return score(game, player)
        return (max if mine else min)(value(game.forecast_move(move), depth - 1) for move in moves)

    for _ in range(30):
        player, rival = scores.ScorePlayer(score), ["rival"]
        game = generation_2017b.Board(player, rival[0], 4, 5)
        for _ in range(2 * rng.randrange(1, 5)):
            if game.get_legal_moves():
                game.apply_move(rng.choice(game.get_legal_moves()))
        moves = game.get_legal_moves()
        if game.active_player is not player or not moves:
            assert moves or player.get_move(game, lambda: inf) == (-1, -1)
            continue
        by_depth = [
            {move: value(game.forecast_move(move), depth) for move in moves} for depth in range(3)
        ]
        known = [one for one in by_depth if max(one.values()) > -inf]  # later, all moves lose
        won = [one for one in known if max(one.values()) == inf]
        chosen = player.get_move(game, lambda: inf)
        assert chosen in moves
        for values in won[:1] or known[-1:]:
            assert values[chosen] == max(values.values())
            decided += len(set(values.values())) > 1
        assert player.get_move(game, lambda: scores.THRESHOLD - 1) in moves
    assert decided > 5
