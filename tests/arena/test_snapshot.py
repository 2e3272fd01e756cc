"""Runs that play from copies of the users' files."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from knightfall.agents import cached_agent
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena.api import league, match
from knightfall.arena.plan import PairRecord, PairTask, Plan, _hash_at, match_plan
from knightfall.arena.play import play_pair
from knightfall.arena.runner import SnapshotRunner
from knightfall.arena.snapshot import Snapshot, remove_leftovers, run_snapshot
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.isolation import sandbox
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
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
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
def test_agents_that_edit_themselves_and_others_end_nothing(folder: Path) -> None:
    """Check it in workers; `make torture` has all commands, and the kinds of edits."""
    (folder / "evil.py").write_text(EDITS_ITSELF.format(folder=str(folder)))
    (folder / "good.py").write_text(f"import good_helper\n{GOOD}")
    (folder / "good_helper.py").write_text("")
    said: list[str] = []
    agents = ["python(evil.py:choose)", "python(good.py:choose)", "random"]
    before = match_plan(agents[1], "random", pairs=1, board="4x4").files
    report = league(
        agents, pairs=1, board="4x4", workers=2, store=folder / "s.sqlite",
        notice=said.append, progress=False,
    )  # fmt: skip
    with Store.open(folder / "s.sqlite", read_only=True) as store:
        run = store.last()
        assert run.finished is not None
        assert run.played == 3
        # The hash is that of the text from the beginning, and nobody has lost by a crash.
        assert before.items() <= dict(run.plan.files).items()
        endings = {game.reason for pair in run.pairs() for game in pair.games}
        assert endings == {"no moves"}
        assert not any("snapshots" in agent.agent for agent in run.plan.entrants)
    assert report.to_dict()
    (edited,) = (text for text in said if "edited during the run" in text)
    assert "evil.py and 2 more files were edited" in edited
    assert not left_over()


CHANGES: dict[str, Callable[[Path], object]] = {
    "is appended to": lambda path: path.write_text(path.read_text() + "#"),
    "has the same size": lambda path: path.write_text(path.read_text().replace("1", "2")),
    "is renamed": lambda path: path.rename(path.with_name("other.py")),
    "is deleted": lambda path: path.unlink(),
    "becomes a link": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
    "becomes a folder": lambda path: (path.unlink(), path.mkdir()),
    "becomes a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "becomes endless": lambda path: os.truncate(path, 1 << 42),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_is_named_whatever_became_of_it(change: str, folder: Path, tmp_path: Path) -> None:
    """Check that comparing files with their copies ends soon; an endless one would take an hour."""
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("1")
    (folder / "mine.py").write_text(f"X = open({str(elsewhere)!r}).read()\n{MINE}")
    with run_snapshot() as taken:
        match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
        CHANGES[change](folder / "helper.py")
        CHANGES[change](elsewhere)
        (mine, others) = taken.edited()
    assert mine.startswith(f"{folder}/helper.py was edited during the run")
    assert others.startswith(f"{elsewhere} was edited during the run")
    assert not left_over()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("change", CHANGES)
def test_agents_are_found_whatever_became_of_their_file(change: str, folder: Path) -> None:
    """Check an agent that is named for the first time when its file has changed already."""
    with run_snapshot() as taken:
        before = taken.agent(f"greedy({folder}/mine.py:score)")
        CHANGES[change](folder / "mine.py")
        after = taken.agent(f"id({folder}/mine.py:score, depth=2)")
    assert cached_agent(before).files == cached_agent(after).files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder: Path) -> None:
    """Check the moment between looking at a file and opening it."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(KnightfallError, match="a pipe, not a file"):
        _hash_at(str(pipe), 0, 0)


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


def test_a_file_whose_name_is_not_text_is_refused(folder: Path) -> None:
    named = os.fsdecode(b"b\xff.py")
    (folder / named).write_text(GOOD)
    with pytest.raises(KnightfallError, match=r"not valid UTF-8: .*b.*\.py.*: rename the file"):
        match(f"python({named}:choose)", "random", pairs=1, board="4x4", progress=False)


# -- agents in a sandbox -----------------------------------------------------------------------

READS = """from pathlib import Path
NEAR = Path(__file__).with_name("near.txt").read_text()
HERE = open("here.txt").read()

def choose(position):
    raise ValueError(NEAR + HERE)
"""

