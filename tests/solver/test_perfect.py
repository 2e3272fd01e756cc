"""The perfect player: it wins won positions, resists in lost ones, and says when unsure."""

from __future__ import annotations

import math
import random

import pytest
from helpers import some_and_all, times_the_examples
from hypothesis import given
from naive_solver import plies_to_end
from solver_helpers import winning_answers
from strategies import positions

from knightfall.agents import agent, parse_agent
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.solver import perfect
from knightfall.solver.atlas import position_of, representatives
from knightfall.solver.engine import Engine

UNHURRIED = parse_agent("perfect(nodes=100000000)")


@times_the_examples(3)
@given(positions(board=Board.of(4, 4)))
def test_its_moves_are_best(position: Position) -> None:
    """Compare its moves with plain recursion: the quickest win, or the longest and then hardest
    resistance.
    """
    if position.winner is not None:
        return
    if not position.placed and len(position.open) < 16 - (position.knight("w") is not None):
        return  # not in the atlas, because cells are blocked; solving takes too long
    report = UNHURRIED.analyse(position)
    plies = plies_to_end(position)
    after = position.play(report.move)
    assert report.proven
    assert report.plies == plies
    assert report.score == (math.inf if plies % 2 else -math.inf)
    assert plies_to_end(after) == plies - 1
    if plies % 2 == 0:
        alike = [
            there
            for there in map(position.play, position.legal_moves)
            if plies_to_end(there) == plies - 1
        ]
        assert winning_answers(after) == min(map(winning_answers, alike))


@some_and_all
@pytest.mark.parametrize("opponent", ["random", "id(improved, nodes=2500)", "MM_Center"])
def test_it_never_leaves_a_won_position(opponent: str, step: int) -> None:
    """Check games on 7×7 against several opponents, with node budgets instead of a clock."""
    board, rng = Board.of(7, 7), random.Random(5)
    truth, player, other = Engine(board), parse_agent("perfect(nodes=2000000)"), agent(opponent)
    kept = 0
    for cells in rng.sample(representatives(board), 4)[::step]:
        for seat in ("w", "b"):
            position = position_of(board, *cells)
            while position.winner is None:
                if position.to_move != seat:
                    position = position.play(other.choose(position))
                    continue
                won = truth.wins(position)
                position = position.play(player.choose(position))
                if won:
                    assert not truth.wins(position)
                    kept += 1
    assert kept > 15 // step


def test_it_runs_and_wins_where_the_colour_law_fails() -> None:
    position = Position.from_fen("7/2n4/7/3N3/7/7/7 w")
    player, other = parse_agent("perfect(nodes=2000000)"), parse_agent("perfect(nodes=200000)")
    while position.winner is None:
        mover = player if position.to_move == "w" else other
        position = position.play(mover.choose(position))
    assert position.winner == "w"


def test_placements() -> None:
    start = Position.start(7, 7)
    assert UNHURRIED.choose(start) == "d4", "fewest replies win against the centre"
    for cell in ("a7", "d4", "c5"):
        placed = start.play(cell)
        report = UNHURRIED.analyse(placed)
        assert report.score == math.inf
        assert not Engine(start.board).wins(placed.play(report.move))


def test_it_says_when_it_falls_back() -> None:
    for fen in ("/".join(["9"] * 7) + "[Nn] w", "8/8/1N6/8/8/4n3/8/8 w"):
        position = Position.from_fen(fen)
        report = parse_agent("perfect(nodes=1000)").analyse(position)
        assert report.move in position.legal_moves
        assert not report.proven
        assert "not solved" in report.note
        assert perfect.FALLBACK in report.note


def test_on_an_even_board_it_mirrors_placement_and_moves() -> None:
    """Check games on 8×8, which is not in the atlas and too large to be solved with few nodes."""
    player, rng = parse_agent("perfect(nodes=1000)"), random.Random(8)
    mirrored = 0
    for first in ("a1", "d4", "c6", "h3"):
        position = Position.start(8, 8).play(first)
        while position.winner is None:
            if position.to_move == "w":
                position = position.play(rng.choice(position.legal_moves))
                continue
            assert position.last is not None
            image = position.board.name(63 - position.last[1])
            report = player.analyse(position)
            assert report.proven
            assert report.score == math.inf
            if report.plies is None:
                assert report.move == image
                assert report.note == "wins by reflection; " + (
                    "there was no time to find the quickest win"
                )
                mirrored += 1
            position = position.play(report.move)
        assert position.winner == "b"
    assert mirrored > 20
    assert player.choose(Position.start(8, 8).play("a1")) == "h8"


def test_it_knows_that_who_places_first_on_an_even_board_is_lost() -> None:
    position = Position.start(8, 8)
    for text in ("perfect(nodes=1000)", "perfect(time=20ms)"):
        report = agent(text).analyse(position)
        assert (report.proven, report.score, report.plies) == (True, -math.inf, None)
        assert report.move in position.legal_moves
        assert report.note.startswith("lost by reflection")


def test_it_says_when_there_was_no_time_for_the_best() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n1*/7 w")
    truth = Engine(position.board)
    seen = set()
    for nodes in (300_000, 1_000_000, 3_000_000, 10_000_000):
        report = parse_agent(f"perfect(nodes={nodes})").analyse(position)
        if report.proven:
            assert (report.score > 0) == truth.wins(position)
            if report.score > 0:
                assert not truth.wins(position.play(report.move))
        seen.add(report.note.split(";")[0].split(":")[0])
    assert "wins" in seen


@pytest.mark.parametrize("budget", ["time=1ms", "time=20ms", "time=150ms", "nodes=1"])
def test_any_budget_gives_a_legal_move(budget: str) -> None:
    player, rng = agent(f"perfect({budget})"), random.Random(2)
    for size in ((3, 3), (5, 5), (7, 7), (8, 8)):
        position = Position.start(*size)
        while position.winner is None:
            if rng.random() < 0.4:
                assert player.choose(position) in position.legal_moves
            position = position.play(rng.choice(position.legal_moves))


def test_the_same_seed_plays_the_same_move() -> None:
    rng, ties = random.Random(8), 0
    for _ in range(12):
        position = Position.start(5, 5)
        for _ in range(rng.randrange(4, 10)):
            if position.winner is None:
                position = position.play(rng.choice(position.legal_moves))
        if position.winner is not None:
            continue
        chosen = set()
        for seed in range(6):
            player = parse_agent(f"perfect(nodes=100000000, seed={seed})")
            assert player.choose(position) == player.choose(position)
            chosen.add(player.choose(position))
        assert len({plies_to_end(position.play(move)) for move in chosen}) == 1
        ties += len(chosen) > 1
    assert ties > 0


def test_counted_nodes_play_the_same_whatever_was_asked_before() -> None:
    positions = [
        Position.from_fen("7/7/1N5/7/7/4n1*/7 w"),
        Position.from_fen("7/7/1N5/*6/7/4n2/7 b"),
    ]
    player = parse_agent("perfect(nodes=400000)")
    fresh = [player.analyse(position) for position in positions]
    for position, before in zip(reversed(positions), reversed(fresh), strict=True):
        again = player.analyse(position)
        assert (again.move, again.nodes, again.note) == (before.move, before.nodes, before.note)


def test_a_finished_game_and_a_wrong_budget_are_errors() -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    with pytest.raises(KnightfallError, match="is over"):
        UNHURRIED.choose(over)
    for text in ("perfect(depth=3)", "perfect(improved)", "perfect(time=0ms)", "perfect(plain)"):
        with pytest.raises(KnightfallError):
            parse_agent(text)
    assert str(parse_agent("perfect")) == "perfect(time=150ms)"
