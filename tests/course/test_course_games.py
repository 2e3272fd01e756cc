"""Whole games on our boards and the naive ones are equal, including random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from helpers import random_positions
from hypothesis import given
from hypothesis import strategies as st
from naive_course import Naive2017b, NaiveEarly, NaiveOldest

from knightfall.course import (
    generation_2017a,
    generation_2017b,
    generation_early,
    generation_oldest,
    scores,
)
from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position, Side


class Derived(generation_2017b.Board):
    """A student's subclass, for which `forecast_move` calls `copy` and `apply_move`."""


FLAT = {
    "derived": (Derived, Naive2017b),
    "2017b": (generation_2017b.Board, Naive2017b),
    "2017a": (generation_2017a.Board, Naive2017b),
    "early": (generation_early.Board, NaiveEarly),
}
EVERY = FLAT | {"oldest": (generation_oldest.Board, NaiveOldest)}


class Player:
    """A player that is compared by identity."""


def same(ours: Any, naive: Any, players: list[Any]) -> None:
    """Check that two boards agree about a position and draw the same random numbers."""
    assert ours.move_count == naive.move_count
    assert ours.active_player is naive.active_player
    assert ours.inactive_player is naive.inactive_player
    assert ours.get_blank_spaces() == naive.get_blank_spaces()
    for player in players:
        assert ours.get_opponent(player) is naive.get_opponent(player)
        assert ours.get_player_location(player) == naive.get_player_location(player)
        for question in ("get_legal_moves", "is_winner", "is_loser", "utility"):
            state = random.getstate()
            found = getattr(ours, question)(player)
            after = random.getstate()
            random.setstate(state)
            assert found == getattr(naive, question)(player), question
            assert after == random.getstate(), question


@pytest.mark.parametrize("generation", EVERY)
@given(st.integers(3, 9), st.integers(3, 9), st.integers(0, 2**32), st.booleans())
def test_random_games(generation: str, width: int, height: int, seed: int, forecast: bool) -> None:
    players = [Player(), Player()]
    ours, naive = (kind(*players, width, height) for kind in EVERY[generation])
    random.seed(seed)
    same(ours, naive, players)
    while moves := naive.get_legal_moves():
        move = random.choice(moves)
        if forecast:
            before, ours, naive = ours, ours.forecast_move(move), naive.forecast_move(move)
            assert before.move_count == ours.move_count - 1
        else:
            ours.apply_move(move)
            naive.apply_move(move)
        same(ours, naive, players)
        if generation in FLAT:
            assert ours._board_state == naive.state
            assert ours.to_string() == naive.to_string()
        else:
            assert ours.__board_state__ == naive.state


@pytest.mark.parametrize("generation", ["2017b", "2017a", "oldest"])
@given(st.integers(3, 8), st.integers(3, 8), st.integers(0, 2**32))
def test_positions_agree_with_the_rules(
    generation: str, width: int, height: int, seed: int
) -> None:
    kind, _ = EVERY[generation]
    board, position = kind("white", "black", width, height), Position.start(width, height)
    names, rng = position.board, random.Random(seed)
    while True:
        legal = {names.name(names.at(*cell)) for cell in board.get_legal_moves()}
        assert legal == set(position.legal_moves)
        assert (board.utility("white") == 0.0) == (position.winner is None)
        if not legal:
            break
        assert {names.at(*cell) for cell in board.get_blank_spaces()} == position.open
        row, column = rng.choice(sorted(board.get_legal_moves()))
        board.apply_move((row, column))
        position = position.play(names.name(names.at(row, column)))
    winner = {"w": "white", "b": "black"}[position.winner or "?"]
    assert board.is_winner(winner)
    assert board.is_loser(board.get_opponent(winner))


class Student:
    """A student's alpha-beta with a fixed depth, which resigns if all lines lose."""

    def __init__(self, score: Callable[[Any, Any], float], depth: int) -> None:
        self.score, self.depth = score, depth

    def best(self, game: Any) -> tuple[int, int]:
        best, chosen, alpha = -inf, (-1, -1), -inf
        for move in game.get_legal_moves():
            value = self.value(game.forecast_move(move), self.depth - 1, alpha, inf)
            if value > best:
                best, chosen = value, move
            alpha = max(alpha, best)
        return chosen

    def value(self, game: Any, depth: int, alpha: float, beta: float) -> float:
        if game.utility(self) != 0.0:
            return float(game.utility(self))
        if depth == 0:
            return self.score(game, self)
        mine = game.active_player == self
        value = -inf if mine else inf
        for move in game.get_legal_moves():
            deeper = self.value(game.forecast_move(move), depth - 1, alpha, beta)
            value = max(value, deeper) if mine else min(value, deeper)
            if mine:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta:
                break
        return value


def seeded_game(kind: type[Any], seed: int) -> list[tuple[int, int]]:
    """Return the moves of a game after a random opening; the last may be a resignation."""
    random.seed(seed)
    students = [Student(scores.improved_score, 3), Student(scores.center_score, 2)]
    game, moves = kind(*students), []
    for _ in range(2):
        moves.append(random.choice(game.get_legal_moves()))
        game.apply_move(moves[-1])
    while legal := game.get_legal_moves():
        moves.append(game.active_player.best(game))
        if moves[-1] not in legal:
            break
        game.apply_move(moves[-1])
    return moves


@pytest.mark.parametrize("generation", EVERY)
def test_seeded_games_of_students_are_the_same_move_for_move(generation: str) -> None:
    ours, naive = EVERY[generation]
    games = []
    for seed in range(4):
        games.append(seeded_game(ours, seed))
        after = random.getstate()
        assert games[-1] == seeded_game(naive, seed)
        assert after == random.getstate()
    assert max(map(len, games)) > 10


@pytest.mark.parametrize("generation", FLAT)
def test_a_resignation_in_a_forecast_goes_on_beside_the_board(generation: str) -> None:
    """Compare the boards after the illegal move (-1, -1), which agents forecast by mistake when
    they resign.
    """
    for seed in range(50):
        random.seed(seed)
        players = [Player(), Player()]
        ours, naive = (kind(*players) for kind in FLAT[generation])
        for move in ((3, 3), (2, 1), (-1, -1)):
            ours.apply_move(move)
            naive.apply_move(move)
        same(ours, naive, players)
        assert ours._board_state == naive.state
        assert ours.get_player_location(players[0]) == (6, -2)
        assert ours.get_legal_moves(players[0]) == [(5, 0)]


def test_students_scores_are_those_of_the_compiled_heuristics() -> None:
    sides: tuple[Side, Side] = ("w", "b")
    for position in random_positions(7, 7, 200, seed=5, min_placed=2):
        where = position.board
        game = generation_2017b.Board("w", "b")
        number = [where.row(cell) + where.column(cell) * 7 for cell in range(49)]
        for cell in set(range(49)) - position.open:
            game._board_state[number[cell]] = 1
        game._board_state[-1] = number[position.white or 0]
        game._board_state[-2] = number[position.black or 0]
        if position.to_move == "b":
            game._active_player, game._inactive_player = "b", "w"
        for id, score in {
            "null": scores.null_score,
            "open": scores.open_move_score,
            "improved": scores.improved_score,
            "center": scores.center_score,
        }.items():
            for side in sides:
                if position.winner is None:
                    assert score(game, side) == evaluator(id).value(position, side)
                else:
                    assert score(game, side) == (inf if side == position.winner else -inf)