STEALS = """import json, os, sys, time
MINE = os.path.abspath(__file__)
NAMED = [MINE.removesuffix({mine!r}) + {secret!r}]
GOT = ""
for path in (*NAMED, MINE.replace("agent.py", "linked.py")):
    try:
        with open(path) as file:
            GOT += file.read()
    except OSError:
        pass

def lie():
    frame = sys._getframe()
    while "word" not in frame.f_locals:
        frame = frame.f_back
    answer = {{"files": [MINE, *NAMED], "warnings": [], "forks": True}}
    return frame.f_locals["word"] + b" " + json.dumps(answer).encode() + b"\\n"

if {lies} and GOT == "":
    for fd in range(3, 20):
        try:
            os.write(fd, lie())
        except OSError:
            pass
    time.sleep(100)

def choose(position):
    raise ValueError("got " + GOT)
if False:
    import linked
"""

needs_sandbox = pytest.mark.skipif(sandbox.kind() == "none", reason="needs a sandbox")


def messages(plan: Plan, taken: Snapshot) -> set[str]:
    """Return the last words of the messages with which games of a plan end."""
    games = [game for task in taken.plan(plan).tasks() for game in play_pair(task).games]
    return {game.detail.split()[-1] for game in games if game.detail}


@needs_sandbox
def test_in_a_sandbox_an_agent_keeps_the_files_that_it_read(folder: Path) -> None:
    (folder / "agent.py").write_text(READS)
    with run_snapshot() as taken:
        plan = match_plan("python(agent.py:choose)", "random", pairs=1, board="5x5")
        (folder / "near.txt").write_text("edited")
        (folder / "here.txt").write_text("edited")
        assert messages(plan, taken) == {"10100"}
        assert len(taken.edited()) == 1


@needs_sandbox
@pytest.mark.parametrize("lies", [False, True])
def test_no_file_from_elsewhere_gets_among_the_copies(
    lies: bool, folder: Path, tmp_path: Path
) -> None:
    """Check a link in the agent's folder, and an agent that says it had read another file."""
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    (folder / "linked.py").symlink_to(secret)
    mine = str(folder / "agent.py")
    (folder / "agent.py").write_text(STEALS.format(mine=mine, secret=str(secret), lies=lies))
    with run_snapshot() as taken:
        try:
            plan = match_plan("python(agent.py:choose)", "random", pairs=1, board="5x5")
            said = messages(plan, taken) if sandbox.kind() == "bubblewrap" and not lies else {"got"}
        except KnightfallError:  # the process that plays lied, too
            said = {"got"}
        copies = [path for path in Path(taken._folder).rglob("*") if path.is_file()]
        assert not any(path.read_text() == "hidden" for path in copies if not path.is_symlink())
    assert said == {"got"}


def test_no_copy_is_made_outside_of_the_folder_of_copies(folder: Path, tmp_path: Path) -> None:
    """Check paths with which an agent would let its files be copied over others."""
    (folder / "agent.py").write_text(GOOD)
    with run_snapshot() as taken:
        agent = taken.agent("python(agent.py:choose)")
        tree = cached_agent(agent).files[0].removesuffix(str(folder / "agent.py"))
        (tmp_path / "x").write_text("mine")
        for path in (
            f"{tree}{'/..' * tree.count('/')}{tmp_path}/x",
            f"{tree}/{tmp_path}/x",
            f"{tmp_path}/knightfall-copy-a/0{tmp_path}/x",
        ):
            with suppress(KnightfallError):
                taken._hash(path, [str(folder)])
        assert not taken._copies.keys() & {str(tmp_path / "x")}
        assert {path.name for path in tmp_path.iterdir()} <= {"mine", "x", "cache"}


@pytest.mark.parametrize("name", ["huge.bin", "agent.py", "helper.py"])
def test_a_huge_file_is_refused(name: str, folder: Path) -> None:
    """Check a file that the agent reads while it is loaded, its own, and one that it imports."""
    reads = "from pathlib import Path\nopen(Path(__file__).with_name('huge.bin'), 'rb').read(1)\n"
    (folder / "agent.py").write_text(f"import helper\n{reads if '.bin' in name else ''}{GOOD}")
    (folder / name).touch()
    os.truncate(folder / name, 1 << 42)
    with pytest.raises(KnightfallError, match=r" has 4,398,046,511,104 bytes; an agent can"):
        match("python(agent.py:choose)", "random", pairs=1, board="4x4", progress=False)


def test_a_huge_submission_is_refused(folder: Path) -> None:
    """Check that it is not copied: it would fill the disk."""
    (folder / "game_agent.py").touch()
    os.truncate(folder / "game_agent.py", 1 << 42)
    with run_snapshot() as taken, pytest.raises(KnightfallError, match="File too large"):
        taken.agent("course:.")


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
