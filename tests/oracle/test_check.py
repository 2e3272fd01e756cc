"""Tests of heuristics that keep their promises, and of heuristics that break one each."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import naive
import pytest
from cli_runner import run
from naive_solver import BruteForce

import knightfall as kf
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY, count, mobility
from knightfall.heuristics.evaluator import evaluator
from knightfall.oracle import batch_evaluation
from knightfall.oracle import check as check_module
from knightfall.oracle.batch_evaluation import sample
from knightfall.oracle.check import Check, CheckResult
from knightfall.position import Position

SMALL = "5x5"


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """Undo a test's declarations after it."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture(autouse=True, scope="module")
def the_same_positions() -> Iterator[None]:
    """Make checks draw the same positions for each board, and measure the cost only roughly."""
    with (
        mock.patch.object(check_module, "sample", cache(sample)),
        mock.patch.object(check_module, "TIMING", 0.02),
    ):
        yield


def found(check: Check, about: str) -> CheckResult:
    return next(finding for finding in check.findings if finding.about == about)


def declared(function: Callable[..., Any], **promises: bool) -> str:
    """Register a heuristic in this process, so that a check starts no other; return its id."""
    kf.heuristic(**promises)(function)
    return function.__name__


# -- heuristics that keep their promises -----------------------------------------------------


