"""Users' heuristics that cannot be compiled: slower than compiled ones, otherwise the same."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers import random_positions
from heuristic_files import (
    GOOD,
    METHODS,
    SIDES,
    START,
    Files,
    line_of,
    refusal,
    reports,
    slow_evaluator,
    some_positions,
)
from naive_search import timeless

from knightfall.agents import parse_agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_pair
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.c_signature import published
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.user_heuristic import HeuristicWarning, plain_board, warn_once
from knightfall.kernel.bits import count
from knightfall.kernel.rules import geometry
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search

SLOW = """
    from knightfall.heuristics import each, mobility, moves

    class Table:
        weights = {"corner": 1, 2: 3.0}

    def fast(board, open, me, opp, to_move):
        total = 0.0
        for cell in each(moves(board, open, me)):
            total += 3.0 * mobility(board, open, cell)
        return total - mobility(board, open, opp) + (0.5 if to_move == me else 0.0)

    def slow(board, open, me, opp, to_move):
        total = 0.0
        for cell in each(moves(board, open, me)):
            total += Table.weights[2] * mobility(board, open, cell)  # here
        return total - mobility(board, open, opp) + (0.5 if to_move == me else 0.0)
"""


def test_plain_python_searches_node_for_node_like_machine_code(files: Files) -> None:
    path = files.write("slow.py", SLOW)
    fast, slow = evaluator(f"{path}:fast"), slow_evaluator(f"{path}:slow")
    assert fast.compiled
    for position in random_positions(7, 7, 30, 66, min_placed=2):
        for side in SIDES:
            assert slow.value(position, side) == fast.value(position, side)
    for budget in (Budget(depth=3), Budget(depth=20, nodes=250)):
        assert reports(slow, some_positions(), budget) == reports(fast, some_positions(), budget)


SETS = """
    from knightfall.heuristics import bit, count, each, mobility, moves

    class Table:
        weights = {"corner": 1, 2: 3.0}

    def fast(board, open, me, opp, to_move):
        total = 3.0
        for cell in each(moves(board, open, me)):
            total += mobility(board, open & ~bit(cell), cell)
        return total + count(board.touching[me] & ~open) - count(board.knight[me] & ~bit(opp))

    def slow(board, open, me, opp, to_move):
        total = Table.weights[2]
        for cell in each(moves(board, open, me)):
            total += mobility(board, open & ~bit(cell), cell)
        return total + count(board.touching[me] & ~open) - count(board.knight[me] & ~bit(opp))

    def failing(board, open, me, opp, to_move):
        left = open & ~bit(me)
        return 1.0 / (count(left) - count(left))  # here
"""


def test_sets_are_written_alike_in_plain_python(files: Files) -> None:
    path = files.write("sets.py", SETS)
    fast, slow = evaluator(f"{path}:fast"), slow_evaluator(f"{path}:slow")
    assert fast.compiled
    for position in random_positions(8, 8, 30, 68, min_placed=2):
        assert slow.value(position) == fast.value(position)


def test_an_error_after_a_set_is_told_with_its_own_line(files: Files) -> None:
    path = files.write("sets.py", SETS)
    with pytest.raises(KnightfallError) as error:
        evaluator(f"{path}:failing").value(START)
    where = f"heuristic {path}:failing, line {line_of(path, 'here')}: ZeroDivisionError"
    assert str(error.value).startswith(where)


def test_plain_python_in_a_sum(files: Files) -> None:
    path = files.write("slow.py", SLOW)
    slow = slow_evaluator(f"2*improved-1/2*{path}:slow+{path}:fast")
    fast = evaluator(f"2*improved-1/2*{path}:fast+{path}:fast")
    for position in random_positions(7, 7, 15, 67, min_placed=2):
        assert slow.value(position) == pytest.approx(fast.value(position), abs=1e-9)


def test_plain_python_is_warned_of_once(files: Files) -> None:
    path = files.write("warned.py", SLOW)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for id in (f"{path}:slow", f"{path}:slow", f"2*{path}:slow", f"{path}:slow+{path}:slow"):
            assert not evaluator(id).compiled
            parse_agent(f"id({id}, nodes=20)").choose(START)
    ours = [str(one.message) for one in caught if one.category is HeuristicWarning]
    assert len(caught) == len(ours) == 1
    assert ours[0].startswith(f"{path}:slow")
    assert "cannot be compiled by Numba" in ours[0]
    assert re.search(r"plain Python at \d+ µs an evaluation", ours[0])
    assert "\n" not in ours[0]


def test_two_processes_measure_but_one_warning_is_given() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_once("both.py:slow runs as plain Python at 7 µs an evaluation")
        warn_once("both.py:slow runs as plain Python at 4 µs an evaluation")
        warn_once("other.py:slow runs as plain Python at 4 µs an evaluation")
    assert len(told) == 2


def test_nothing_is_said_about_a_file_that_compiles(files: Files) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator(f"{files.write('good.py', GOOD)}:loops").value(START)


RAISING = """
    from knightfall.heuristics import count

    class Uncompilable:
        pass

    def score(board, open, me, opp, to_move):
        if board.width == 5 and count(open) < 18:
            raise {error}  # here
        return 1.0 if Uncompilable else 0.0
