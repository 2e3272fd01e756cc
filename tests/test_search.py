"""The compiled searches against full searches in plain Python, the exact end of small games, and
the promises every search makes: legal moves, kept budgets, the same answer every time.

The node counts in `SIGNATURE` are the signature of the searches.  After a change that is meant to
alter them, print the new table with::

    python tests/test_search.py
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import random_game, random_positions
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import NAIVE, Naive, naive_static_reach
from naive_search import (
    WON,
    exact_value,
    mirrored,
    plies_to_end,
    reported,
    roamed,
    search,
    swapped,
    timeless,
)
from strategies import odd_positions, positions

from knightfall.agents import Agent, agent, parse_agent
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel.geometry import NO_LIMIT, geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.report import Report
from knightfall.search.state import DTYPE
from knightfall.search.table import table_for
from knightfall.search.think import METHODS, think

HEURISTICS: dict[str, Naive] = {
    **{
        id: NAIVE[id]
        for id in (
            "null",
            "open",
            "center",
            "improved",
            "center_pull",
            "weighted_moves",
            "near_opponent",
            "far_opponent",
            "bfs_reach",
            "open_space_next",
            "aggressive",
            "lookahead_ratio",
            "open_cluster",
        )
    },
    "static_reach(1/3)": naive_static_reach(1 / 3),  # type: ignore[arg-type]
}
"""What is searched with: most are no zero sum, some depend on the mover, one is often infinite."""

INEXACT = {"center_pull", "bfs_reach", "static_reach(1/3)", "weighted_moves", "lookahead_ratio"}
"""The compiled sum of these may differ from the slow one in the last bits."""

PLAIN_METHODS = ("minimax", "alphabeta", "plain_deepening")


def still_on(found: list[Position]) -> list[Position]:
    """Those in which there is something to search for."""
    return [position for position in found if position.winner is None]


@cache
def small_and_large() -> list[Position]:
    """Both knights placed, any phase, five sizes."""
    sizes = {(3, 4): 20, (4, 4): 25, (5, 5): 20, (7, 7): 12, (8, 8): 6}
    return still_on(
        [
            position
            for seed, ((width, height), number) in enumerate(sizes.items())
            for position in random_positions(width, height, number, seed, min_placed=2)
        ]
    )


PLACEMENTS = [
    *((Position.start(*size), 3) for size in ((3, 3), (3, 4), (4, 4))),
    *((Position.start(*size), 2) for size in ((5, 5), (4, 7))),
    (Position.start(7, 7), 1),
    (Position.from_fen("3/1N1/3[n] b"), 4),
    (Position.from_fen("1N2/4/4[n] b"), 4),
    (Position.from_fen("5/5/2N2/5/5[n] b"), 3),
    (Position.from_fen("7/7/7/1N5/7/7/7[n] b"), 2),
    (Position.from_fen("N7/8/8/8/8/8/8/8[n] b"), 2),
    # Blocked from the start, as a FEN may be.
    (Position.from_fen("2*1/*2*/1*2/3*[Nn] w"), 3),
]
"""Knights in the pocket, and how deep plain Python can look."""


def played(position: Position, line: tuple[str, ...]) -> Position:
    """The end of a line; `play` refuses what is not legal."""
    for move in line:
        position = position.play(move)
    return position


def check_against_naive(position: Position, depth: int, id: str) -> None:
    """Every plain search finds the value, one of the best moves, and a line that proves it."""
    heuristic = HEURISTICS[id]
    tree = search(position, depth, heuristic)
    close: Any = pytest.approx(tree.value, rel=0, abs=1e-9 if id in INEXACT else 0)
    for method in PLAIN_METHODS:
        report = think(position, method, evaluator(id), Budget(depth=depth))
        told = f"{method} depth {depth} {id} {position.fen}: {report}"
        assert reported(report) == close, told
        if id not in INEXACT:
            assert report.move in tree.best, told
        assert report.move == report.pv[0], told
        assert report.cut == 0
        if method == "minimax":
            assert report.nodes == tree.nodes, told
        if method != "plain_deepening":
            assert report.depth == depth, told
            assert report.nodes <= tree.nodes, told
        end = played(position, report.pv)
        if report.proven:
            assert len(report.pv) == report.plies, told
            assert end.winner == (position.to_move if report.score > 0 else swapped(position).to_move)
        else:
            assert len(report.pv) == report.depth == depth, told
            leaf = heuristic(end, position.to_move) if end.placed else 0.0
            assert leaf == pytest.approx(report.score, rel=0, abs=1e-9), told


# -- the value of a depth --------------------------------------------------------------------


@pytest.mark.parametrize("id", HEURISTICS)
def test_plain_searches_equal_a_full_search_in_plain_python(id: str) -> None:
    for position in small_and_large():
        for depth in (1, 2, 3, 4):
            check_against_naive(position, depth, id)


@pytest.mark.parametrize("id", ["null", "improved", "center", "near_opponent", "bfs_reach"])
def test_plain_searches_place_knights_as_a_full_search_does(id: str) -> None:
    for position, deepest in PLACEMENTS:
        for depth in range(1, deepest + 1):
            check_against_naive(position, depth, id)


@settings(max_examples=60)
@given(
    position=odd_positions().filter(lambda position: position.winner is None),
    id=st.sampled_from(["open", "improved", "far_opponent", "center", "open_space_next"]),
)
def test_plain_searches_understand_any_fen(position: Position, id: str) -> None:
    check_against_naive(position, 2 if position.placed else 1, id)


def test_leaves_before_both_knights_stand_count_nothing() -> None:
    # `center` says 0.5 or more for every cell of the board, so an answer of 0 was not asked of it.
    report = parse_agent("minimax(center, depth=1)").analyse(Position.start(7, 7))
    assert (report.score, report.nodes, report.proven) == (0.0, 50, False)
    report = parse_agent("minimax(center, depth=2)").analyse(Position.start(7, 7))
    assert report.score == 24.5


def early(how_many: int, seed: int) -> list[Position]:
    """7×7 with at least 35 open cells, where no knight can be cut off within a few plies."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < how_many:
        game = list(random_game(Position.start(7, 7), rng))[2:12]
        found += [position for position in game if len(position.open) >= 35 and rng.random() < 0.2]
    return found[:how_many]


