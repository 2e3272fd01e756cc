"""Your own heuristics: files that work, files that do not, and what is said about them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import naive
import pytest
from helpers import random_positions
from naive_search import reported, search, timeless

import knightfall
from knightfall.agents import agent, parse_agent
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.kernel import interrupt
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget
from knightfall.search.report import Report
from knightfall.search.state import METHODS as EVERY_METHOD
from knightfall.search.think import think

METHODS = tuple(method for method in EVERY_METHOD if method != "any_move")
"""Those that look ahead."""

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
EDGE = Position.from_fen("7/N6/7/3n3/7/7/7 w")
"""First player: three moves, second player: eight."""
SIDES: tuple[Side, Side] = ("w", "b")


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """What a test declares is forgotten after it."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


class Files:
    """A folder to write heuristics into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tick = 1_700_000_000

    def write(self, name: str, text: str) -> str:
        """Write a file, always with a later date than the one before; returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        self._tick += 10
        os.utime(path, (self._tick, self._tick))
        return str(path)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def line_of(path: str, mark: str) -> int:
    """The number of the line that bears a mark."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def refusal(id: str) -> str:
    """What is said about a heuristic that cannot be used."""
    with pytest.raises(KnightfallError) as error:
        evaluator(id)
    assert "\n" not in str(error.value)
    return str(error.value)


def slow_evaluator(id: str) -> Evaluator:
    """An evaluator that runs as plain Python, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeuristicWarning)
        ready = evaluator(id)
    assert not ready.compiled
    return ready


def reports(ready: Evaluator, found: list[Position], budget: Budget) -> list[Report]:
    """What every kind of search reports."""
    return [
        timeless(think(position, method, ready, budget))
        for method in METHODS
        for position in found
        if position.winner is None
    ]


def some_positions() -> list[Position]:
    return random_positions(7, 7, 15, 61, min_placed=2) + random_positions(
        4, 5, 10, 62, min_placed=2
    )


# -- files that work -------------------------------------------------------------------------

GOOD = """
    from math import sqrt

    from knightfall.heuristics import bit, count, each, first, mobility, moves, reach, rest, space

    BONUS = 2

    def better(board, open, me, opp, to_move):
        return mobility(board, open, me) - mobility(board, open, opp)

    def loops(board, open, me, opp, to_move):
        total = 0
        for cell in each(moves(board, open, me)):
            total += mobility(board, open & ~bit(cell), cell)
        left = moves(board, open, opp)
        while left:
            total -= BONUS * space(board, open, first(left))
            left = rest(left)
        return total

    def turn(board, open, me, opp, to_move):
        return count(reach(board, open, me)) + (0.25 if to_move == me else -0.5)

    def far(board, open, me, opp, to_move):
        down = board.row[me] - board.row[opp]
        right = board.column[me] - board.column[opp]
        return sqrt(down * down + right * right)
"""


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
    # Whoever is in the middle of a game is not confused.
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


# -- files that do not work ------------------------------------------------------------------


def test_there_is_no_such_file(files: Files) -> None:
    missing = f"{files.folder}/nowhere.py"
    assert f"there is no file '{missing}'" in refusal(f"{missing}:score")
    assert "there is no file" in refusal(f"{files.folder}/.py:score")


def test_there_is_no_such_function(files: Files) -> None:
    path = files.write("good.py", GOOD)
    assert f"{path} defines no 'beter'; did you mean 'better'?" in refusal(f"{path}:beter")
    assert "defines no 'qqqqqqq'" in refusal(f"{path}:qqqqqqq")
    assert "'BONUS' is not a function" in refusal(f"{path}:BONUS")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("return )", "SyntaxError"),
        ("  return 1", "IndentationError"),
        ("x = 'open", "SyntaxError"),
    ],
)
def test_a_syntax_error_is_told_with_its_line(files: Files, line: str, says: str) -> None:
    path = files.write(
        "bad.py", f"\n\ndef score(board, open, me, opp, to_move):\n {line}\n return 1\n"
    )
    said = refusal(f"{path}:score")
    assert re.match(rf"{re.escape(path)}, line [45]: {says}: ", said), said


