"""The boards' `play`: calls of players, endings and time limits, with a fake clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from naive_course import Naive2017b

from knightfall.course import (
    Board,
    GreedyPlayer,
    HumanPlayer,
    RandomPlayer,
    board_common,
    generation_2017a,
    generation_early,
    generation_oldest,
    open_move_score,
    scores,
)

BEFORE_2017B = [generation_2017a.Board, generation_early.Board, generation_oldest.Board]
EVERY = [Board, *BEFORE_2017B]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Replace the clock by one that advances only when a player says so."""
    now = {"seconds": 100.0}
    monkeypatch.setattr(board_common.timeit, "default_timer", lambda: now["seconds"])
    return now


class Scripted:
    """A player that answers with a function of the game, the legal moves and the time left."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self.answer = answer

    def get_move(self, game: Any, *rest: Any) -> Any:
        if len(rest) == 1:
            return self.answer(game, game.get_legal_moves(), *rest)
        return self.answer(game, *rest)


def first(game: Any, moves: Any, time_left: Any) -> Any:
    return moves[0] if moves else (-1, -1)


@pytest.mark.parametrize("kind", EVERY)
def test_the_ordinary_end_is_called_an_illegal_move(kind: type[Any]) -> None:
    players = [Scripted(first), Scripted(first)]
    board = kind(*players)
    winner, history, reason = board.play()
    assert reason == "illegal move"
    assert winner is board.inactive_player
    assert board.get_legal_moves() == []
    oldest = kind is generation_oldest.Board  # its history includes the last answer
    moves = sum(map(len, history)) - 1 if oldest else len(history)
    assert moves == board.move_count > 4


@pytest.mark.parametrize("kind", EVERY[:3])
@pytest.mark.parametrize("answer", [None, (-1, -1), "list", 3.5, (2.5, "move"), (6, 6, 6)])
def test_whatever_is_no_legal_move_is_a_forfeit(kind: type[Any], answer: Any) -> None:
    def answers(game: Any, moves: Any, time_left: Any) -> Any:
        return list(moves[0]) if answer == "list" else answer

    loser, other = Scripted(answers), Scripted(first)
    assert kind(loser, other).play() == (other, [], "forfeit")
    winner, history, reason = kind(other, loser).play()
    assert (winner, len(history), reason) == (other, 1, "forfeit")


@pytest.mark.parametrize(("kind", "limit"), [*[(kind, 150) for kind in EVERY[:3]], (EVERY[3], 200)])
def test_a_late_answer_loses_however_good(
    kind: type[Any], limit: int, clock: dict[str, float]
) -> None:
    told: list[float] = []

    def slow(game: Any, moves: Any, time_left: Any) -> Any:
        told.append(time_left())
        clock["seconds"] += 0.001 * (limit - 1 if game.move_count == 0 else limit + 1)
        told.append(time_left())
        return moves[0]

    loser, other = Scripted(slow), Scripted(first)
    winner, _, reason = kind(loser, other).play()
    assert (winner, reason) == (other, "timeout")
    assert told == pytest.approx([limit, 1, limit, -1])


def test_history_is_without_what_was_played_before() -> None:
    board = Board(Scripted(first), Scripted(first))
    board.apply_move((3, 3))
    board.apply_move((0, 0))
    _, history, _ = board.play()
    assert len(history) == board.move_count - 2
    assert all(type(move) is list and len(move) == 2 for move in history)


def test_the_oldest_history_is_nested_by_pairs() -> None:
    board = generation_oldest.Board(Scripted(first), Scripted(first))
    _, history, _ = board.play()
    assert {len(pair) for pair in history[:-1]} == {2}
    assert history[0] == [(0, 0), (1, 0)]


@pytest.mark.parametrize("kind", EVERY)
def test_a_player_gets_a_copy(kind: type[Any]) -> None:
    def vandal(game: Any, moves: Any, time_left: Any) -> Any:
        for cell in game.get_blank_spaces():
            game.apply_move(cell)
        game._active_player = "me"
        return (3, 3)

    board = kind(Scripted(vandal), Scripted(lambda *_: (-1, -1)))
    board.play()
    assert board.move_count == 1


@pytest.mark.parametrize("kind", BEFORE_2017B)
def test_the_list_a_player_gets_is_the_one_it_is_checked_by(kind: type[Any]) -> None:
    def cheat(game: Any, moves: list[Any], time_left: Any) -> Any:
        moves[:] = [(5, 5), (6, 6)]
        return (6, 6)

    board = kind(Scripted(cheat), Scripted(lambda *_: None))
    winner, _, reason = board.play()
    expected = "illegal move" if kind is generation_oldest.Board else "forfeit"
    assert (winner, reason) == (board.inactive_player, expected)
    assert board.move_count == 1
    assert board.get_player_location(winner) == (6, 6)


def test_a_subclass_sees_its_methods_called_in_play() -> None:
    calls: list[str] = []

    class Seen(Board):
        def copy(self) -> Board:
            calls.append("copy")
            return super().copy()

        def apply_move(self, move: Any) -> None:
            calls.append("apply")
            super().apply_move(move)

    Seen(Scripted(first), Scripted(lambda *_: None)).play()
    assert calls == ["copy", "apply", "copy"]


def test_exceptions_are_the_callers() -> None:
    def fails(game: Any, moves: Any, time_left: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Board(Scripted(fails), Scripted(first)).play()


def naive_game(players: list[Any], seed: int) -> list[list[int]]:
    """Play a game on the naive board; as in 2017b, the board lists the moves before it calls the
    player.
    """
    random.seed(seed)
    board, history = Naive2017b(*players), []
    while legal := board.get_legal_moves():
        move = board.active_player.get_move(board, None)
        assert move in legal
        history.append(list(move))
        board.apply_move(move)
    return history


@pytest.mark.parametrize("seed", range(5))
def test_seeded_games_of_the_samples_are_the_same_move_for_move(seed: int) -> None:
    players = [RandomPlayer(), GreedyPlayer()]
    expected = naive_game(players, seed)
    random.seed(seed)
    board = Board(*players)
    _, history, _ = board.play()
    assert history == expected


def test_sample_players_without_moves_answer_minus_one() -> None:
    game = Board("white", "black", 3, 3)
    game.apply_move((1, 1))
    game.apply_move((0, 0))
    for player in (RandomPlayer(), GreedyPlayer(), HumanPlayer()):
        assert player.get_move(game, lambda: 100.0) == (-1, -1)
    for player in (
        generation_2017a.RandomPlayer(),
        generation_2017a.GreedyPlayer(),
        generation_2017a.HumanPlayer(),
    ):
        assert player.get_move(game, [], lambda: 100.0) == (-1, -1)


def test_the_greedy_player_takes_the_best() -> None:
    player = GreedyPlayer()
    assert player.score is open_move_score
    game = Board(player, "black")
    game.apply_move((3, 3))
    game.apply_move((0, 0))
    moves = game.get_legal_moves()
    best = max(open_move_score(game.forecast_move(move), player) for move in moves)
    chosen = player.get_move(game, lambda: 100.0)
    assert open_move_score(game.forecast_move(chosen), player) == best
    assert chosen == (5, 4), "of equals the greatest"
    older = generation_2017a.GreedyPlayer()
    game._player_1 = game._active_player = older
    assert older.get_move(game, moves, lambda: 100.0) == (5, 4)


def test_a_human_is_asked_until_the_number_is_one_of_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["x", "99", "-1", "1"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    game = Board("white", "black")
    moves = [(1, 2), (2, 1)]
    player = generation_2017a.HumanPlayer()
    assert player.get_move(game, moves, lambda: 100.0) == (2, 1)
    said = capsys.readouterr().out
    assert "[1] (2, 1)" in said
    assert said.count("from 0 to 1") == 3


def test_the_centre_moved_on_25_april() -> None:
    game = Board("white", "black")
    game.apply_move((3, 1))
    game.apply_move((6, 6))
    assert scores.center_score(game, "white") == 0.5**2 + 2.5**2
    assert scores.center_score_until_april(game, "white") == 4**2 + 6**2
    assert generation_2017a.center_score is scores.center_score_until_april


@pytest.mark.parametrize(
    "score",
    [
        scores.null_score,
        scores.open_move_score,
        scores.improved_score,
        scores.center_score,
        scores.center_score_until_april,
    ],
)
def test_scores_know_won_and_lost_whatever_the_length(score: Callable[..., float]) -> None:
    game = Board("white", "black", 3, 3)
    game.apply_move((1, 1))
    game.apply_move((0, 0))
    assert score(game, "white") == float("-inf")
    assert score(game, "black") == float("inf")