"""


def test_an_error_in_plain_python_is_told_with_its_line(files: Files) -> None:
    path = files.write("raising.py", RAISING.format(error="KeyError('lost')"))
    ready = slow_evaluator(f"{path}:score")
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    where = f"heuristic {path}:score, line {line_of(path, 'here')}: KeyError: 'lost'"
    for method in METHODS:
        assert run_search(small, SEARCHES[method], ready, Budget(depth=4)).depth == 4
        for _ in range(2):
            with pytest.raises(KnightfallError) as error:
                run_search(small, SEARCHES[method], ready, Budget(depth=7))
            assert str(error.value) == where, method
        assert run_search(START, SEARCHES[method], ready, Budget(depth=2)).score == 1.0


def test_an_error_in_plain_python_ends_the_search_at_once(files: Files) -> None:
    path = files.write(
        "counting.py",
        """
        CALLS = []

        def score(board, open, me, opp, to_move):
            CALLS.append(me)
            if board.width == 5 and len(CALLS) >= 100:
                raise ValueError("enough")
            return 1.0
        """,
    )
    ready = slow_evaluator(f"{path}:score")
    calls: list[int] = ready.terms[0].python.__globals__["CALLS"]
    for method in METHODS:
        calls.clear()
        with pytest.raises(KnightfallError, match="ValueError: enough"):
            run_search(
                Position.from_fen("5/1N3/5/3n1/5 w"), SEARCHES[method], ready, Budget(depth=8)
            )
        assert len(calls) == 100


@pytest.mark.parametrize(
    ("raised", "heard"), [(KeyboardInterrupt, KeyboardInterrupt), (SystemExit, KnightfallError)]
)
def test_a_person_may_interrupt_plain_python_and_nobody_else(
    files: Files, raised: type[BaseException], heard: type[BaseException]
) -> None:
    path = files.write("raising.py", RAISING.format(error=f"{raised.__name__}"))
    ready = slow_evaluator(f"{path}:score")
    for budget in (Budget(depth=7), Budget(depth=7, time=30_000_000)):
        with pytest.raises(heard):
            run_search(Position.from_fen("5/1N3/5/3n1/5 w"), SEARCHES["deepening"], ready, budget)
    assert run_search(START, SEARCHES["deepening"], ready, Budget(depth=2)).score == 1.0


def test_an_interrupt_that_a_heuristic_makes_up_costs_its_game(files: Files) -> None:
    path = files.write("raising.py", RAISING.format(error="KeyboardInterrupt"))
    culprit = f"id({path}:score, depth=7)"
    slow_evaluator(f"{path}:score")
    with ThreadPoolExecutor(1) as elsewhere:  # as in a worker: not the thread that handles Ctrl-C
        task = PairTask(0, culprit, "random", "5/1N3/5/3n1/5 w", 5)
        pair = elsewhere.submit(play_pair, task).result()
    assert [(game.winner, game.reason) for game in pair.games] == [("b", "crash"), ("w", "crash")]
    where = f"heuristic {path}:score, line {line_of(path, 'here')}: KeyboardInterrupt"
    assert pair.games[0].detail.startswith(where)


def test_plain_python_that_never_works_is_refused_at_once(files: Files) -> None:
    path = files.write(
        "never.py",
        """
        def score(board, open, me, opp, to_move):
            table = {1: 2, "a": 3}
            return table["b"]  # here
        """,
    )
    where = f"heuristic {path}:score, line {line_of(path, 'here')}: KeyError: 'b'"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert refusal(f"{path}:score") == where


def test_plain_python_keeps_a_time_budget_in_many_threads(files: Files) -> None:
    path = files.write("slow.py", SLOW)
    slow_evaluator(f"{path}:slow")
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    alone = timeless(parse_agent(f"id({path}:slow, nodes=200)").analyse(small))
    failures: list[str] = []

    def play(number: int) -> None:
        timed = parse_agent(f"id({path}:slow, time=10ms, seed={number})")
        for _ in range(3):
            if timed.choose(START) not in START.legal_moves:
                failures.append(f"{number}: illegal")
            if timeless(parse_agent(f"id({path}:slow, nodes=200)").analyse(small)) != alone:
                failures.append(f"{number}: not the same answer")

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_published_heuristic_is_compiled_once_whatever_python_calls_it_with() -> None:
    """Check that calls from Python compile one signature, whether the set of cells fits an int64 or
    not.
    """

    @published
    def how_many(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        return float(count(open))

    board = plain_board(geometry(Board.of(8, 8)))
    for cells in ({0, 1}, {0, 63}, set(range(64))):
        assert how_many(board, sum(1 << cell for cell in cells), 0, 1, 0) == len(cells)
    assert len(how_many.signatures) == 1


def test_plain_python_may_import_a_published_heuristic_when_it_is_asked(tmp_path: Path) -> None:
    """Check an uncompiled heuristic that imports a published one when it is called, in a new
    process.
    """
    file = tmp_path / "late.py"
    file.write_text(
        "def score(board, open, me, opp, to_move):\n"
        "    from knightfall.heuristics.aggressive import aggressive\n"
        "    return aggressive(board, open, me, opp, to_move)\n"
    )
    code = (
        "import sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "import knightfall as kf\n"
        f"late = kf.evaluator('{file}:score')\n"
        "for position in map(kf.Position.from_fen, sys.argv[1:]):\n"
        "    value = late.value(position)\n"
        "    assert value == kf.evaluator('aggressive').value(position), position\n"
    )
    fens = [position.fen for position in random_positions(8, 8, 20, 5, min_placed=2)]
    subprocess.run([sys.executable, "-c", code, *fens], check=True)