def test_an_error_while_a_file_is_loaded_is_told_with_its_line(files: Files) -> None:
    path = files.write("bad.py", "import math\n\nx = math.sqrt(-1)\n")
    assert refusal(f"{path}:score").startswith(f"{path}, line 3: ValueError: ")
    path = files.write("worse.py", "import no_such_module_anywhere\n")
    assert refusal(f"{path}:score").startswith(f"{path}, line 1: ModuleNotFoundError: ")
    path = files.write("quits.py", "import sys\nsys.exit(3)\n")
    assert refusal(f"{path}:score").startswith(f"{path}, line 2: SystemExit: 3")
    # Repaired, it works.
    files.write("bad.py", "def score(board, open, me, opp, to_move):\n    return 7\n")
    assert evaluator(f"{files.folder}/bad.py:score").value(START) == 7


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        "board, open, me, opp",
        "board, open, me, opp, to_move, more",
        "*args",
        "*, a",
    ],
)
def test_a_heuristic_takes_five_arguments(files: Files, parameters: str) -> None:
    path = files.write("wrong.py", f"def score({parameters}):\n    return 1.0\n")
    said = refusal(f"{path}:score")
    assert path in said
    assert "'score' must take exactly (board, open, me, opp, to_move)" in said
    assert said.endswith(f"not ({parameters.removeprefix('*, ')})")


@pytest.mark.parametrize(
    "value",
    ["functools.partial(print, 1)", "Instance()", "Instance().method", "Kind"],
)
def test_what_is_called_like_a_function_but_is_none(files: Files, value: str) -> None:
    path = files.write(
        "odd.py",
        f"""
        import functools

        class Kind:
            def __init__(self, board, open, me, opp, to_move):
                pass

        class Instance:
            def __call__(self, board, open, me, opp, to_move):
                return 1.0

            def method(self, board, open, me, opp, to_move):
                return 1.0

        score = {value}
        """,
    )
    assert path in refusal(f"{path}:score")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "return 1.0 / (mobility(board, open, me) - mobility(board, open, me))",
            "ZeroDivisionError",
        ),
        (
            "return 7 // (mobility(board, open, opp) - mobility(board, open, opp))",
            "ZeroDivisionError",
        ),
        ("return board.row[me + 64]", "IndexError"),
        ("return board.knight[65 + opp] > 0", "IndexError"),
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("assert me == opp, 'they differ'", "AssertionError: they differ"),
    ],
)
def test_an_error_in_a_compiled_heuristic_is_told_with_its_line(
    files: Files, body: str, says: str
) -> None:
    # Only on 5×5, so that it happens in the middle of a search.
    path = files.write(
        "bad.py",
        f"""
        from knightfall.heuristics import count, mobility

        def score(board, open, me, opp, to_move):
            if board.width == 5 and count(open) < 18:
                {body}  # here
            return 1.0
        """,
    )
    ready = evaluator(f"{path}:score")
    assert ready.compiled
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    where = f"heuristic {path}:score, line {line_of(path, 'here')}: {says}"
    for method in METHODS:
        assert think(small, method, ready, Budget(depth=4)).depth == 4
        with pytest.raises(KnightfallError) as error:
            think(small, method, ready, Budget(depth=7))
        assert str(error.value).startswith(where)
        assert "\n" not in str(error.value)
        # Nothing is left behind.
        assert think(START, method, ready, Budget(depth=3)).score == 1.0
    late = Position.from_fen("1***1/1N3/***2/3n1/5 w")
    with pytest.raises(KnightfallError) as error:
        ready.value(late)
    assert str(error.value).startswith(where)
    with pytest.raises(KnightfallError) as error:
        evaluator(f"2*open-{path}:score").value(late)
    assert str(error.value).startswith(where)


@pytest.mark.parametrize(
    "body", ["1.0 / board.row[me]", "7 // (board.width - 7)", "7 % board.row[me]"]
)
def test_a_division_of_the_boards_own_numbers_is_told_with_its_line(
    files: Files, body: str
) -> None:
    path = files.write("bad.py", f"def score(board, open, me, opp, to_move):\n    return {body}\n")
    position = Position.from_fen("1N5/7/7/7/7/4n2/7 w")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # nor should a stray warning be seen
        with pytest.raises(KnightfallError) as error:
            evaluator(f"{path}:score").value(position)
    assert str(error.value).startswith(f"heuristic {path}:score, line 2: ZeroDivisionError")


