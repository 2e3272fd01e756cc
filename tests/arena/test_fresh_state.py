"""Each game begins with a fresh state: results do not depend on earlier games or the runner."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import knightfall as kf
from knightfall.agents import parse_agent
from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import check_agents, play_chunk
from knightfall.arena.runner import InProcess, Pool
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.isolation import sandbox
from knightfall.openings import openings, shuffled
from knightfall.position import Position
from knightfall.solver.engine import Engine, KeptEngines

REMEMBERS = """
import random
from itertools import count
numbers, chance = count(), random.random()

def choose(position):
    moves = position.legal_moves
    return moves[(next(numbers) + random.randrange(3) + int(chance * 3)) % len(moves)]
"""
"""An agent whose moves depend on the number of its calls, on random numbers, and on one drawn while
it is loaded.
"""

OPENINGS = shuffled(openings(Board.of(5, 5)), 3)[:6]


def pairs_of(a: str, b: str = "greedy(improved)") -> list[PairTask]:
    return [PairTask(n, a, b, fen, 100 + n) for n, fen in enumerate(OPENINGS)]


def written(folder: Path, text: str, name: str = "choose", time: str = "60s") -> str:
    file = folder / "mine.py"
    file.write_text(text)
    return str(parse_agent(f"python({file}:{name}, time={time})"))


def moves(record: PairRecord) -> tuple[bytes, bytes]:
    return record.games[0].cells, record.games[1].cells


def anywhere(tasks: list[PairTask], *numbers: int) -> Iterator[list[PairRecord]]:
    """Yield the tasks' records from this process, in both orders, and from pools of workers."""
    yield play_chunk(tasks)
    yield play_chunk(tasks[::-1])[::-1]
    agents = [tasks[0].a, tasks[0].b]
    with InProcess(agents) as runner:
        yield sorted(runner.play(iter(tasks)), key=lambda record: record.task.number)
    for workers in numbers:
        with Pool(workers, agents) as runner:
            yield sorted(runner.play(iter(tasks)), key=lambda record: record.task.number)


def game_by_game(text: str, task: PairTask, game: int) -> bytes:
    """Play one game in this process, executing the file's text anew for it."""
    side = "w" if game == 0 else "b"
    scope: dict[str, object] = {}
    random.seed(0)
    exec(text, scope)
    random.seed(2 * task.seed + (side == "b"))
    other = replace(parse_agent(task.b), seed=task.seed)
    position, cells = Position.from_fen(task.opening), []
    while position.winner is None:
        chosen = scope["choose"](position) if position.to_move == side else other.choose(position)  # type: ignore[operator]
        cells.append(position.board.cell(chosen))
        position = position.play(chosen)
    return bytes(cells)


def test_a_module_begins_each_game_as_it_was_loaded(tmp_path: Path) -> None:
    """Compare games of a file's agent with games before each of which the file's text is executed
    anew.
    """
    tasks = pairs_of(written(tmp_path, REMEMBERS))
    expected = [tuple(game_by_game(REMEMBERS, task, game) for game in (0, 1)) for task in tasks]
    assert len(set(expected)) == len(expected)
    for records in anywhere(tasks, 1, 2, 3):
        assert [moves(record) for record in records] == expected


def test_both_sides_of_a_game_have_a_state_each(tmp_path: Path) -> None:
    agent = written(tmp_path, REMEMBERS)
    task = pairs_of(agent, agent)[0]
    assert play_chunk([task]) == play_chunk([task])
    counting = "n = 0\ndef choose(position):\n    global n\n    n += 1\n"
    counting += (
        "    assert n == (25 - len(position.open)) // 2, n\n    return position.legal_moves[0]\n"
    )
    agent = written(tmp_path, counting)
    (record,) = play_chunk([PairTask(0, agent, agent, OPENINGS[0], 1)])
    assert [game.detail for game in record.games] == ["", ""]


CLASSES = """
from pathlib import Path

def note(*words):
    with Path(__file__).with_name("log").open("a") as file:
        print(*words, file=file)

class Player:
    def __init__(self):
        self.asked = 0
        note("made")

    def new_game(self):
        note("begins", self.asked)

    def choose(self, position):
        self.asked += 1
        note("asked", self.asked)
        return position.legal_moves[0]

    def __call__(self, position):
        raise AssertionError("choose comes first")

class Called:
    def __call__(self, position):
        return position.legal_moves[-1]

class Neither:
    pass

class Needy:
    def __init__(self, depth):
        pass

    def choose(self, position):
        return position.legal_moves[0]

number = 7
"""


@pytest.mark.usefixtures("no_sandbox")
def test_a_class_makes_one_instance_a_game_and_is_told_when_it_begins(tmp_path: Path) -> None:
    tasks = pairs_of(written(tmp_path, CLASSES, "Player"))[:3]
    games = [game for record in play_chunk(tasks) for game in record.games]
    assert {game.reason for game in games} == {"no moves"}
    lives = (tmp_path / "log").read_text().split("made\n")
    assert lives.pop(0) == ""
    for number, (life, game) in enumerate(zip(lives, games, strict=True)):
        moved = len(game.cells[number % 2 :: 2])  # it has the first move in every other game
        assert life.splitlines() == ["begins 0", *(f"asked {n + 1}" for n in range(moved))]


