"""Tests that users' files which exit, crash or hang never take the main process with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import FEN, refused, run

from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.isolation import limits, run_isolated
from knightfall.user_files import UserFunction

SCORE = "def score(board, open, me, opp, to_move):\n    {}\n"

DEEDS = {
    "import os; os._exit(3)": "ended with exit status 3",
    "import os; os._exit(0)": "ended with exit status 0",
    "import ctypes; ctypes.string_at(0)": "was killed by SIGSEGV",
    "raise KeyboardInterrupt": "raises KeyboardInterrupt",
}


@pytest.fixture(params=["a copy", "a fresh process"])
def driver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process one that must survive, so that it tries files in a fork, or in a new
    process.
    """
    monkeypatch.setattr(limits, "_expendable", [])
    others = 1 if request.param == "a copy" else 2
    monkeypatch.setattr(run_isolated.threading, "active_count", lambda: others)


@pytest.mark.usefixtures("driver")
def test_what_a_file_does_when_it_is_loaded(tmp_path: Path) -> None:
    for number, (deed, said) in enumerate(DEEDS.items()):
        file = tmp_path / f"mine_{number}.py"
        file.write_text(f"{deed}\n{SCORE.format('return 1.0')}")
        with pytest.raises(KnightfallError) as failed:
            UserFunction(str(file), "score").load("heuristic")
        assert str(failed.value) == f"{file} cannot be loaded: it {said}"


@pytest.mark.usefixtures("driver")
def test_a_file_that_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_isolated, "LOADING", 0.5)
    file = tmp_path / "mine.py"
    file.write_text("import time\ntime.sleep(1000)\n")
    with pytest.raises(KnightfallError, match=r"it does not come to an end within 0\.5 s"):
        UserFunction(str(file), "score").load("heuristic")


@pytest.mark.usefixtures("driver")
def test_ordinary_files_are_loaded_and_ordinary_errors_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"print('hello')\n{SCORE.format('return 1.0')}")
    assert UserFunction(str(file), "score").load("heuristic")(0, 0, 0, 0, 0) == 1.0
    assert capfd.readouterr() == ("hello\n", "")  # the trial prints nothing
    for text, said in (("sys.exit(1)", "line 1: NameError"), ("x = (", "SyntaxError")):
        bad = tmp_path / "bad.py"
        bad.write_text(text)
        with pytest.raises(KnightfallError, match=said):
            UserFunction(str(bad), "score").load("heuristic")


def test_silent_streams_can_be_read_and_written() -> None:
    code = "import os; from knightfall.isolation.run_isolated import silence_stdio; "
    code += "silence_stdio(); print(os.write(1, b'hello'), os.write(2, b'hello'), flush=True); "
    code += "assert os.read(0, 1) == b''"
    done = subprocess.run([sys.executable, "-c", code], input="x", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


PLAIN = "{'plain': 1}; import os, ctypes; "
"""A heuristic that Numba cannot compile."""


@pytest.mark.usefixtures("driver")
def test_what_a_heuristic_does_as_plain_python(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SCORE.format(PLAIN + "os._exit(9)"))
    with pytest.raises(KnightfallError) as failed:
        evaluator(f"{file}:score")
    assert str(failed.value) == f"heuristic {file}:score ended with exit status 9"
    file.write_text(SCORE.format(PLAIN + "raise KeyboardInterrupt"))
    with pytest.raises(KnightfallError, match="score, line 2: KeyboardInterrupt"):
        evaluator(f"{file}:score")


# -- the commands ------------------------------------------------------------------------------

AGENTS = """
import os, time

def choose(position):
    return position.legal_moves[0]

def leaves(position):
    os._exit(3)

def sleeps(position):
    time.sleep(1000)

def interrupts(position):
    raise KeyboardInterrupt

def deadly(board, open, me, opp, to_move):
    if board.width == 5:
        os._exit(9)
    return len(f"{me}") * 1.0
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(AGENTS)
    return str(file)


def test_agents_of_users_are_asked_elsewhere_by_every_command(mine: str) -> None:
    for name, time, said in (
        ("leaves", "30s", "ended with exit status 3"),
        ("sleeps", "100ms", "did not answer within 0.1 s"),
        ("interrupts", "30s", "KeyboardInterrupt"),
    ):
        text = f"python({mine}:{name}, time={time})"
        assert said in refused("analyse", "--agent", text, FEN)
    leaves = f"python({mine}:leaves)"
    for command in (
        ("watch", leaves, "random", "5x5", "--json"),
        ("grade", leaves, "--openings", "1", "--board", "4x4"),
        ("play", "--against", f"python({mine}:none)", "5x5"),
    ):
        assert mine in refused(*command)
    played = run("watch", f"python({mine}:choose)", "random", "5x5", "--json")
    assert (played.exit_code, played.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_heuristics_of_users_are_asked_elsewhere(mine: str) -> None:
    small = "5/5/1N3/3n1/5 w"
    result = run("eval", "--heuristic", f"{mine}:deadly", FEN, small)
    assert result.exit_code == 2
    assert '"values": {' in result.stdout  # the first position, which does no harm
    assert "deadly) ended with exit status 9" in result.stderr