def test_an_error_that_only_one_question_provokes_is_told_with_its_line(files: Files) -> None:
    path = files.write(
        "picky.py",
        """
        from knightfall.heuristics import count

        def score(board, open, me, opp, to_move):
            if me == 15 and opp == 39 and to_move == 15 and count(open) == 47:
                raise ValueError("first")  # here
            if me == 39 and opp == 15 and to_move == 15 and open & 1:
                raise ValueError("second")  # there
            return 1.0
        """,
    )
    ready = evaluator(f"{path}:score")
    assert ready.compiled
    for side, mark, what in (("w", "here", "first"), ("b", "there", "second")):
        with pytest.raises(KnightfallError) as error:
            ready.value(START, side)
        where = f"heuristic {path}:score, line {line_of(path, mark)}: ValueError: {what}"
        assert str(error.value) == where


def test_an_error_in_the_first_or_second_of_two_files(files: Files) -> None:
    fine = files.write("fine.py", "def score(board, open, me, opp, to_move):\n    return 1.0\n")
    bad = files.write(
        "bad.py",
        """
        def score(board, open, me, opp, to_move):
            if me != opp:
                raise ValueError("x")  # here
            return 1.0
        """,
    )
    for id in (f"{fine}:score+{bad}:score", f"{bad}:score+{fine}:score", f"2*{bad}:score"):
        with pytest.raises(KnightfallError) as error:
            parse_agent(f"id({id}, depth=3)").choose(START)
        where = f"heuristic {bad}:score, line {line_of(bad, 'here')}: ValueError: x"
        assert str(error.value) == where


def test_an_unknown_name_is_told_with_its_line(files: Files) -> None:
    path = files.write(
        "bad.py",
        """
        def score(board, open, me, opp, to_move):
            return mobilty(board, open, me)  # here
        """,
    )
    said = refusal(f"{path}:score")
    assert said.startswith(f"heuristic {path}:score, line {line_of(path, 'here')}: NameError: ")
    assert "mobilty" in said


@pytest.mark.parametrize("value", ["None", "'five'", "1j", "[1.0]"])
def test_what_is_returned_must_be_a_number(files: Files, value: str) -> None:
    path = files.write("bad.py", f"def score(board, open, me, opp, to_move):\n    return {value}\n")
    said = refusal(f"{path}:score")
    assert said.startswith(f"heuristic {path}:score: ")
    assert "Error" in said


@pytest.mark.parametrize(("value", "number"), [("3", 3.0), ("me == me", 1.0), ("open & 0", 0.0)])
def test_any_number_will_do(files: Files, value: str, number: float) -> None:
    path = files.write(
        "fine.py", f"def score(board, open, me, opp, to_move):\n    return {value}\n"
    )
    ready = evaluator(f"{path}:score")
    assert ready.compiled
    assert ready.value(START) == number
    assert type(ready.value(START)) is float


# -- heuristics that stay plain Python -------------------------------------------------------

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


def test_each_file_is_warned_of(files: Files) -> None:
    for name in ("warned_one.py", "warned_two.py"):
        path = files.write(name, SLOW)
        with pytest.warns(HeuristicWarning, match=name):
            evaluator(f"{path}:slow")


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


@pytest.mark.parametrize("method", METHODS)
def test_an_error_in_plain_python_is_told_with_its_line(files: Files, method: str) -> None:
    path = files.write("raising.py", RAISING.format(error="KeyError('lost')"))
    ready = slow_evaluator(f"{path}:score")
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    assert think(small, method, ready, Budget(depth=4)).depth == 4
    for _ in range(2):
        with pytest.raises(KnightfallError) as error:
            think(small, method, ready, Budget(depth=7))
        where = f"heuristic {path}:score, line {line_of(path, 'here')}: KeyError: 'lost'"
        assert str(error.value) == where
    assert think(START, method, ready, Budget(depth=2)).score == 1.0


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
            think(Position.from_fen("5/1N3/5/3n1/5 w"), method, ready, Budget(depth=8))
        assert len(calls) == 100


