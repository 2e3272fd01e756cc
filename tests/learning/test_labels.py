"""Tests that generated games are legal and that their labels are true."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from naive_solver import plies_to_end
from positions import position

import knightfall as kf
from knightfall.board import Board
from knightfall.learning.data import Columns
from knightfall.learning.data_settings import Shard
from knightfall.learning.shard_builder import (
    EARLY,
    NAMES,
    RANDOM_PLIES,
    after,
    build_columns,
    draw,
    draw_game,
    label,
    plies_to_label,
    position_of,
)
from knightfall.learning.split import canonical_forms, classes
from knightfall.position import Position
from knightfall.solver.atlas import canonical
from knightfall.solver.engine import Engine, Limits


def shard(board: str, positions: int, seed: str = "seed") -> Columns:
    return build_columns(Shard("name", board, 3, positions, seed))


def all_of(board: str, columns: Columns) -> list[Position]:
    cells = (columns[name] for name in ("open", "mover", "waiter"))
    return [position(Board.named(board), *row) for row in zip(*cells, strict=True)]


@pytest.mark.parametrize(("board", "most_open"), [("4x4", 16), ("4x5", 18), ("5x5", 17)])
def test_labels_are_those_of_brute_force(board: str, most_open: int) -> None:
    columns = shard(board, 1200)
    checked = 0
    for one, wins in zip(all_of(board, columns), columns["wins"], strict=True):
        if len(one.open) <= most_open:
            assert wins == plies_to_end(one) % 2, one.fen
            checked += 1
    assert checked > 500
    assert 0.2 < columns["wins"].mean() < 0.8


def test_labels_are_those_of_the_solver_on_7x7() -> None:
    columns = shard("7x7", 1500)
    late = [
        (one, wins)
        for one, wins in zip(all_of("7x7", columns), columns["wins"], strict=True)
        if len(one.open) <= 36
    ]
    for one, wins in random.Random(1).sample(late, 60):
        assert wins == (kf.solve(one).winner == "w"), one.fen


def test_games_follow_the_rules_and_tell_what_happened() -> None:
    board, rng = Board.of(5, 5), random.Random(2)
    drawn = set()
    for _ in range(60):
        game = draw_game(board, rng)
        drawn.add(game.drawn)
        now = position(board, *game.positions[0])
        assert canonical(now) is not None
        assert (now.white, now.black) == game.opening
        for here, there in pairwise(game.positions):
            assert there == after(here, there[2])
            now = now.play(board.name(there[2]))
            assert position(board, *there).open == now.open
        for ply in range(len(game.positions)):
            assert game.result(ply) == (now.winner == "wb"[ply % 2])
        assert len(game.positions) - 1 > game.drawn
        assert set(game.agents) <= set(NAMES)
    assert len(drawn & set(RANDOM_PLIES)) > 4


def test_rows_tell_of_the_game() -> None:
    columns = shard("5x6", 400)
    board = Board.named("5x6")
    known = {number: cells for cells, number in classes(board).items()}
    assert (columns["game"] >> 16 == 3).all()
    for row, one in enumerate(all_of("5x6", columns)):
        assert (one.hunter == "w") == columns["hunter"][row]
        # The knights have left as many cells as moves were made.
        assert len(one.open) == board.cells - 2 - columns["ply"][row]
        assert one.winner is None
        if columns["ply"][row] == 0:
            assert canonical(one) == known[columns["opening"][row]]
    for game in np.unique(columns["game"]):
        here = columns["game"] == game
        assert len(np.unique(columns["opening"][here])) == 1
        turns = columns["ply"][here] % 2
        for turn in (0, 1):  # each player keeps its name, its role and its result
            for name in ("mover_agent", "hunter", "result"):
                assert len(np.unique(columns[name][here][turns == turn])) <= 1
                if name != "mover_agent" and len(set(turns)) == 2:
                    assert len(np.unique(columns[name][here])) == 2


def test_a_label_needs_no_question_where_the_game_shows_it() -> None:
    board, rng, asked = Board.of(5, 5), random.Random(3), 0

    class CountingEngine(Engine):
        def wins(self, position: Position, limits: Limits | None = None) -> bool:
            nonlocal asked
            asked += 1
            return super().wins(position, limits)

    engine, taken = CountingEngine(board), 0
    for _ in range(40):
        game = draw_game(board, rng)
        plies = plies_to_label(game, rng)
        told = label(engine, game, plies)
        assert told == [engine.wins(position_of(board, game.positions[ply])) for ply in plies]
        asked -= len(plies)
        taken += len(plies)
        assert len(game.positions) - 1 not in plies
    assert asked < 0.8 * taken


def test_few_early_positions_are_taken_and_none_too_hard_to_solve() -> None:
    rng = random.Random(4)
    for name, most in (("7x7", 41), ("8x8", 41)):
        early = late = games = 0
        for _ in range(30):
            game = draw_game(Board.named(name), rng)
            plies = plies_to_label(game, rng)
            everywhere = [open.bit_count() for open, _, _ in game.positions[:-1]]
            assert {ply for ply, left in enumerate(everywhere) if left <= most} <= set(plies)
            opened = [everywhere[ply] for ply in plies]
            early += sum(count > most for count in opened)
            late += sum(count <= most for count in opened)
            games += 1
        assert (0 < early <= games) if name == "7x7" else early == 0
        assert late > 10 * games
    assert EARLY * 49 >= 41


def test_every_agent_gets_its_turn() -> None:
    rng = random.Random(5)
    assert {draw(rng) for _ in range(3000)} == set(NAMES)


def test_stored_positions_are_canonical_forms() -> None:
    columns = shard("5x5", 200)
    cells = [columns[name] for name in ("open", "mover", "waiter")]
    for one, two in zip(canonical_forms(Board.of(5, 5), *cells), cells, strict=True):
        assert (one == two).all()
