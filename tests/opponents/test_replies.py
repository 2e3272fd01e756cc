"""Tests of opponents' replies: equal moves by brute force, the stranger by its definition."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from naive_search import search

from knightfall.agents import parse_agent
from knightfall.errors import KnightfallError
from knightfall.opponents import opponent_models
from knightfall.opponents.mcts import TRUTH_CELLS, reply_features, thread_workspace
from knightfall.opponents.opponent_models import JUDGES, MODELS, OPPONENTS, OpponentModel
from knightfall.opponents.replies import compute_probabilities
from knightfall.position import Position, other
from knightfall.solver.engine import Engine

NAIVE: dict[str, naive.Naive] = {
    "improved": naive.improved,
    "open": naive.open_,
    "center": naive.center,
}


def some_positions(number: int, most: int, seed: int, ways: int = 2) -> list[Position]:
    """Return positions of random games with few open cells and several moves."""
    rng, found = random.Random(seed), []
    while len(found) < number:
        position = Position.start(7, 7)
        while position.winner is None and len(position.open) > most - rng.randrange(10):
            position = position.play(rng.choice(position.legal_moves))
        if len(position.legal_moves) >= ways:
            found.append(position)
    return found


@pytest.mark.parametrize("heuristic", ["improved", "open", "center"])
def test_equal_moves_are_those_of_plain_minimax(heuristic: str) -> None:
    """Check that the model of a depth-3 search gives equal probability to exactly the best moves of
    plain minimax.
    """
    model = next(
        at
        for at, one in enumerate(MODELS)
        if (one.method, one.heuristic, one.budget.depth) == ("alphabeta", heuristic, 3)
    )
    several = 0
    for position in some_positions(25, 40, 5):
        seen = reply_features(position, Engine(position.board))
        values = search(position, 3, NAIVE[heuristic]).moves
        best = [
            position.board.cell(move) for move in values if values[move] == max(values.values())
        ]
        expected = [1 / len(best) if cell in best else 0.0 for cell in seen.cells]
        assert seen.shares[model] == pytest.approx(expected)
        several += len(best) > 1
    assert several > 5


def test_what_agents_answer_was_thought_possible() -> None:
    """Check that a deepening search, with many seeds, seldom plays a move to which its model gives
    probability 0.
    """
    model = OPPONENTS.index("plain_deepening(improved, nodes=2500)")
    asked = missed = 0
    for position in some_positions(12, 40, 6):
        seen = reply_features(position, Engine(position.board), samples=4)
        for seed in range(1, 9):
            agent = parse_agent(f"id(improved, nodes=2500, plain, seed={seed})")
            cell = position.board.cell(agent.choose(position))
            asked, missed = asked + 1, missed + (seen.shares[model, seen.cells.index(cell)] == 0)
    assert missed < asked / 10


def features_of(position: Position, reply: int) -> Any:
    """Compute the counted features of a reply with sets of cells."""
    board, side = position.board, position.to_move
    after = position.play(board.name(reply))
    mine, theirs = after.targets(side), after.targets(other(side))
    waiter = position.knight(other(side))
    assert waiter is not None

    def beyond(cells: Any) -> set[int]:
        return {there for one in cells for there in naive.knight_moves(board, one)} & after.open

    def nearness(cell: int) -> float:
        steps = naive.steps_through(board, cell, after.open)
        return sum(1 / (1 + far) for there, far in steps.items() if far > 0)

    across, down = reply % 7 - 3, reply // 7 - 3
    return [
        len(mine) / 4,
        len(theirs) / 4,
        len(beyond(mine)) / 8,
        len(beyond(theirs)) / 8,
        (nearness(reply) - nearness(waiter)) / 4,
        len(set(mine) & (set(theirs) | beyond(theirs))) / 4,
        (across**2 + down**2) / 10,
        float(reply in naive.knight_moves(board, waiter)),
    ]


def test_what_is_known_of_a_reply() -> None:
    """Compare a reply's features with their definitions: counts, the choices of some models, and
    the solver's result.
    """
    judges = [MODELS.index(judge) for judge in JUDGES]
    late = 0
    for position in some_positions(40, 36, 8):
        engine = Engine(position.board)
        seen = reply_features(position, engine, samples=1)
        for way, cell in enumerate(seen.cells):
            row = seen.features[way]
            assert row[:8] == pytest.approx(features_of(position, cell))
            assert row[8:13].tolist() == [float(seen.shares[one, way] > 0) for one in judges]
            after = position.play(position.board.name(cell))
            known = len(position.open) <= TRUTH_CELLS
            lets_go = bool(after.legal_moves) and engine.wins(after)
            assert row[13] == float(known and lets_go)
            assert row[14] == 0 or (known and lets_go)
            assert row[15] == 0 or (known and not lets_go)
            late += known
            share = len(position.open) / 49
            assert row[16:] == pytest.approx([share * row[9], share * row[12]])
    assert late > 20


def test_the_stranger_replies_by_its_weights() -> None:
    """Compare the stranger's probabilities with the softmax of the weighted features."""
    habits = opponent_models.shipped_chances().logit_weights
    for position in some_positions(30, 40, 9):
        seen = reply_features(position, Engine(position.board), samples=1)
        powers = [
            math.exp(sum(w * x for w, x in zip(habits, row, strict=True))) for row in seen.features
        ]
        expected = [power / sum(powers) for power in powers]
        mcts_states = thread_workspace().mcts_states  # with the last position still in it
        compute_probabilities(mcts_states[0], len(expected))
        found = mcts_states["probabilities"][0, : len(expected)]
        assert found == pytest.approx(expected, abs=1e-6)
        assert seen.shares[-1] == pytest.approx(expected, abs=0.02)