def cut_off_within(position: Position, plies: int) -> bool:
    """Whether the knights may be separated after so many plies."""
    if position.winner is not None:
        return True
    assert position.white is not None
    assert position.black is not None
    meet = roamed(position.board, position.open, position.white) & roamed(
        position.board, position.open, position.black
    )
    if not meet:
        return True
    if plies == 0:
        return False
    return any(cut_off_within(position.play(move), plies - 1) for move in position.legal_moves)


@pytest.mark.parametrize(
    "id",
    ["improved", "open", "center", "near_opponent", "bfs_reach", "lookahead_ratio", "open_cluster"],
)
def test_deepening_gives_the_value_of_plain_alphabeta(id: str) -> None:
    compared = 0
    for position in early(25, seed=3):
        if cut_off_within(position, 2):
            continue
        for depth in range(1, 7):
            report = parse_agent(f"id({id}, depth={depth})").analyse(position)
            plain = parse_agent(f"alphabeta({id}, depth={depth})").analyse(position)
            assert reported(report) == reported(plain), f"depth {depth}: {position.fen}"
            # The move is as good as it is said to be.
            if depth > 1 and not report.proven:
                after = position.play(report.move)
                reply = think_for_waiter(after, id, depth - 1)
                assert reply == report.score, f"depth {depth}: {position.fen}"
            played(position, report.pv)
            assert report.pv[0] == report.move
            compared += 1
    assert compared > 100


def think_for_waiter(position: Position, id: str, depth: int) -> float:
    """The value for the player who has just moved, by a full search of the opponent's moves.

    A search asks the heuristic for whoever is to move at its root, so one more ply is needed to
    ask for the other player: each reply is searched on its own.
    """
    values = []
    for move in position.legal_moves:
        after = position.play(move)
        if depth == 1:
            values.append(
                WON
                if after.winner is not None and after.winner != after.to_move
                else evaluator(id).value(after)
            )
            if after.winner is not None:
                values[-1] = -WON
        elif after.winner is not None:
            values.append(-WON)
        else:
            report = parse_agent(f"alphabeta({id}, depth={depth - 1})").analyse(after)
            values.append(reported(report))
    return min(values)
