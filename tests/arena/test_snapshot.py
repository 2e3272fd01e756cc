"""Runs that play from copies of the users' files."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from knightfall.agents import cached_agent
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena.plan import PairRecord, PairTask, match_plan
from knightfall.arena.play import play_pair
from knightfall.arena.snapshot import Snapshot, SnapshotRunner
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.isolation.parallel_map import Closing
from knightfall.position import Position

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
    monkeypatch.chdir(place)
    for name, text in (
        ("mine.py", MINE), ("helper.py", "WEIGHT = 1\n"), ("near.txt", "10"), ("here.txt", "100"),
        ("read_later.txt", "x"),
    ):  # fmt: skip
        (place / name).write_text(text)
    return place


def value_of(agent: str) -> float:
    return evaluator(cached_agent(agent).heuristic).value(START)


def test_copies_keep_what_a_file_imports_and_reads(folder: Path, tmp_path: Path) -> None:
    plan = match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
    original = plan.entrants[0].agent
    taken = Snapshot(str(tmp_path / "copies"), plan.files, [original])
    taken.enter()
    copied = taken.plan(plan)
    for name, text in (
        ("mine.py", "raise SystemExit\n"), ("helper.py", "WEIGHT = 2\n"), ("near.txt", "20"),
        ("here.txt", "200"),
    ):  # fmt: skip
        (folder / name).write_text(text)
    assert value_of(copied.entrants[0].agent) == 111
    assert taken.not_copied(copied.entrants) == {}
    # The plan is unchanged, and texts name the original files.
    assert [one.name for one in copied.entrants] == [one.name for one in plan.entrants]
    assert taken.original(copied.entrants[0].agent) == original
    # Neighbouring files are found at the same relative paths.
    assert Path("read_later.txt").read_text() == "x"
    assert os.path.samefile("..", tmp_path / "copies" / str(tmp_path)[1:])


def test_a_file_read_by_its_full_path_is_not_copied(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("1")
    (folder / "mine.py").write_text(f"X = open({str(elsewhere)!r}).read()\n{MINE}")
    plan = match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
    taken = Snapshot(str(tmp_path / "copies"), plan.files, [plan.entrants[0].agent])
    taken.enter()
    assert list(taken.not_copied(taken.plan(plan).entrants)) == [str(elsewhere)]


def test_a_file_that_was_edited_is_refused(folder: Path, tmp_path: Path) -> None:
    plan = match_plan("greedy(mine.py:score)", "random", pairs=2, board="5x5")
    (folder / "helper.py").write_text("WEIGHT = 3\n")
    with pytest.raises(KnightfallError, match=r"helper\.py was edited since the run began"):
        Snapshot(str(tmp_path / "copies"), plan.files, [plan.entrants[0].agent])


class PlayHere(Closing):
    """A runner in this process that remembers the agents it played."""

    def __init__(self) -> None:
        self.agents: set[str] = set()

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        for task in tasks:
            self.agents |= {task.a, task.b}
            yield play_pair(task)


def test_records_are_those_of_the_plan(folder: Path, tmp_path: Path) -> None:
    plan = match_plan("greedy(mine.py:score)", "random", pairs=3, board="5x5")
    expected = [play_pair(task) for task in plan.tasks()]
    taken = Snapshot(str(tmp_path / "copies"), plan.files, [plan.entrants[0].agent])
    taken.enter()
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


def test_a_submission_keeps_what_lies_beside_it(tmp_path: Path) -> None:
    """Check that a run copies the files beside a submission, even one that it opens only to choose
    a move.
    """
    handed_in = tmp_path / "handed_in"
    (handed_in / "data").mkdir(parents=True)
    (handed_in / "game_agent.py").write_text(SUBMISSION)
    (handed_in / "data" / "wanted.txt").write_text("0")
    plan = match_plan(f"course:{handed_in}", "random", pairs=1, board="5x5")
    agents = [one.agent for one in plan.entrants]
    taken = Snapshot(str(tmp_path / "copies"), plan.files, agents)
    (handed_in / "game_agent.py").write_text("raise SystemExit\n")
    (handed_in / "data" / "wanted.txt").write_text("-1")
    playing = RemotePlayer(cached_agent(taken.agent(agents[0])))
    try:
        move = playing.analyse(START).move
    finally:
        playing.close()
    # The course's first cell is the upper left one: row by row, and along a row.
    cells = [START.board.cell(name) for name in START.legal_moves]
    assert START.board.cell(move) == min(cells)
