"""Users' heuristics with errors, and the messages about them."""

from __future__ import annotations

import re
import sys
import warnings

import processes
import pytest
from helpers import at_length
from heuristic_files import GOOD, METHODS, START, Files, line_of, refusal, slow_evaluator

from knightfall.agents import parse_agent
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel import interrupt
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search

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
        at_length(
            "return 7 // (mobility(board, open, opp) - mobility(board, open, opp))",
            "ZeroDivisionError",
        ),
        ("return board.row[me + 64]", "IndexError"),
        at_length("return board.knight[65 + opp] > 0", "IndexError"),
        at_length("raise ValueError('no such thing')", "ValueError: no such thing"),
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
        assert run_search(small, SEARCHES[method], ready, Budget(depth=4)).depth == 4
        with pytest.raises(KnightfallError) as error:
            run_search(small, SEARCHES[method], ready, Budget(depth=7))
        assert str(error.value).startswith(where)
        assert "\n" not in str(error.value)
        # No state remains.
        assert run_search(START, SEARCHES[method], ready, Budget(depth=3)).score == 1.0
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
        warnings.simplefilter("error", RuntimeWarning)  # nor should there be another warning
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


@pytest.mark.parametrize("value", ["1j", "[1.0]"])
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


# -- mistakes that must not crash, hang or spread ----------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("mobility(board, me, open)", "IndexError: there is no such cell"),
        ("space(board, open, me + 1000000)", "IndexError: there is no such cell"),
        ("mobility(board, open, me - 50)", "IndexError: there is no such cell"),
        ("count(bit(me + 64))", "IndexError: there is no such cell"),
        ("first(open & ~open)", "ValueError: an empty set has no first cell"),
        ("None", "TypeError: the heuristic returned None"),
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
        import ctypes

        usleep = ctypes.CDLL(None).usleep  # a thread that never ends must not keep a core busy
        usleep.argtypes, usleep.restype = [ctypes.c_uint], ctypes.c_int

        def score(board, open, me, opp, to_move):
            while usleep(50_000) < 1 and board.limit != -1:  # a signal ends a sleep, too
                pass
            return 1.0
        """,
    )
    ready = evaluator(f"{path}:score")
    assert ready.compiled
    run_search(
        START, SEARCHES["deepening"], evaluator("improved"), Budget(depth=3)
    )  # the first is slow
    with pytest.raises(KnightfallError, match="does not return"):
        run_search(START, SEARCHES["deepening"], ready, Budget(time=1_000_000))


ENDLESS = """
    from time import sleep

    from knightfall.heuristics import count

    OVER = []

    def score(board, open, me, opp, to_move):
        while board.width == 5 and count(open) < 18 and not OVER:
            sleep(0.001)
        return 1.0
"""


def test_a_heuristic_that_never_returns_is_named(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "PATIENCE", 0.3)
    monkeypatch.setattr(interrupt, "GRACE", 0.1)
    path = files.write("endless.py", ENDLESS)
    ready = slow_evaluator(f"{path}:score")
    said = f"heuristic {re.escape(path)}:score does not return"
    small = Position.from_fen("5/1N3/5/3n1/5 w")
    for method in METHODS:
        assert run_search(small, SEARCHES[method], ready, Budget(depth=4)).depth == 4
        with pytest.raises(KnightfallError, match=said):
            run_search(small, SEARCHES[method], ready, Budget(depth=7))
    for budget in (Budget(depth=20, nodes=10**6), Budget(time=10**9)):
        with pytest.raises(KnightfallError, match=said):
            run_search(small, SEARCHES["deepening"], ready, budget)
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
    assert run_search(small, SEARCHES["alphabeta"], ready, Budget(depth=6)).depth == 6


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
        "interrupt.PATIENCE, interrupt.GRACE = 0.5, 0.1\n"
        "from knightfall.cli import main\n"
        "main()\n"
    )
    command = ("analyse", "--agent", f"id({path}:score, nodes=1000000)", START.fen)
    done = processes.run([sys.executable, "-c", script, *command], text=True)
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
        assert said.startswith(f"heuristic {path}:score returns ")
        assert "compiled whole numbers have 64 bits" in said
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
