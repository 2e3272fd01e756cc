"""Runs that play from copies of the users' files."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from knightfall.agents import cached_agent
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena.api import league, match
from knightfall.arena.plan import PairRecord, PairTask, match_plan
from knightfall.arena.play import play_pair
from knightfall.arena.runner import SnapshotRunner
from knightfall.arena.snapshot import Snapshot, remove_leftovers, run_snapshot
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.isolation.parallel_map import Closing
from knightfall.position import Position
from knightfall.user_files import original_paths, snapshots_folder

MINE = """from pathlib import Path
from helper import WEIGHT
NEAR = float(Path(__file__).with_name("near.txt").read_text())
HERE = float(open("here.txt").read())

def score(board, open, me, opp, to_move):
    return WEIGHT + NEAR + HERE
"""
START = Position.from_fen("5/1N3/5/3n1/5 w")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    monkeypatch.setenv("KNIGHTFALL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(place)
    for name, text in (
        ("mine.py", MINE), ("helper.py", "WEIGHT = 1\n"), ("near.txt", "10"), ("here.txt", "100"),
        ("read_later.txt", "x"),
    ):  # fmt: skip
        (place / name).write_text(text)
    return place


def value_of(agent: str) -> float:
    return evaluator(cached_agent(agent).heuristic).value(START)


def left_over() -> list[Path]:
    """Return the snapshots that exist."""
    return [*snapshots_folder().glob("run_*")]


def test_copies_keep_what_a_file_imports_and_reads(folder: Path, tmp_path: Path) -> None:
    with run_snapshot() as taken:
        taken.enter()
        mine = f"greedy({folder}/mine.py:score)"
        plan = match_plan(mine, "random", pairs=2, board="5x5")
        # The working folder is a copy, but the plan names the original files.
        assert original_paths(plan.entrants[0].agent) == plan.entrants[0].agent
        assert {Path(path).name for path in plan.files} == {
            "mine.py", "helper.py", "near.txt", "here.txt"
        }  # fmt: skip
        assert {Path(path).parent for path in plan.files} == {folder}
        for name, text in (
            ("mine.py", "raise SystemExit\n"), ("helper.py", "WEIGHT = 2\n"), ("near.txt", "20"),
            ("here.txt", "200"),
        ):  # fmt: skip
            (folder / name).write_text(text)
        copied = taken.plan(plan)
        assert value_of(copied.entrants[0].agent) == 111
        # Names and texts are those of the original files.
        assert [one.name for one in copied.entrants] == [one.name for one in plan.entrants]
        assert original_paths(copied.entrants[0].agent) == plan.entrants[0].agent
        # Neighbouring files are found at the same relative paths.
        assert Path("read_later.txt").read_text() == "x"
        assert len(taken.edited()) == 1
    assert Path.cwd() == folder
    assert not left_over()


def test_a_file_read_by_its_full_path_is_not_copied(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("1")
    (folder / "mine.py").write_text(f"X = open({str(elsewhere)!r}).read()\n{MINE}")
    with run_snapshot() as taken:
        plan = match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
        assert str(elsewhere) in plan.files
        elsewhere.write_text("2")
        (said,) = taken.edited()
    assert said.startswith(f"{elsewhere} was edited during the run; it is not among the copies")


def test_a_plan_of_another_text_is_refused(folder: Path) -> None:
    plan = match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
    (folder / "helper.py").write_text("WEIGHT = 3\n")
    with (
        run_snapshot() as taken,
        pytest.raises(KnightfallError, match=r"helper\.py was edited since the run began"),
    ):
        taken.plan(plan)


class PlayHere(Closing):
    """A runner in this process that remembers the agents it played."""

    def __init__(self) -> None:
        self.agents: set[str] = set()

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        for task in tasks:
            self.agents |= {task.a, task.b}
            yield play_pair(task)


def test_records_are_those_of_the_plan(folder: Path) -> None:
    plan = match_plan("greedy(mine.py:score)", "random", pairs=3, board="5x5")
    expected = [play_pair(task) for task in plan.tasks()]
    with run_snapshot() as taken:
        runner = PlayHere()
        assert list(SnapshotRunner(runner, taken).play(plan.tasks())) == expected
        assert runner.agents == {one.agent for one in taken.plan(plan).entrants}
        assert plan.entrants[0].agent not in runner.agents


SUBMISSION = """class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        with open("data/wanted.txt") as file:
            wanted = int(file.read())
        return sorted(game.get_legal_moves())[wanted]