@pytest.mark.parametrize(
    ("raised", "heard"), [(KeyboardInterrupt, KeyboardInterrupt), (SystemExit, KnightfallError)]
)
def test_a_person_may_interrupt_plain_python_and_nobody_else(
    files: Files, raised: type[BaseException], heard: type[BaseException]
) -> None:
    path = files.write("raising.py", RAISING.format(error=f"{raised.__name__}"))
    ready = slow_evaluator(f"{path}:score")
    for budget in (Budget(depth=7), Budget(depth=7, time=300_000)):
        with pytest.raises(heard):
            think(Position.from_fen("5/1N3/5/3n1/5 w"), "deepening", ready, budget)
    assert think(START, "deepening", ready, Budget(depth=2)).score == 1.0


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


# -- mistakes that must not crash, hang or spread ----------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("mobility(board, me, open)", "IndexError: there is no such cell"),
        ("space(board, open, me + 1000000)", "IndexError: there is no such cell"),
        ("mobility(board, open, me - 50)", "IndexError: there is no such cell"),
        ("count(bit(me + 64))", "IndexError: there is no such cell"),
        ("first(open & ~open)", "ValueError: an empty set has no first cell"),
        ("None", "TypeError: it returned None"),
    ],
)
def test_wrong_arguments_are_errors_not_garbage(files: Files, body: str, said: str) -> None:
    path = files.write(
        "wrong.py",
        f"""
        from knightfall.heuristics import bit, count, first, mobility, space

        def score(board, open, me, opp, to_move):
            return {body}
        """,
    )
    with pytest.raises(KnightfallError, match=said) as error:
        evaluator(f"{path}:score").value(START)
    if body != "None":
        assert "line 5" in str(error.value)


def test_a_heuristic_that_only_raises(files: Files) -> None:
    text = 'def score(board, open, me, opp, to_move):\n    raise ValueError("oops")\n'
    path = files.write("raising.py", text)
    with pytest.raises(KnightfallError, match="line 2: ValueError: oops"):
        evaluator(f"{path}:score")


def test_an_endless_loop_ends_with_the_budget(files: Files) -> None:
    path = files.write(
        "endless.py",
        """
        def score(board, open, me, opp, to_move):
            n = 1
            while n > 0:
                n = n ^ 2
                if board.limit == -1:  # never, but the compiler cannot know
                    return 0.0
            return 1.0
        """,
    )
    with pytest.raises(KnightfallError, match="does not return"):
        think(START, "deepening", evaluator(f"{path}:score"), Budget(time=50_000))


