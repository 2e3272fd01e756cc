"""Users' heuristics in files that work."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import Any

import naive
import pytest
from helpers import random_positions
from heuristic_files import GOOD, SIDES, START, Files, refusal, reports, some_positions
from naive_search import reported, search

import knightfall
from knightfall.agents import agent, parse_agent
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget

EDGE = Position.from_fen("7/N6/7/3n3/7/7/7 w")
"""A position in which the first player has three moves, the second player eight."""


# -- files that work -------------------------------------------------------------------------


def loops(position: Position, me: Side) -> float:
    board = position.board
    total = 0
    for cell in naive.moves(position, me):
        total += len(naive.knight_moves(board, cell) & position.open - {cell})
    for cell in naive.moves(position, other(me)):
        total -= 2 * len(naive.touching(board, cell) & position.open)
    return total


def turn(position: Position, me: Side) -> float:
    reached = naive.steps_through(position.board, naive.place(position, me), position.open)
    return len(reached) - 1 + (0.25 if position.to_move == me else -0.5)


def far(position: Position, me: Side) -> float:
    (r1, c1), (r2, c2) = (
        naive.spot(position.board, naive.place(position, side)) for side in (me, other(me))
    )
    return float((r1 - r2) ** 2 + (c1 - c2) ** 2) ** 0.5


@pytest.mark.parametrize(
    ("name", "slow"),
    [("better", naive.improved), ("loops", loops), ("turn", turn), ("far", far)],
)
def test_a_file_is_worth_what_it_says(files: Files, name: str, slow: naive.Naive) -> None:
    id = f"{files.write('good.py', GOOD)}:{name}"
    ready = evaluator(id)
    assert ready.compiled
    assert ready.id == id
    for position in random_positions(7, 7, 40, 63, min_placed=2):
        for side in SIDES:
            assert ready.value(position, side) == pytest.approx(slow(position, side), abs=1e-9)
    for position in some_positions():
        if position.winner is None:
            tree = search(position, 2, slow)
            report = parse_agent(f"minimax({id}, depth=2)").analyse(position)
            assert reported(report) == pytest.approx(tree.value, abs=1e-9)


def test_a_file_searches_node_for_node_like_the_heuristic_it_repeats(files: Files) -> None:
    mine, built_in = evaluator(f"{files.write('good.py', GOOD)}:better"), evaluator("improved")
    for budget in (Budget(depth=4), Budget(depth=30, nodes=700)):
        assert reports(mine, some_positions(), budget) == reports(
            built_in, some_positions(), budget
        )


def test_a_sum_of_files_and_ids(files: Files) -> None:
    path = files.write("my-good file.py", GOOD)
    ready = evaluator(f"2*{path}:turn-1/2*improved-{path}:far")
    assert ready.compiled
    assert not ready.symmetric
    for position in random_positions(7, 7, 30, 64, min_placed=2):
        for side in SIDES:
            expected = 2 * turn(position, side) - naive.improved(position, side) / 2
            assert ready.value(position, side) == pytest.approx(
                expected - far(position, side), abs=1e-9
            )


def test_a_file_may_be_named_from_the_home_or_the_current_folder(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("sub/good.py", GOOD)
    monkeypatch.chdir(files.folder)
    monkeypatch.setenv("HOME", str(files.folder))
    assert evaluator("sub/good.py:better").value(EDGE) == 3 - 8
    assert evaluator("./sub/good.py:better").value(EDGE) == 3 - 8
    assert evaluator("~/sub/good.py:better").value(EDGE) == 3 - 8
    assert parse_agent("id(sub/good.py:better)").heuristic == "sub/good.py:better"


def test_a_file_that_was_edited_is_read_again(files: Files) -> None:
    def says(number: float) -> str:
        return files.write(
            "mine.py", f"def score(board, open, me, opp, to_move):\n    return {number}\n"
        )

    path = says(1.5)
    thinker = parse_agent(f"minimax({path}:score, depth=1)")
    first = evaluator(f"{path}:score")
    assert first.value(START) == 1.5
    assert evaluator(f"{path}:score") is first
    assert thinker.analyse(START).score == 1.5
    says(2.5)
    assert evaluator(f"{path}:score").value(START) == 2.5
    assert parse_agent(f"minimax({path}:score, depth=1)").analyse(START).score == 2.5
    # Evaluators that are in use are not affected.
    assert first.value(START) == 1.5
    assert thinker.analyse(START).score == 1.5
    assert evaluator(f"3*{path}:score-open").value(START) == 7.5 - 6


NEIGHBOUR = """
    import numba

    @numba.njit
    def worth(cell):
        return {factor} * cell