"""


def test_a_submission_keeps_what_lies_beside_it(folder: Path) -> None:
    """Check that a run copies the files beside a submission, even one that it opens only to choose
    a move.
    """
    handed_in = folder / "handed_in"
    (handed_in / "data").mkdir(parents=True)
    (handed_in / "game_agent.py").write_text(SUBMISSION)
    (handed_in / "data" / "wanted.txt").write_text("0")
    with run_snapshot() as taken:
        plan = match_plan(f"course:{handed_in}", "random", pairs=1, board="5x5")
        (handed_in / "game_agent.py").write_text("raise SystemExit\n")
        (handed_in / "data" / "wanted.txt").write_text("-1")
        playing = RemotePlayer(cached_agent(taken.agent(plan.entrants[0].agent)))
        with closing(playing):
            move = playing.analyse(START).move
    # The course's first cell is the upper left one: row by row, and along a row.
    cells = [START.board.cell(name) for name in START.legal_moves]
    assert START.board.cell(move) == min(cells)


# -- agents that edit files ------------------------------------------------------------------

EDITS_ITSELF = """
from pathlib import Path
import os
HERE = Path({folder!r}, "evil.py")
with HERE.open("a") as file:
    file.write("# edited when loaded\\n")
def choose(position):
    with HERE.open("a") as file:
        file.write("# edited in a game\\n")
    for path in Path({folder!r}).glob("good*.py"):
        path.write_text("raise SystemExit\\n")
    return position.legal_moves[0]
"""
GOOD = "def choose(position):\n    return position.legal_moves[-1]\n"


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize("workers", [0, 2])
def test_agents_that_edit_themselves_and_others_end_nothing(folder: Path, workers: int) -> None:
    (folder / "evil.py").write_text(EDITS_ITSELF.format(folder=str(folder)))
    (folder / "good.py").write_text(GOOD)
    said: list[str] = []
    agents = ["python(evil.py:choose)", "python(good.py:choose)", "random"]
    before = match_plan(agents[1], "random", pairs=1, board="4x4").files
    report = league(
        agents, pairs=2, board="4x4", workers=workers, store=folder / "s.sqlite",
        notice=said.append, progress=False,
    )  # fmt: skip
    with Store.open(folder / "s.sqlite", read_only=True) as store:
        run = store.last()
        assert run.finished is not None
        assert run.played == 6
        # The hash is that of the text from the beginning, and nobody has lost by a crash.
        assert before.items() <= dict(run.plan.files).items()
        endings = {game.reason for pair in run.pairs() for game in pair.games}
        assert endings == {"no moves"}
        assert not any("snapshots" in agent.agent for agent in run.plan.entrants)
    assert report.to_dict()
    assert sum("edited during the run" in text for text in said) == 1
    assert not left_over()


@pytest.mark.usefixtures("no_sandbox")
def test_all_files_are_copied_before_any_code_runs(folder: Path) -> None:
    """Check that an agent which ruins another one's file while it is loaded comes too late."""
    (folder / "good.py").write_text(f"import good_helper\n{GOOD}")
    (folder / "good_helper.py").write_text("")
    (folder / "evil.py").write_text(
        f"from pathlib import Path\n"
        f"for path in Path({str(folder)!r}).glob('good*.py'):\n    path.unlink()\n{GOOD}"
    )
    agents = ["python(evil.py:choose)", "python(good.py:choose)"]
    report = match(*agents, pairs=1, board="4x4", workers=0, progress=False)
    assert report.to_dict()["pairs"] == 1