def test_a_sound_heuristic() -> None:
    def sound(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        return mobility(board, open, me) - mobility(board, open, opp)

    check = kf.check(declared(sound, symmetric=True), board=SMALL)
    assert not check.wrong
    assert [finding.about for finding in check.findings] == [
        *("deterministic", "raises", "finite", "symmetric", "zero-sum", "compiled"),
        *("cost", "truth"),
    ]
    same = "yes: the same when asked again in another order"  # no other process knows it
    assert found(check, "deterministic").text == same
    assert found(check, "zero-sum").text.startswith("yes")
    assert found(check, "compiled").text == "yes"
    assert check.truth is not None
    assert check.truth.auc == check.truth.baseline  # it is `improved`
    assert check.cost is not None
    assert check.cost.ratio > 0
    assert str(check).endswith("no promise is broken")
    for finding in check.findings:
        assert finding.text in str(check)
    assert "<td" in check._repr_html_()


def test_the_auc_is_that_of_all_couples() -> None:
    board = Board.of(4, 4)
    solver = BruteForce(board)
    won: list[float] = []
    lost: list[float] = []
    for position in sample(board, 600):
        value = naive.improved(position, position.to_move)
        (won if solver.plies(position) % 2 else lost).append(value)
    right = sum((a > b) + (a == b) / 2 for a, b in product(won, lost))
    check = kf.check("improved", board=board)
    assert check.truth is not None
    assert check.truth.positions == len(won) + len(lost) == check.positions
    assert check.truth.auc.value == pytest.approx(right / (len(won) * len(lost)))


def test_a_heuristic_with_the_wrong_sign() -> None:
    check = kf.check("-bfs_reach", board=SMALL)
    assert "wrong sign" in found(check, "truth").text
    assert "no better than null" in found(kf.check("null", board=SMALL), "truth").text
    assert not check.wrong


def test_what_need_not_be() -> None:
    def odd(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        return math.inf if count(open) == 12 else float(board.row[me])

    check = kf.check(declared(odd), board=SMALL)
    assert not check.wrong
    example = found(check, "finite").example
    assert example is not None
    assert example["value"] == "inf"
    assert found(check, "symmetric").text.startswith("no: ")
    assert found(check, "zero-sum").text.startswith("no, and it need not be")


# -- promises that are broken ----------------------------------------------------------------


def only_wrong(check: Check, about: str) -> dict[str, Any]:
    """Check that exactly one finding is wrong; return its example."""
    assert [finding.about for finding in check.wrong] == [about]
    assert str(check).endswith(f"wrong: {about}")
    example = check.wrong[0].example
    assert example is not None
    json.dumps(check.to_dict(), allow_nan=False)
    return example


def test_one_that_answers_at_random() -> None:
    def fickle(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        return random.random()

    example = only_wrong(kf.check(declared(fickle), board=SMALL), "deterministic")
    assert example["value"] != example["again"]


def test_one_that_is_another_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import os\n\nSEED = float(os.getpid())\n\n"
        "def score(board, open, me, opp, to_move):\n    return SEED\n"
    )
    check = kf.check(f"{file}:score", board=SMALL)
    example = only_wrong(check, "deterministic")
    assert example["value"] == os.getpid() != example["again"]
    assert "in another process" in check.wrong[0].text


def test_one_that_is_no_number_somewhere() -> None:
    def holes(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        return math.nan if count(open) == 12 else 1.0

    id = declared(holes)
    example = only_wrong(kf.check(id, board=SMALL), "finite")
    assert example["value"] == "nan"
    assert math.isnan(evaluator(id).value(Position.from_fen(example["fen"]), example["for"]))


def test_one_that_is_declared_symmetric_and_is_not() -> None:
    def lopsided(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        return float(board.row[me])

    id = declared(lopsided, symmetric=True)
    example = only_wrong(kf.check(id, board=SMALL), "symmetric")
    for fen, value in (("fen", "value"), ("image", "image_value")):
        position = Position.from_fen(example[fen])
        assert evaluator(id).value(position, example["for"]) == example[value]
    assert example["value"] != example["image_value"]


def test_one_that_raises_an_error_somewhere(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from knightfall.heuristics import count\n\n"
        "def score(board, open, me, opp, to_move):\n"
        "    if count(open) == 9:\n        raise ValueError('nine')\n    return 1.0\n"
    )
    example = only_wrong(kf.check(f"{file}:score", board=SMALL), "raises")
    assert len(Position.from_fen(example["fen"]).open) == 9
    assert example["error"] == f"heuristic {file}:score, line 5: ValueError: nine"


def test_one_that_does_not_return_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    over: list[bool] = []

    def endless(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        while board.width == 5 and count(open) == 9 and not over:
            pass
        return float(len(over))

    monkeypatch.setattr(batch_evaluation, "PATIENCE", 0.3)
    with pytest.warns(match="cannot be compiled"):
        check = kf.check(declared(endless), board=SMALL)
    over.append(True)
    example = only_wrong(check, "returns")
    assert len(Position.from_fen(example["fen"]).open) == 9
    assert "heuristic endless does not return" in example["error"]
    assert (check.cost, check.truth) == (None, None)
    assert found(check, "compiled").text.startswith("no, it runs as plain Python: line ")


@pytest.mark.parametrize("seconds", [1e-5, 4e-5, 1e-4, 1.0])
def test_the_slower_a_heuristic_the_fewer_positions(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the number of positions for a heuristic that takes `seconds` for both players."""
    now = 0.0

    class Timed:
        def __init__(self, viewpoints: list[Any]) -> None:
            self.positions = len(viewpoints) / 2

        def evaluate(self, ready: Any) -> None:
            nonlocal now
            now += 1000.0  # it is compiled

        def run(self, ready: Any) -> None:
            nonlocal now
            now += seconds * self.positions

    monkeypatch.setattr(check_module, "Batch", Timed)
    monkeypatch.setattr(check_module.time, "perf_counter", lambda: now)
    positions = sample(Board.of(4, 5), 30)
    # A rectangle has four symmetries. Beside them there are two evaluations, and three timings.
    affordable = check_module.SECONDS / (9 * seconds)
    found = check_module._affordable(evaluator("improved"), positions)
    assert found == pytest.approx(max(check_module.FEWEST, affordable), abs=1.0)
    assert (found == check_module.FEWEST) == (affordable < check_module.FEWEST)


def test_one_whose_numbers_are_too_big_for_machine_code() -> None:
    def big(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> float:
        total = 1
        for _ in range(count(open) + 30):
            total *= 10
        return total

    example = only_wrong(kf.check(declared(big), board=SMALL), "compiled")
    assert example["python"] == float(10 ** (30 + len(Position.from_fen(example["fen"]).open)))


# -- the command -----------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import math\nfrom knightfall.heuristics import count, mobility\n\n"
        "def good(board, open, me, opp, to_move):\n    return mobility(board, open, me)\n\n"
        "def bad(board, open, me, opp, to_move):\n"
        "    return math.nan if count(open) == 12 else 1.0\n"
    )
    good = run("check", f"{file}:good", "--board", "4x5", "--json")
    assert good.exit_code == 0
    told = json.loads(good.stdout)
    assert (told["ok"], told["board"], told["heuristic"]) == (True, "4x5", f"{file}:good")
    assert set(told["findings"]["finite"]) == {"ok", "text", "example"}
    same = "yes: the same when asked again in another order and in another process"
    assert told["findings"]["deterministic"]["text"] == same
    assert told["truth"]["null"] == {"auc": 0.5, "error": 0.0}
    assert told["cost"]["ratio"] == told["cost"]["nanoseconds"] / told["cost"]["improved"]
    bad = run("check", f"{file}:bad", "--board", "5x5")
    assert bad.exit_code == 1
    assert "WRONG" in bad.stdout
    assert bad.stdout.endswith("\nwrong: finite\n")
    for args in ((f"{file}:none",), ("no_such_heuristic",), ("improved", "--board", "2x2")):
        refused = run("check", *args)
        assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    "said",
    [
        [], "text", {}, {"positions": 1}, {"check": "gASVAAAAAAAAAAAu"},
        {"positions": 10**9, "findings": [], "cost": None, "truth": None},
        {"positions": 9, "findings": [{"about": 1}], "cost": None, "truth": None},
        {"positions": 9, "findings": [], "cost": [1.0], "truth": None},
        {"positions": 9, "findings": [], "cost": None, "truth": [None, 1.0, 1.0, 1.0, 1.0]},
        {"positions": 9, "findings": [], "cost": None, "truth": [5, 0.5]},
    ],
)  # fmt: skip
def test_what_another_process_says_is_not_believed(
    said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a malformed reply of another process is refused, because a heuristic there may
    forge it.
    """
    file = tmp_path / "plain.py"
    text = "return float(__import__('math').floor(me))"  # so that it cannot be compiled
    file.write_text(f"def score(board, open, me, opp, to_move):\n    {text}\n")
    monkeypatch.setattr(check_module, "is_expendable", lambda: False)
    monkeypatch.setattr(check_module, "run_isolated", lambda *args, **more: said)
    with (
        pytest.warns(match="cannot be compiled"),
        pytest.raises(KnightfallError, match="malformed"),
    ):
        check_module.check(f"{file}:score")


def test_what_was_not_measured_in_another_process_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"positions": 9, "findings": [], "cost": None, "truth": None}
    monkeypatch.setattr(check_module, "run_isolated", lambda *args, **more: said)
    found = check_module._checked_elsewhere(evaluator("improved"), Board.named(SMALL))
    assert found == Check("improved", Board.named(SMALL), 9, ())


def test_a_check_in_another_process_arrives_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plain.py"
    text = "return float(__import__('math').floor(me))"  # so that it cannot be compiled
    file.write_text(f"def score(board, open, me, opp, to_move):\n    {text}\n")
    made: list[Check] = []

    def remember(heuristic: str, **options: Any) -> Check:
        made.append(kf.check(heuristic, **options))
        return made[-1]

    def elsewhere(function: Callable[..., Any], *args: str, seconds: float) -> Any:
        with (
            mock.patch.object(check_module, "is_expendable", return_value=True),
            mock.patch.object(check_module, "check", remember),
        ):
            return json.loads(json.dumps(function(*args)))

    monkeypatch.setattr(check_module, "POSITIONS", 40)
    monkeypatch.setattr(check_module, "is_expendable", lambda: False)
    monkeypatch.setattr(check_module, "run_isolated", elsewhere)
    with pytest.warns(match="cannot be compiled"):
        arrived = kf.check(f"{file}:score", board=SMALL)
    assert made == [arrived]
    assert (arrived.heuristic, arrived.board.text) == (f"{file}:score", SMALL)
    assert arrived.cost is not None
    assert arrived.truth is not None


def test_a_check_compiles_no_more_of_ours_than_it_needs(tmp_path: Path) -> None:
    """Check that a check imports only modules that it needs, because importing a module compiles
    it.
    """
    file = tmp_path / "mine.py"
    file.write_text(
        "from knightfall.heuristics import mobility\n"
        "def own(board, open, me, opp, to_move):\n    return float(mobility(board, open, me))\n"
    )
    code = (
        "import sys\n"
        "from knightfall.oracle.check import check\n"
        f"assert not check('{file}:own').wrong\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "knightfall.solver.winloss" in imported  # loaded, because the solver is asked
    for needless in (
        *("heuristics.staged", "heuristics.aggressive", "heuristics.learned", "studies.as_coded"),
        *("course.student_scores.game", "solver.distance", "search.state", "search.table"),
    ):
        assert f"knightfall.{needless}" not in imported