"""


USES_NEIGHBOUR = """
    from {module} import worth

    def score(board, open, me, opp, to_move):
        return worth(me) - worth(opp)
"""


def test_a_file_may_import_its_neighbour(files: Files) -> None:
    files.write("one/knightfall_test_beside.py", NEIGHBOUR.format(factor=10))
    path = files.write("one/mine.py", USES_NEIGHBOUR.format(module="knightfall_test_beside"))
    before = list(sys.path)
    assert evaluator(f"{path}:score").value(START) == 10 * (15 - 39)
    assert evaluator(f"{path}:score").compiled
    assert sys.path == before


def test_everyone_has_their_own_neighbours(files: Files) -> None:
    paths = []
    for folder, factor in (("ann", 1), ("bob", 100)):
        files.write(f"{folder}/knightfall_test_common.py", NEIGHBOUR.format(factor=factor))
        paths.append(
            files.write(f"{folder}/mine.py", USES_NEIGHBOUR.format(module="knightfall_test_common"))
        )
    ann, bob = (evaluator(f"{path}:score").value(START) for path in paths)
    assert (ann, bob) == (15 - 39, 100 * (15 - 39))


# -- declared heuristics ---------------------------------------------------------------------


def test_the_example_of_the_documentation_works(files: Files) -> None:
    import knightfall.heuristics

    assert knightfall.heuristics.__doc__ is not None
    example = re.search(r"::\n\n(.*?)\n\n\S", knightfall.heuristics.__doc__, re.DOTALL)
    assert example is not None
    path = files.write("example.py", textwrap.dedent(example[1]) + "\n")
    ready = evaluator(f"{path}:cosy")
    assert ready.compiled
    for position in random_positions(7, 7, 20, 65, min_placed=2):
        expected = naive.open8(position, "w") - 0.5 * naive.M(position, "b")
        assert ready.value(position, "w") == expected
    assert REGISTRY["cosy"].study == "user"
    assert evaluator("2*cosy").value(START) == 2 * ready.value(START)


def test_a_promise_of_symmetry_is_believed(files: Files) -> None:
    text = """
        from knightfall.heuristics import heuristic, mobility

        @heuristic{promise}
        def {name}(board, open, me, opp, to_move):
            return mobility(board, open, me) - mobility(board, open, opp)
    """
    path = files.write("p.py", text.format(promise="(symmetric=True)", name="promised"))
    promised = evaluator(f"{path}:promised")
    path = files.write("q.py", text.format(promise="", name="unpromised"))
    unpromised = evaluator(f"{path}:unpromised")
    assert (promised.symmetric, unpromised.symmetric) == (True, False)
    assert not evaluator(f"{path}:unpromised+improved").symmetric
    starts = [Position.start(5, 5), Position.from_fen("5/1N3/5/5/5[n] b")]
    budget = Budget(depth=4)
    same = reports(promised, starts, budget)
    assert same == reports(evaluator("improved"), starts, budget)
    assert [report.score for report in reports(unpromised, starts, budget)] == [
        report.score for report in same
    ]


def test_a_notebook_may_declare_a_name_anew() -> None:
    def declare(number: float) -> None:
        @knightfall.heuristic
        def sketch(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
            return number

    declare(3.0)
    assert evaluator("sketch").value(START) == 3.0
    declare(4.0)
    assert evaluator("sketch").value(START) == 4.0
    assert evaluator("2*sketch").value(START) == 8.0
    assert agent("minimax(sketch, depth=2)").analyse(START).score == 4.0


def test_a_published_name_is_not_given_away(files: Files) -> None:
    path = files.write(
        "thief.py",
        """
        from knightfall.heuristics import heuristic

        @heuristic
        def improved(board, open, me, opp, to_move):
            return 1.0
        """,
    )
    said = refusal(f"{path}:improved")
    assert path in said
    assert "'improved' is taken by the course study" in said
    assert evaluator("improved").value(EDGE) == 3 - 8
