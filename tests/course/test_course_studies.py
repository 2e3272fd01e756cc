"""The studies' heuristics have the same values on the course's board as ours."""

from __future__ import annotations

import random
from functools import cache
from math import isclose, isfinite
from pathlib import Path
from typing import Any

import pytest
from both_boards import Seen, imported, random_game
from helpers import at_length, some_and_all

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.course import generation_2017a, generation_oldest
from knightfall.heuristics.c_signature import evaluate_at
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import REGISTRY, published_ids
from knightfall.kernel.rules import geometry
from knightfall.oracle.batch_evaluation import Viewpoint, evaluate
from knightfall.position import Position, Side

FILE = Path(__file__).with_name("study_scores.py")
STUDIES = imported(FILE)
SCORES: dict[str, Any] = STUDIES.SCORES

SIDES: tuple[tuple[Side, str], ...] = (("w", "white"), ("b", "black"))

ROUNDED = ("center_pull", "weighted_", "static_reach", "lookahead_ratio", "coded:lookahead_ratio")
"""Scores that add fractions in another order, so that the last bits differ.
All others are whole numbers, halves, or the same few operations, and must be equal."""

FEW = 11
"""Maximum open cells for an exhaustive search for the longest win in Python."""

SIZES = ((7, 7, 5), (5, 6, 2), (8, 8, 1), (9, 4, 2), (3, 3, 2), (3, 7, 2), (6, 10, 1))
"""Boards and the number of random games on each; as many more games are drawn so that they end
late.
"""


@cache
def games() -> list[Seen]:
    """Return positions of all phases of random games, including the last ones."""
    found: list[Seen] = []
    for width, height, number in SIZES:
        rng = random.Random(f"{width}x{height}")
        for lasting in (0.0, 0.8):
            for _ in range(number):
                found += random_game(width, height, rng, lasting=lasting)
    return found


@cache
def ends(kind: type[Any] | None = None) -> list[Seen]:
    """Return positions with few open cells."""
    chosen = {} if kind is None else {"kind": kind}
    found: list[Seen] = []
    for width, height, number in ((7, 7, 12), (5, 5, 6), (4, 6, 6)):
        rng = random.Random(f"late {width}x{height}")
        for _ in range(number):
            found += random_game(width, height, rng, lasting=0.9, **chosen)
    return [seen for seen in found if len(seen[0].open) <= FEW]


def looks_far(id: str, position: Position) -> bool:
    """Return whether a heuristic may search a position to the end."""
    if not REGISTRY.get(id, REGISTRY["null"]).costly:
        return False
    if id.startswith("coded:main"):
        return False  # it depends on a search's root, which does not exist here
    return "longest" in id or 10 * len(position.open) < 3 * position.board.cells


def agree(id: str, theirs: float, ours: float) -> bool:
    if id.startswith(ROUNDED):
        return isclose(theirs, ours, rel_tol=1e-12, abs_tol=1e-12)
    return theirs == ours


def compare(id: str, seen: list[Seen]) -> int:
    """Compare a score with our heuristic for both players; return the number of values."""
    score, ready = SCORES[id], evaluator(id)
    number = 0
    for position, board in seen:
        if looks_far(id, position) and len(position.open) > FEW:
            continue
        for side, player in SIDES:
            ours = ready.value(position, side)
            # Twice: moves come in another order each time, which must not change the value.
            for theirs in (score(board, player), score(board, player)):
                assert agree(id, theirs, ours), (position.fen, side, theirs, ours)
            number += 1
    return number


def test_every_heuristic_of_the_studies_is_there() -> None:
    assert set(SCORES) == {*published_ids(), *(row.id for row in REGISTRY.values() if row.coded)}


def test_the_positions_are_of_all_kinds() -> None:
    assert len(games()) > 500
    assert sum(not position.legal_moves for position, _ in games()) > 20
    assert len([seen for seen in ends() if seen[0].board.cells == 49]) > 60
    assert {len(position.open) for position, _ in ends()} >= set(range(1, FEW + 1))


