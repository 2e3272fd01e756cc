"""Tests that the champion keeps won positions and plays lost ones for mistakes."""

from __future__ import annotations

import math
import pickle
import random

import pytest
from hypothesis import given, settings
from naive_solver import plies_to_end
from strategies import positions

from benchmarks.lost_games import lost_games
from knightfall.agents import agent, parse_agent
from knightfall.agents.parse import agent_parts
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_pair
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.opponents.champion_agent import ChampionAgent
from knightfall.position import Position
from knightfall.solver.engine import Engine

BOTH = ["champion(nodes={})", "perfect(nodes={}, swindle)"]


def some_positions(number: int, width: int = 7, height: int = 7, seed: int = 1) -> list[Position]:
    """Return positions of random games that are not over."""
    rng, found = random.Random(seed), []
    while len(found) < number:
        position = Position.start(width, height)
        for _ in range(rng.randrange(2, width * height * 2 // 3)):
            if position.winner is None:
                position = position.play(rng.choice(position.legal_moves))
        if position.winner is None and position.placed:
            found.append(position)
    return found


@pytest.mark.parametrize("text", BOTH)
def test_a_won_position_stays_won(text: str) -> None:
    truth, player, kept = Engine(Board.of(7, 7)), parse_agent(text.format(1_000_000)), 0
    for position in some_positions(50):
        if len(position.open) > 43:
            continue  # some need more than a million nodes
        report = player.analyse(position)
        assert report.move in position.legal_moves
        wins = truth.wins(position)
        assert report.proven
        assert report.score == (math.inf if wins else -math.inf)
        if wins:
            after = position.play(report.move)
            assert after.winner is not None or not truth.wins(after)
            kept += 1
    assert kept > 10


@settings(max_examples=60, deadline=None)
@given(positions(board=Board.of(4, 4)))
def test_small_boards_and_pockets(position: Position) -> None:
    """Compare moves in won positions with plain recursion; in lost ones any legal move is right."""
    if position.winner is not None:
        return
    plies = plies_to_end(position)
    for text in BOTH:
        report = parse_agent(text.format(150_000)).analyse(position)
        after = position.play(report.move)
        assert report.nodes <= 150_000
        if report.proven:
            assert (report.score > 0) == (plies % 2 == 1)
            if plies % 2:
                assert plies_to_end(after) % 2 == 0


@pytest.mark.parametrize("text", BOTH)
@pytest.mark.parametrize("nodes", [1, 300, 20_000, 150_000, 400_000])
def test_nodes_are_kept_and_tell_the_move(text: str, nodes: int) -> None:
    player = parse_agent(text.format(nodes))
    asked = some_positions(4, seed=3)
    asked += [Position.start(7, 7), Position.from_fen("7/7/1N5/7/7/5n1/7 w")]
    fresh = [player.analyse(position) for position in asked]
    for position, before in zip(reversed(asked), reversed(fresh), strict=True):
        again = player.analyse(position)
        assert (again.move, again.nodes, again.note) == (before.move, before.nodes, before.note)
        assert again.move in position.legal_moves
        assert again.nodes <= nodes


def test_seeds_may_differ_but_each_repeats() -> None:
    lost = Position.from_fen("7/7/1N5/7/7/5n1/7 w")
    reports = {}
    for seed in range(4):
        player = parse_agent(f"champion(nodes=300000, seed={seed})")
        reports[seed] = player.analyse(lost)
        assert player.analyse(lost).move == reports[seed].move
    assert len({(report.move, report.note) for report in reports.values()}) > 1


@pytest.mark.parametrize("budget", ["time=1ms", "time=5ms", "time=40ms"])
@pytest.mark.parametrize("text", ["champion({})", "perfect({}, swindle)"])
def test_any_time_gives_a_legal_move(text: str, budget: str) -> None:
    rng = random.Random(2)
    for width, height in ((3, 3), (5, 5), (7, 7), (8, 8)):
        player = parse_agent(text.format(budget)).prepare(Board.of(width, height))
        position = Position.start(width, height)
        while position.winner is None:
            if rng.random() < 0.3:
                assert player.choose(position) in position.legal_moves
            position = position.play(rng.choice(position.legal_moves))


def test_lost_positions_are_played_for_mistakes() -> None:
    lost = Position.from_fen("7/7/1N5/7/7/5n1/7 w")
    report = parse_agent("champion(nodes=600000)").analyse(lost)
    assert (report.proven, report.score) == (True, -math.inf)
    assert report.note.startswith("lost; wins ")
    assert "trials" in report.note


def test_with_few_nodes_it_is_a_search() -> None:
    opening = Position.from_fen("7/7/1N5/7/7/4n1*/7 w")
    report = parse_agent("champion(nodes=500)").analyse(opening)
    heuristic = ChampionAgent.searches_with
    assert report.move == parse_agent(f"id({heuristic}, nodes=500)").choose(opening)
    assert heuristic in report.note


def test_it_wins_lost_games_that_perfect_loses() -> None:
    opponent = agent("id(improved, nodes=2500)")
    plain = lost_games(agent("perfect(nodes=400000)"), opponent, 12)
    tricky = lost_games(agent("perfect(nodes=400000, swindle)"), opponent, 12)
    assert tricky.won.count > plain.won.count
    assert tricky.nodes_a_move <= 400_000


def test_on_an_even_board_it_mirrors() -> None:
    player = parse_agent("champion(nodes=1000)")
    report = player.analyse(Position.start(8, 8).play("a1"))
    assert (report.move, report.score) == ("h8", math.inf)
    report = player.analyse(Position.start(8, 8))
    assert (report.proven, report.score) == (True, -math.inf)
    assert report.note.startswith("lost; ")


def test_strings_and_pickles() -> None:
    for text in (
        *("champion(time=150ms)", "champion(nodes=500)", "champion(nodes=500, seed=3)"),
        *("perfect(time=150ms, swindle)", "perfect(nodes=9, swindle, seed=2)"),
    ):
        player = parse_agent(text)
        assert str(player) == text
        assert parse_agent(str(player)) == player
        assert pickle.loads(pickle.dumps(player)) == player
    assert str(parse_agent("champion")) == "champion(time=150ms)"
    assert str(parse_agent("perfect(swindle)")) == "perfect(time=150ms, swindle)"
    assert parse_agent("perfect(swindle)") != parse_agent("perfect")
    assert agent_parts("perfect(swindle)") == ("perfect", "", ("swindle",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("champion(depth=3)", "champion takes nodes, time, seed"),
        ("champion(improved)", "cannot use 'improved'"),
        ("champion(swindle)", "cannot use 'swindle'"),
        ("champion(plain)", "cannot use 'plain'"),
        ("perfect(plain)", "perfect takes nodes, time, seed, swindle"),
        ("perfect(swindle, swindle)", "given twice"),
        ("id(improved, swindle)", "cannot use 'swindle'"),
        ("champion(nodes=0)", "nodes=0"),
    ],
)
def test_wrong_options_are_named(text: str, said: str) -> None:
    with pytest.raises(KnightfallError, match=said.replace("(", r"\(")):
        parse_agent(text)


def test_a_finished_game_is_an_error() -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    with pytest.raises(KnightfallError, match="is over"):
        parse_agent("champion(nodes=1000)").choose(over)


def test_it_plays_in_the_arena() -> None:
    record = play_pair(
        PairTask(0, "champion(nodes=150000)", "random(seed=1)", "5/1N3/5/5/3n1 w", seed=7)
    )
    assert [game.reason for game in record.games] == ["no moves", "no moves"]