@pytest.mark.usefixtures("no_sandbox")
def test_a_file_that_is_renamed_away_ends_nothing(folder: Path) -> None:
    (folder / "gone.py").write_text(
        f"import os\ndef choose(position):\n"
        f"    if os.path.exists({str(folder / 'gone.py')!r}):\n"
        f"        os.rename({str(folder / 'gone.py')!r}, {str(folder / 'other.py')!r})\n"
        f"    return position.legal_moves[0]\n"
    )
    report = match(
        "python(gone.py:choose)", "random", pairs=3, board="4x4", workers=0, progress=False
    )
    assert report.to_dict()["pairs"] == 3
    assert (folder / "other.py").exists()


TELLS = """import os, sys
with open("/proc/self/cmdline") as file:
    line = file.read()
def choose(position):
    raise ValueError(line.replace("\\0", " ") + " from " + __file__ + " in " + os.getcwd())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize("kind", ["python", "course"])
def test_an_agent_is_told_neither_the_original_nor_the_snapshot(folder: Path, kind: str) -> None:
    """Check what the agent itself sees; in the stored message its paths are the original's."""
    seen = folder / "seen.txt"
    if kind == "python":
        text = TELLS.replace("    raise ValueError(", f"    open({str(seen)!r}, 'w').write(")
        text += "    return position.legal_moves[0]\n"
        agent = "python(mine_too.py:choose)"
    else:
        text = (
            "import os\nclass AlphaBetaPlayer:\n    def get_move(self, game, time_left):\n"
            "        line = open('/proc/self/cmdline').read()\n"
            f"        open({str(seen)!r}, 'w').write(line + __file__)\n"
            "        return game.get_legal_moves()[0]\n"
        )
        agent = "course:mine_too.py"
    (folder / "mine_too.py").write_text(text)
    match(agent, "random", pairs=1, board="5x5", progress=False)
    told = seen.read_text().replace(f" in {folder}", "")
    assert "mine_too.py" in told
    assert str(folder) not in told.replace("/0" + str(folder), "")
    assert str(snapshots_folder()) not in told


def test_a_message_names_the_original(folder: Path) -> None:
    (folder / "tells.py").write_text("def choose(position):\n    raise ValueError(__file__)\n")
    match(
        "python(tells.py:choose)", "random", pairs=1, board="4x4", store="s.sqlite", progress=False
    )
    with Store.open("s.sqlite", read_only=True) as store:
        details = {game.detail for pair in store.last().pairs() for game in pair.games}
    assert len(details) == 1
    assert str(folder / "tells.py") in details.pop()


# -- the folder ------------------------------------------------------------------------------


def test_the_copies_are_private_and_removed(folder: Path) -> None:
    def interrupted() -> None:
        with run_snapshot():
            match_plan("greedy(mine.py:score)", "random", pairs=1)
            (there,) = left_over()
            for place in (there, there.parent):
                assert stat.S_IMODE(place.stat().st_mode) == 0o700
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not left_over()


KILLED = """
import sys
from knightfall.arena.plan import match_plan
from knightfall.arena.snapshot import run_snapshot
with run_snapshot():
    match_plan("greedy(mine.py:score)", "random", pairs=1)
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_later_command_removes_what_a_killed_one_left(folder: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    try:
        for one in running:
            assert one.stdout is not None
            assert one.stdout.readline() == b"ready\n"
        assert len(left_over()) == 2
        running[0].kill()
        running[0].wait()
        remove_leftovers()
        assert len(left_over()) == 1, "the snapshot of the other command is in use"
    finally:
        for one in running:
            one.kill()
            one.communicate()
    taken = Snapshot()
    taken.agent(match_plan("greedy(mine.py:score)", "random", pairs=1).entrants[0].agent)
    assert len(left_over()) == 1
    taken.close()
    assert not left_over()


INTERRUPTED = """
import os, signal
from knightfall.isolation import sigint
sigint.exit_on_sigint()
from knightfall.arena.plan import match_plan
from knightfall.arena.snapshot import run_snapshot
with run_snapshot():
    match_plan("greedy(mine.py:score)", "random", pairs=1)
    os.kill(os.getpid(), signal.SIGINT)
    raise SystemExit("not reached")
"""


def test_ctrl_c_removes_the_copies_of_a_command_that_is_starting(folder: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], check=False, capture_output=True)
    assert ended.returncode == 130
    assert not left_over()
    assert os.listdir(snapshots_folder())  # there was a snapshot: the lock of its folder is left
