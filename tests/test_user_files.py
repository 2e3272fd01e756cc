"""Users' files: their dependencies, when they are loaded again, and their git revisions."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from cli_runner import answer, refused, run

from knightfall.agents import DeepeningAgent, parse_agent
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena.plan import Match, Plan, check_files, enter, files_of
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import parse_heuristic
from knightfall.position import Position
from knightfall.user_files import UserFunction

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")

SCORE = "\n\ndef score(board, open, me, opp, to_move):\n    return {}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


# -- one file, many spellings ----------------------------------------------------------------


def test_spellings_of_one_path_are_one(folder: Path) -> None:
    one = parse_agent("id(mine.py:score)")
    for path in ("./mine.py", "there/../mine.py", ".//mine.py"):
        assert parse_agent(f"id({path}:score)") == one
        assert str(parse_agent(f"python({path}:score)")) == "python(mine.py:score, time=1s)"
    assert one.absolute() == parse_agent(f"id({folder}/mine.py:score)")
    assert enter(["./mine.py:score"]) == enter(["mine.py:score"])


def test_a_folder_that_is_a_link_is_not_left_again(folder: Path) -> None:
    (folder / "far" / "inside").mkdir(parents=True)
    (folder / "near").symlink_to(folder / "far" / "inside")
    write("far/mine.py", SCORE.format(1.0))
    write("mine.py", SCORE.format(2.0))
    assert evaluator("near/../mine.py:score").value(START) == 1.0
    assert parse_agent("id(near/../mine.py:score)").absolute().files == (
        str(folder / "near/../mine.py"),
    )


# -- dependencies of a file ------------------------------------------------------------------


def everything() -> None:
    write("mine.py", "import json\nfrom helper import WEIGHT\nfrom parts.more import MORE\n")
    with open("mine.py", "a") as file:
        file.write(
            "EXTRA = json.load(open('extra.json'))\n" + SCORE.format("WEIGHT + MORE + EXTRA")
        )
    write("helper.py", "WEIGHT = 1\n")
    write("parts/__init__.py", "")
    write("parts/more.py", "MORE = 10\n")
    write("extra.json", "100")


EVERYTHING = ("extra.json", "helper.py", "mine.py", "parts/__init__.py", "parts/more.py")


def test_what_a_file_imports_and_reads_belongs_to_it(folder: Path) -> None:
    everything()
    expected = tuple(str(folder / name) for name in EVERYTHING)
    assert UserFunction("mine.py", "score").sources() == expected
    assert tuple(files_of(enter(["id(mine.py:score)"]))) == expected
    assert not {"helper", "parts", "parts.more"} & set(sys.modules)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("helper.py", "WEIGHT = 2\n", 112),  # the same size as before, and in the same second
        ("parts/more.py", "MORE = 20\n", 121),
        ("extra.json", "200", 211),
    ],
)
def test_an_edit_in_any_of_them_counts(name: str, text: str, value: float) -> None:
    everything()
    entrants = enter(["id(mine.py:score)", "id(improved)"])
    plan = Plan("match", entrants, (Match(0, 1),), pairs=1, files=files_of(entrants))
    assert evaluator("mine.py:score").value(START) == 111
    check_files(plan.files)
    write(name, text)
    assert evaluator("mine.py:score").value(START) == value
    changed = files_of(entrants)
    assert {path for path in changed if changed[path] != plan.files[path]} == {
        os.path.abspath(name)
    }
    with pytest.raises(KnightfallError, match=f"{name} was edited during the run"):
        check_files(plan.files)


def test_a_neighbour_that_was_imported_before_is_read_as_it_is_now(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("knightfall_test_notes.py", "WEIGHT = 1\n")
    write("mine.py", "from knightfall_test_notes import WEIGHT\n" + SCORE.format("WEIGHT"))
    monkeypatch.syspath_prepend(str(folder))
    import knightfall_test_notes  # type: ignore[import-not-found]

    write("knightfall_test_notes.py", "WEIGHT = 22\n")
    assert evaluator("mine.py:score").value(START) == 22
    assert sys.modules["knightfall_test_notes"] is knightfall_test_notes
    assert str(folder / "knightfall_test_notes.py") in UserFunction("mine.py", "score").sources()
    del sys.modules["knightfall_test_notes"]


def test_a_neighbour_may_import_the_file_that_imports_it() -> None:
    write("mine.py", "from near import WEIGHT\n" + SCORE.format("WEIGHT"))
    write("near.py", "import mine\n\nWEIGHT = 3.0\n")
    assert evaluator("mine.py:score").value(START) == 3.0
    assert "mine" not in sys.modules


def test_what_a_file_writes_does_not_belong_to_it(folder: Path) -> None:
    text = "open('log', 'w').write('1')\nopen('log').read()\nimport colorsys\n"
    write("mine.py", text + SCORE.format(1))
    assert UserFunction("mine.py", "score").sources() == (str(folder / "mine.py"),)


GOES_ELSEWHERE = (
    "import os\nos.chdir('/')\nos.environ.clear()\n"
    "os.environ.update(KNIGHTFALL_DATA_DIR='/nowhere', OWN='1')\n"
    "from knightfall.heuristics.vocabulary import mobility\n"
)


def test_a_file_that_goes_elsewhere_leaves_knightfall_where_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KNIGHTFALL_DATA_DIR", raising=False)
    monkeypatch.setenv("OWN", "0")
    before = dict(os.environ)
    write("mine.py", GOES_ELSEWHERE + SCORE.format("mobility(board, open, me)"))
    assert UserFunction("mine.py", "score").sources() == (str(folder / "mine.py"),)
    assert (dict(os.environ), os.getcwd()) == (before, str(folder))


def test_an_agent_that_goes_elsewhere_does_so_in_its_own_process(
    folder: Path, own_cache: Path
) -> None:
    # What it chose when it was loaded holds in its own process, except for knightfall's folders.
    text = "    from knightfall.user_folders import cache_folder\n"
    text += f"    assert str(cache_folder()) == {str(own_cache)!r}\n"
    text += "    assert os.getcwd() == '/' and os.environ['OWN'] == '1'\n"
    text += "    return position.legal_moves[0]\n"
    write("mine.py", GOES_ELSEWHERE + f"def choose(position):\n{text}")
    assert list(files_of(enter(["python(mine.py:choose)"]))) == [str(folder / "mine.py")]
    with closing(RemotePlayer(parse_agent("python(mine.py:choose)").absolute())) as player:
        assert player.analyse(START).move in START.legal_moves


def test_the_files_of_an_agent_are_found_without_running_it_here(folder: Path) -> None:
    write("helper.py", "NAME = 1\n")
    text = f"import os, helper\nassert os.getpid() != {os.getpid()}\n"
    write("mine.py", text + "def choose(position):\n    return position.legal_moves[0]\n")
    found = files_of(enter(["python(mine.py:choose)"]))
    assert list(found) == [str(folder / "helper.py"), str(folder / "mine.py")]
    write("broken.py", "1 / 0\n")
    with pytest.raises(KnightfallError, match="line 1: ZeroDivisionError"):
        files_of(enter(["python(broken.py:choose)"]))


def test_an_edited_helper_makes_another_run() -> None:
    write("helper.py", "WEIGHT = 1\n")
    write("mine.py", "from helper import WEIGHT\n" + SCORE.format("WEIGHT * me"))
    command = ("match", "mine.py:score", "random", "--pairs", "1", "--board", "4x4")
    command += ("--workers", "0", "--store", "runs.db", "--json")
    first = answer(*command)["run"]
    assert answer(*command)["run"] == first
    write("helper.py", "WEIGHT = -1\n")
    assert answer(*command)["run"] != first


# -- git revisions ---------------------------------------------------------------------------


def git(*command: str) -> str:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    done = subprocess.run(["git", *who, *command], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(value: int) -> str:
    """Commit mine/heuristic.py and its helper with a version number in both."""
    write("mine/helper.py", f"WEIGHT = {value}\n")
    write("mine/heuristic.py", "from helper import WEIGHT\n" + SCORE.format("WEIGHT"))
    git("add", "-A")
    git("commit", "-qm", "a version")
    return git("rev-parse", "--short=12", "HEAD")


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[str, str]:
    """Create a repository with two commits of a heuristic and a third, uncommitted version."""
    monkeypatch.setenv("KNIGHTFALL_CACHE_DIR", str(folder / "cache"))
    write("repository/.gitattributes", "mine export-ignore\n")
    monkeypatch.chdir(folder / "repository")
    git("init", "-q", ".")
    both = commit(1), commit(2)
    write("mine/helper.py", "WEIGHT = 3\n")
    return both


def test_a_file_as_it_was(versions: tuple[str, str]) -> None:
    def value(revision: str) -> float:
        return evaluator(f"mine/heuristic.py:score{revision}").value(START)

    assert [value(""), value("@HEAD"), value("@HEAD~1")] == [3, 2, 1]
    assert value(f"@{versions[0]}") == 1
    assert evaluator("2*mine/heuristic.py:score@HEAD -mine/heuristic.py:score").value(START) == 1
    assert git("status", "--short") == "M mine/helper.py"
    # The commit is stored: HEAD may move, and the file is deleted here.
    agent = parse_agent("mine/heuristic.py:score@HEAD").absolute()
    path = os.path.abspath("mine/heuristic.py")
    assert str(agent) == f"id({path}:score@{versions[1]}, nodes=2500)"
    assert parse_agent(str(agent)) == agent
    git("rm", "-qf", "mine/heuristic.py")
    write("mine/new.py", "")
    git("commit", "-qam", "gone")
    assert agent.evaluator.value(START) == 2


def test_a_former_version_is_known_by_its_commit(versions: tuple[str, str], folder: Path) -> None:
    assert files_of(enter(["mine/heuristic.py:score@HEAD"])) == {}
    told = answer(
        *("match", "mine/heuristic.py:score", "mine/heuristic.py:score@HEAD", "--pairs", "1"),
        *("--board", "4x4", "--workers", "0", "--store", str(folder / "runs.db"), "--json"),
    )
    assert [agent["name"] for agent in told["agents"]] == [
        "id(mine/heuristic.py:score, nodes=2500)",
        "id(mine/heuristic.py:score@HEAD, nodes=2500)",
    ]


def test_a_former_version_of_an_agent(versions: tuple[str, str]) -> None:
    write("agent.py", "def choose(position):\n    return position.legal_moves[0]\n")
    git("add", "-A")
    git("commit", "-qm", "an agent")
    write("agent.py", "def choose(position):\n    return position.legal_moves[-1]\n")
    for revision, place in (("", -1), ("@HEAD", 0)):
        chosen = parse_agent(f"python(agent.py:choose{revision})").choose(START)
        assert chosen == START.legal_moves[place]


def test_versions_there_are_not(
    versions: tuple[str, str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def said(id: str) -> str:
        return refused("eval", "--heuristic", id, START.fen)

    assert "git has no revision 'v9' here" in said("mine/heuristic.py:score@v9")
    write("mine/late.py", SCORE.format(1))
    assert "there was no such file at" in said("mine/late.py:score@HEAD")
    assert "defines no 'scor'; did you mean 'score'?" in said("mine/heuristic.py:scor@HEAD")
    monkeypatch.chdir(folder)
    write("outside/mine.py", SCORE.format(1))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder))
    assert "is not in a git repository" in said("outside/mine.py:score@HEAD")
    assert "is not in a git repository" in said("nowhere/mine.py:score@HEAD")
    monkeypatch.setenv("PATH", "")
    assert "git is not installed" in said("outside/mine.py:score@HEAD")


def test_a_mistake_in_a_former_version_is_told_with_its_line(versions: tuple[str, str]) -> None:
    write("bad.py", "\n1 / 0\n")
    git("add", "-A")
    git("commit", "-qm", "bad")
    write("bad.py", SCORE.format(1))
    said = refused("eval", "--heuristic", "bad.py:score@HEAD", START.fen)
    assert "bad.py@HEAD, line 2: ZeroDivisionError" in said


# -- a heuristic where an agent is expected --------------------------------------------------


@pytest.mark.parametrize(
    "text", ["improved", "mine.py:score", "2*open-improved", "static_reach(1/3)", "mine.py:f@HEAD"]
)
def test_a_heuristic_alone_is_an_agent(text: str) -> None:
    assert parse_agent(text) == parse_agent(f"id({text})")
    budget = parse_agent(f"id({text})").budget
    assert parse_agent(text) == DeepeningAgent(str(parse_heuristic(text)), budget)


def test_a_command_takes_a_heuristic_for_an_agent() -> None:
    write("mine.py", SCORE.format("me"))
    told = run("analyse", "--agent", "mine.py:score", START.fen)
    assert told.exit_code == 0
    assert "id(mine.py:score, nodes=2500)" in told.stdout