@some_and_all
@pytest.mark.parametrize("id", SCORES)
def test_a_heuristic_on_the_courses_board_is_worth_what_ours_is(id: str, step: int) -> None:
    random.seed(1)
    if any(looks_far(id, position) for position, _ in ends()):
        assert compare(id, ends()[::step]) > 200 // step
        assert compare(id, games()[:: 4 * step]) > (0 if "longest" in id else 200 // step)
    else:
        assert compare(id, games()[::step]) > 1000 // step


@pytest.mark.parametrize("kind", [generation_2017a.Board, generation_oldest.Board])
@pytest.mark.parametrize(
    "id",
    ["center_pull", "lookahead_mobility", "weighted_moves", "static_reach(1/2)", "bfs_reach",
     "open_space_next", "longest_win_difference", "main", "coded:lookahead_ratio"],
)  # fmt: skip
def test_so_it_is_on_the_earlier_boards(id: str, kind: type[Any]) -> None:
    assert compare(id, ends(kind)[::2]) > 100


# -- in a search -----------------------------------------------------------------------------


WITH_A_ROOT = [row.id for row in REGISTRY.values() if row.coded and "longest" not in row.id]
"""The tested ids. Path searches are left out: they do not use the root and search to the end at
each leaf.
"""


@pytest.mark.parametrize("id", WITH_A_ROOT)
def test_as_coded_a_search_with_it_is_worth_as_much(id: str) -> None:
    """Compare the value of minimax on the course's board with our own, where a heuristic depends on
    the open cells of the search's root.
    """
    shares: set[float] = set()

    def score(game: Any, player: Any) -> float:
        shares.add(STUDIES.share_left(game))
        return float(SCORES[id](game, player))

    valued = 0
    for depth, roots in ((2, games()[::25]), (3, ends()[::3]), (5, ends()[::5])):
        ours = parse_agent(f"student({id}, depth={depth}, minimax, legal)").prepare()
        for position, board in roots:
            if not position.legal_moves:
                continue
            player = STUDIES.MinimaxPlayer(depth, score)
            players = [player if name == board.active_player else name for _, name in SIDES]
            game = board.copy()
            game._player_1, game._player_2 = players
            game._active_player = player
            player.get_move(game, None)
            found = ours.analyse(position)
            assert found.cut == 0
            assert agree(id, player.best, found.score), (position.fen, player.best, found.score)
            valued += isfinite(found.score)
    assert valued > 20
    assert STUDIES.blanks_at_root == 0
    for low, high in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 0.8), (0.8, 1.0)):
        assert any(low <= share < high for share in shares), "no leaf was asked in this phase"


@pytest.mark.parametrize("id", [id for id in WITH_A_ROOT if REGISTRY[id].study == "staged"])
def test_so_it_is_as_far_below_a_root_as_it_matters(
    id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare values for roots with numbers of open cells at and around which a formula changes."""
    number = 0
    for position, board in ends()[::2]:
        here, boards = len(position.open), geometry(position.board)
        shares = (10 * here // 7, 5 * here // 2, 5 * here)
        roots = {root + more for root in shares for more in (-1, 0, 1)}
        for root in sorted(root for root in roots if here <= root < position.board.cells):
            boards["blanks"] = root
            monkeypatch.setattr(STUDIES, "blanks_at_root", root)
            for side, player in SIDES:
                asked = Viewpoint(position, side)
                ours = evaluate_at(boards, evaluator(id).address, *asked.words)
                assert agree(id, SCORES[id](board, player), ours), (asked.place, root)
                number += 1
    assert number > 500


# -- as a heuristic ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::knightfall.heuristics.user_heuristic.HeuristicWarning")
@pytest.mark.parametrize(
    ("id", "compiled"),
    [
        at_length("lookahead_mobility", True),
        ("weighted_moves", True),
        at_length("open_space_next", True),
        ("coded:lookahead_ratio", True),
        ("open_cluster", False),  # it reads the private list
    ],
)
def test_compiled_it_is_worth_the_same(id: str, compiled: bool) -> None:
    ready = evaluator(f"course:{FILE}#{SCORES[id].__name__}")
    assert ready.compiled == compiled, ready.terms[0].why_plain
    asked = [position for position, _ in games()[:: 2 if compiled else 9] if position.legal_moves]
    for width, height, _ in SIZES:
        here = [position for position in asked if position.board == Board.of(width, height)]
        questions = [Viewpoint(position, side) for position in here for side, _ in SIDES]
        theirs, ours = (evaluate(one, questions).tolist() for one in (ready, evaluator(id)))
        for question, one, other in zip(questions, theirs, ours, strict=True):
            assert agree(id, one, other), question