def test_the_stranger_alone_asks_its_judges() -> None:
    only_the_stranger = np.arange(len(OPPONENTS)) == len(OPPONENTS) - 1
    for position in some_positions(30, 40, 3):
        workspace, engine = thread_workspace(), Engine(position.board)
        workspace.begin(0, limit=10**9, samples=1)
        workspace.board(position.board)["clock"] = 0
        with engine.lent() as lent:
            records = workspace.records(position.board, lent)
            entry = workspace.ask_opponents(only_the_stranger, records, position)
        replies = len(position.legal_moves)
        weights = entry["weights"][len(OPPONENTS) - 1, :replies].copy()
        features = workspace.mcts_states["features"][0, :replies].copy()
        seen = reply_features(position, engine, samples=1)
        assert (features == seen.features).all()
        assert weights / weights.sum() == pytest.approx(seen.shares[-1])


def damaged(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(opponent_models.FILE.read_text())
    change(found)
    return found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.update(format="knightfall chances 0"), "the format is"),
        (lambda one: one.pop("habits"), '"habits" is missing'),
        (lambda one: one["habits"].pop(), '"habits" must be a list of 18 items, not 17'),
        (lambda one: one["habits"].__setitem__(3, float("nan")), "NaN is not a number"),
        (lambda one: one["habits"].__setitem__(3, 1e6), "from -50 to 50"),
        (lambda one: one["habits"].__setitem__(3, "much"), "not 'much'"),
        (lambda one: one["features"].reverse(), "features of the model are not those"),
        (lambda one: one["opponents"].pop(), "opponents of the model are not those"),
        (lambda one: one["shares"].__setitem__(0, 0.9), "a sum of 1"),
        (lambda one: one.update(more=1), "unknown name 'more'"),
    ],
)
def test_damaged_chances_are_refused(
    change: Callable[[dict[str, Any]], None], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "chances.json"
    file.write_text(json.dumps(damaged(change)))
    with pytest.raises(KnightfallError) as error:
        opponent_models.read_chances(file)
    assert said in str(error.value)
    assert "chances.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "chances.json"
    for text in ("", "[]", "{", '{"format": 1}'):
        file.write_text(text)
        with pytest.raises(KnightfallError, match=r"chances\.json"):
            opponent_models.read_chances(file)


def test_chances_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(len(OPPONENTS)))
    one = opponent_models.Chances(
        rng.normal(size=len(opponent_models.FEATURE_NAMES)), tuple(map(float, shares))
    )
    (tmp_path / "it.json").write_text(json.dumps(opponent_models.chances_json(one, {})))
    again = opponent_models.read_chances(tmp_path / "it.json")
    assert again.logit_weights.tolist() == one.logit_weights.tolist()
    assert again.shares == one.shares


def test_judges_are_models() -> None:
    assert all(isinstance(one, OpponentModel) and one in MODELS for one in JUDGES)
    assert len(OPPONENTS) == len(set(OPPONENTS)) == len(MODELS) + 1