ENDLESS = """
    from time import sleep

    from knightfall.heuristics import count

    OVER = []

    def score(board, open, me, opp, to_move):
        while board.width == 5 and count(open) < 18 and not OVER:
            sleep(0.001)
        return 1.0
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_heuristic_that_never_returns_is_named(
    files: Files, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(interrupt, "PATIENCE", 0.3)
    path = files.write("endless.py", ENDLESS)
    ready = slow_evaluator(f"{path}:score")
    said = f"heuristic {re.escape(path)}:score does not return"
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    assert think(small, method, ready, Budget(depth=4)).depth == 4
    for budget in (Budget(depth=7), Budget(depth=20, nodes=10**6), Budget(time=10**9)):
        if budget.time is None or "deepening" in method:
            with pytest.raises(KnightfallError, match=said):
                think(small, method, ready, budget)
    with pytest.raises(KnightfallError, match=said):
        ready.value(Position.from_fen("1***1/1N3/***2/3n1/5 w"))
    ready.terms[0].python.__globals__["OVER"].append(True)


def test_a_heuristic_that_takes_its_time_is_waited_for(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "PATIENCE", 0.2)
    path = files.write("endless.py", ENDLESS.replace("while", "if").replace("0.001", "0.01"))
    ready = slow_evaluator(f"{path}:score")
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    assert think(small, "alphabeta", ready, Budget(depth=6)).depth == 6


def test_a_compiled_heuristic_that_never_returns_ends_a_command(files: Files) -> None:
    path = files.write(
        "endless.py",
        """
        from knightfall.heuristics import count

        def score(board, open, me, opp, to_move):
            n = 1
            while n > 0 and count(open) < 40:
                n = n ^ 2
                if board.limit == -1:  # never, but the compiler cannot know
                    return 0.0
            return 1.0
        """,
    )
    script = (
        "import sys\n"
        "from knightfall.kernel import interrupt\n"
        "interrupt.PATIENCE = 0.5\n"
        "from knightfall.cli import main\n"
        "main()\n"
    )
    late = "1***1**/7/1N5/***4/7/4n2/***4 w"
    for command in (
        ("analyse", "--agent", f"id({path}:score, nodes=1000000)", START.fen),
        ("eval", "--heuristic", f"{path}:score", late),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *command], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert f"heuristic {path}:score does not return" in done.stderr


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("2**70", None),
        ("2**(me + 56)", None),  # me is 15
        ("1 << (me + 56)", None),
        ("2**-me", None),
        ("2.0**70", 2.0**70),
        ("float(2)**-me", 2.0**-15),
        ("2**me", 2.0**15),
        ("me**2 + 2**40", 225.0 + 2**40),
    ],
)
def test_a_number_too_big_for_machine_code_is_an_error_not_zero(
    files: Files, body: str, value: float | None
) -> None:
    path = files.write(
        "big.py",
        f"def score(board, open, me, opp, to_move):\n    return {body}\n",
    )
    if value is None:
        said = refusal(f"{path}:score")
        assert said.startswith(f"heuristic {path}:score: compiled, whole numbers have 64 bits")
    else:
        assert evaluator(f"{path}:score").compiled
        assert evaluator(f"{path}:score").value(START) == value


def test_one_wrong_function_does_not_spoil_the_others(files: Files) -> None:
    path = files.write(
        "mixed.py",
        """
        from knightfall.heuristics import heuristic

        @heuristic
        def unfinished(board, open):
            return 1

        @heuristic
        def fine(board, open, me, opp, to_move):
            return 2
        """,
    )
    assert evaluator(f"{path}:fine").value(START) == 2
    for id in (f"{path}:unfinished", "unfinished"):
        with pytest.raises(KnightfallError, match="must take exactly"):
            evaluator(id)


def test_the_last_cell_of_64_in_plain_python(files: Files) -> None:
    path = files.write(
        "mixed_keys.py",
        """
        from knightfall.heuristics import each, moves
        from knightfall.heuristics.course import improved

        TABLE = {"a": 1, 2: 3.0}

        def score(board, open, me, opp, to_move):
            ways = len(list(each(moves(board, open, me))))
            return TABLE[2] + ways + improved(board, open, me, opp, to_move)
        """,
    )
    slow = slow_evaluator(f"{path}:score")
    both = slow_evaluator(f"improved+{path}:score")
    # h1 is cell 63: blocked at first, then open.
    for fen, ways, improved in (("8/8/8/8/8/6N1/8/1n5* w", 5, 2), ("8/8/8/8/8/6N1/8/1n6 w", 6, 3)):
        position = Position.from_fen(fen)
        assert slow.value(position) == 3 + ways + improved
        assert both.value(position) == 3 + ways + 2 * improved


def test_loading_leaves_the_callers_modules_alone(files: Files) -> None:
    path = files.write("alone.py", "def score(board, open, me, opp, to_move):\n    return 1\n")
    here = sys.modules["__main__"]
    there = type(sys)("knightfall_test_neighbour")
    there.__file__ = str(files.folder / "knightfall_test_neighbour.py")
    sys.modules["knightfall_test_neighbour"] = there
    try:
        evaluator(f"{path}:score")
        assert sys.modules["__main__"] is here
        assert sys.modules["knightfall_test_neighbour"] is there
    finally:
        del sys.modules["knightfall_test_neighbour"]


@pytest.mark.parametrize("id", [f"{'a' * 5000}.py:x", "~nobody-of-that-name/x.py:f", "1*-x.py:f"])
def test_strange_file_names_are_refused(id: str) -> None:
    with pytest.raises(KnightfallError):
        evaluator(id)


def test_a_file_that_meddles_with_the_path(files: Files) -> None:
    text = "import sys\nsys.path.pop(0)\n\ndef f(board, open, me, opp, to_move):\n    return 1\n"
    assert evaluator(f"{files.write('meddling.py', text)}:f").value(START) == 1