def test_an_instance_without_choose_is_called(tmp_path: Path) -> None:
    position = Position.from_fen(OPENINGS[0])
    agent = kf.agent(written(tmp_path, CLASSES, "Called"))
    assert agent.choose(position) == position.legal_moves[-1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Neither", "class 'Neither' has no method choose"),
        ("number", "'number' is neither a function nor a class"),
        ("Needy", "mine.py:Needy: TypeError: .*missing 1 required positional argument"),
    ],
)
def test_what_cannot_play_is_refused_before_the_run(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(KnightfallError, match=said):
        check_agents([written(tmp_path, CLASSES, name)])


def test_outside_of_a_run_each_game_begins_afresh_too(tmp_path: Path) -> None:
    """Check that an agent that is called directly keeps its state only within a game."""
    text = "n = 0\ndef choose(position):\n    global n\n    n += 1\n"
    text += "    return position.legal_moves[n % len(position.legal_moves)]\n"
    agent, start = kf.agent(written(tmp_path, text)), Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    first = agent.choose(start)
    assert first == agent.choose(start) == start.legal_moves[1]
    later = start.play(first)
    later = later.play(later.legal_moves[0])
    assert agent.choose(later) == later.legal_moves[2]
    assert agent.choose(start) == first


def test_a_module_with_threads_of_its_own_begins_afresh_too(tmp_path: Path) -> None:
    """Check a module that starts a thread: it cannot be forked, so it is imported anew for each
    game.
    """
    threads = "import threading\n"
    threads += "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    agent = written(tmp_path, threads + REMEMBERS)
    tasks = pairs_of(agent)[:2]
    for record, task in zip(play_chunk(tasks), tasks, strict=True):
        assert moves(record) == tuple(game_by_game(REMEMBERS, task, game) for game in (0, 1))


COUNTS = """
asked = 0

def score(board, open, me, opp, to_move):
    global asked
    asked += 1
    return float(hash((asked % 7, me, opp)) % 5)
"""
"""A heuristic that Numba cannot compile, for it writes to a global."""


@pytest.mark.filterwarnings("ignore::knightfall.heuristics.user_heuristic.HeuristicWarning")
def test_a_heuristic_that_remembers_begins_each_game_afresh(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COUNTS)
    agent = str(parse_agent(f"alphabeta({tmp_path}/mine.py:score, depth=2)"))
    first, *others = anywhere(pairs_of(agent), 2)
    for records in others:
        assert [moves(record) for record in records] == [moves(record) for record in first]


@pytest.mark.parametrize(
    "agent",
    [
        "champion(nodes=40000)",
        "perfect(nodes=3000, swindle)",
        "perfect(nodes=3000)",
        "id(improved, nodes=300)",
    ],
)
def test_built_in_agents_play_the_same_whatever_was_played_before(agent: str) -> None:
    """Compare pairs played alone with the same pairs played in a row, all with one seed."""
    fens = shuffled(openings(Board.of(7, 7)), 5)[:2]
    opponents = ("student(improved, time=1ms)", "id(improved, nodes=200)")
    tasks = [PairTask(n, agent, opponents[n % 2], fen, 9) for n, fen in enumerate([*fens, *fens])]
    alone = [play_chunk([task])[0] for task in tasks]
    together = play_chunk(tasks[::-1])[::-1]
    assert alone == together


def test_what_was_proven_by_the_clock_does_not_outlive_its_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Check that solvers with a time budget begin each game without the proofs of earlier games."""
    used: list[KeptEngines] = []
    on = KeptEngines.on

    def noting(kept: KeptEngines, board: Board) -> Engine:
        if not any(kept is one for one in used):
            used.append(kept)
        return on(kept, board)

    monkeypatch.setattr(KeptEngines, "on", noting)
    for agent in ("perfect(time=5ms)", "champion(time=5ms)"):
        used.clear()
        play_chunk(pairs_of(agent, "random")[:2])
        in_games = used[1:]  # the first value is from the preparation of the run
        assert len(in_games) == 4, agent


def test_a_grade_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    agent = written(tmp_path, REMEMBERS)
    one, two = (
        kf.grade(agent, openings=6, board="5x5", workers=workers, progress=False)
        for workers in (1, 2)
    )
    assert one.wins_kept == two.wins_kept
    assert one.first_blunder == two.first_blunder


LEAVES = """
import os, time

def processes():
    return [name for name in os.listdir("/proc") if name.isdigit()]

def choose(position):
    until = time.monotonic() + 20  # those of the last game may still be ending
    while len(found := processes()) > 3 and time.monotonic() < until:
        time.sleep(0.01)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execvp("sleep", ["sleep", "1000"])
    os.wait()
    raise ValueError(f"there are {len(found)} processes")
"""
HELPED = """
import subprocess, sys
COUNTS = "for number, _ in enumerate(sys.stdin): print(number, flush=True)"
helper = subprocess.Popen([sys.executable, "-c", "import sys\\n" + COUNTS], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def choose(position):
    print(file=helper.stdin, flush=True)
    raise ValueError(f"asked {helper.stdout.readline()}")
"""


@pytest.mark.skipif(sandbox.kind() == "none", reason="needs a sandbox")
@pytest.mark.parametrize("text", [LEAVES, HELPED])
def test_processes_end_with_the_game(text: str, tmp_path: Path) -> None:
    """Check a process that leaves its session, and one that was started while the file was
    loaded.
    """
    records = play_chunk(pairs_of(written(tmp_path, text), "random")[:3])
    details = {game.detail for record in records for game in record.games}
    assert len(details) == 1
    assert "there are 3" in (said := details.pop()) or "asked 0" in said
