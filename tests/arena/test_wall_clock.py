"""Games by the wall clock on a busy machine: games lost for want of a core are replayed, runs are
refused, and reports withhold verdicts.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_helpers import ENGINE, VERSIONS, fake_game, fake_plan

from knightfall.agents import Agent, parse_agent, time_control
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena import play as playing
from knightfall.arena.plan import Entrant, GameRecord, PairRecord, PairTask, tournament_matches
from knightfall.arena.play import REPLAYS, play_chunk, play_pair
from knightfall.arena.reports import report_on
from knightfall.arena.store import Store
from knightfall.board import Board
from knightfall.errors import AgentFailure, RunnerFailure
from knightfall.isolation import host_process
from knightfall.position import Position
from knightfall.search.budget import Report

OPENING = "5/5/1N3/3n1/5 w"
START = Position.from_fen(OPENING)
WALL, TICKS = "course(it.py, time=150ms)", "course(it.py, time=150ms, clock=ticks)"

CROWD = """
import os, time
def crowded(rivals, seconds):
    # Each has a session of its own: Linux shares a core out to sessions first.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    parent, until = os.getpid(), time.monotonic() + seconds
    for _ in range(rivals):
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == parent and time.monotonic() < until:
                pass
            os._exit(0)
"""
pinned = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who waited for what")


# -- load of the machine -------------------------------------------------------------------------


@pinned
def test_the_share_of_a_core_is_what_rivals_leave() -> None:
    """Check that `core_share` is below a half while three other processes compete for one core."""
    script = (
        f"{CROWD}\ncrowded(3, 5)\n"
        "from knightfall.processor_cores import core_share, seconds_waited\n"
        "before = seconds_waited()\nprint(core_share(0.1), seconds_waited() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    share, waited = map(float, done.stdout.split())
    assert share < 0.5
    assert waited > 0.1


BUSY = """
    until = time.process_time() + 0.3
    while time.process_time() < until: pass
"""
HELPED = """
    for _ in range(8):
        if os.fork() == 0:
            until = time.process_time() + 0.1
            while time.process_time() < until: pass
            os._exit(0)
    try:
        while True: os.waitpid(-1, os.WNOHANG)
    except ChildProcessError: pass
"""
# The system does not add the time of children that nobody waits for to that of their parent.
FORGETS = "    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
ENDS_LATE = pytest.mark.parametrize(
    ("body", "crowd", "starved"),
    [
        # Alone only: beside other tests, the scheduler sometimes gives the agent the core at once.
        pytest.param(BUSY, 8, True, id="it waits for others", marks=pytest.mark.slow),
        pytest.param("    time.sleep(0.8)", 0, False, id="it sleeps"),
        pytest.param(HELPED, 0, False, id="it waits for its own helpers"),
        pytest.param(FORGETS + HELPED, 0, False, id="it waits for helpers that leave no trace"),
    ],
)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Use only the core of the crowd, in this thread and in processes that it starts."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@pinned
@ENDS_LATE
def test_a_late_answer_is_the_machine_s_fault_only_if_others_had_the_core(
    body: str, crowd: int, starved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_process, "GRACE", 30.0)  # so that even a late check warns
    if not crowd:
        monkeypatch.setattr(host_process, "core_share", lambda: 1.0)
    file = tmp_path / "mine.py"
    head = "import os, signal, time\ndef choose(position):\n"
    file.write_text(f"{head}{body}\n    return position.legal_moves[0]\n")
    player = RemotePlayer(parse_agent(f"python({file}:choose, time=400ms)"))
    with on_one_core():  # an agent cannot choose one
        player.prepare(START.board)
    crowded = [sys.executable, "-c", f"{CROWD}\ncrowded({crowd}, 60)\nprint()\ntime.sleep(60)"]
    with subprocess.Popen(crowded, stdout=subprocess.PIPE, start_new_session=True) as others:
        assert others.stdout is not None
        others.stdout.readline()
        try:
            with on_one_core(), pytest.raises(AgentFailure) as failure:
                player.analyse(START)
        finally:
            os.killpg(others.pid, signal.SIGKILL)
    player.close()
    assert failure.value.reason == "timeout"
    assert failure.value.starved == starved


LATE = """
import time
def choose(position):
    with open({seen!r}, "a") as file: file.write("late ")
    time.sleep({sleep})
    return position.legal_moves[0]
"""


@pinned
@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize("sleep", [0.2, 60])
def test_an_agent_that_had_no_core_plays_its_game_again(
    sleep: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check it with an agent in a process of its own, which ends before the load is measured."""
    monkeypatch.setattr(host_process.Taken, "late_by_machine", lambda self, limit: True)
    monkeypatch.setattr(host_process, "core_share", lambda: 1.0 * bool(_processes_of(file)))
    monkeypatch.setattr(host_process, "GRACE", 0.1 if sleep > 1 else 30.0)
    monkeypatch.setattr(playing, "REPLAYS", 1)
    file, seen = tmp_path / "mine.py", tmp_path / "seen"
    file.write_text(LATE.format(seen=str(seen), sleep=sleep))
    task = PairTask(0, f"python({file}:choose, time=50ms)", "random", OPENING, 1)
    (pair,) = play_chunk([task])
    assert [game.reason for game in pair.games] == ["timeout"] * 2
    assert seen.read_text().split() == ["late"] * 4


def _processes_of(file: Path) -> list[Path]:
    """Return the processes with this file among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(file).encode() in (process / "cmdline").read_bytes():
                found.append(process)
    return found


# -- replayed games ------------------------------------------------------------------------------


class Late:
    """A player whose first answers are late, either because it had no core (`starved`) or by its
    own fault.
    """

    def __init__(self, times: int, starved: bool) -> None:
        self.times, self.starved, self.games = times, starved, 0

    def prepare(self, board: Board) -> None:
        self.games += 1

    def analyse(self, position: Position) -> Report:
        if self.times:
            self.times -= 1
            raise AgentFailure("timeout", "late", self.starved)
        move = position.legal_moves[0]
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=0.01, pv=(move,))


def late_pair(late: Late, agent: str = "python(mine.py:choose, time=1s)") -> PairRecord:
    def asked(one: Agent) -> Any:
        return late if one.kind in ("python", "course") else one

    return play_pair(PairTask(0, agent, "random", OPENING, 1), asked)


def test_a_game_lost_for_want_of_a_core_is_played_again() -> None:
    late = Late(REPLAYS, starved=True)
    assert [game.reason for game in late_pair(late).games] == ["no moves"] * 2
    assert late.games == REPLAYS + 2


def test_but_not_for_ever() -> None:
    late = Late(100, starved=True)
    assert [game.reason for game in late_pair(late).games] == ["timeout"] * 2
    assert late.games == 2 * (REPLAYS + 1)


def test_who_is_late_by_itself_has_lost() -> None:
    late = Late(1, starved=False)
    assert [game.reason for game in late_pair(late).games] == ["timeout", "no moves"]
    assert late.games == 2


def test_a_submission_s_games_are_refused_while_the_machine_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares: list[float] = []
    monkeypatch.setattr(playing, "wait_for_core", lambda patience: shares.append(0.4) or 0.4)
    with pytest.raises(RunnerFailure, match=r"only 40 % of one free.*clock=ticks"):
        late_pair(Late(0, False), WALL)
    assert len(shares) == 1
    assert late_pair(Late(0, False), TICKS).games[0].reason == "no moves"
    assert len(shares) == 1


# -- reports -------------------------------------------------------------------------------------


def lost_to_the_clock(game: GameRecord) -> GameRecord:
    """Return the game as one that was lost because an answer was late."""
    return replace(game, reason="timeout", detail="it answered 0.7 ms after its 150 ms")


def report_with_late_games(agent: str, late: int, kind: str, **options: Any) -> dict[str, Any]:
    """Return the report on 40 games, some of which an entrant lost by being late."""
    names = ("other", "mine") if kind == "tournament" else ("mine", "other")
    plan = fake_plan(1, 20, names=names, kind=kind, **options)
    entrants = tuple(
        Entrant(agent, one.name) if one.name == "mine" else one for one in plan.entrants
    )
    plan = replace(plan, entrants=entrants)
    if kind == "tournament":
        entrants = (*entrants, Entrant("random(seed=9)", "third"))
        plan = replace(plan, entrants=entrants, matches=tournament_matches(2, 1))
    mine = names.index("mine")
    left = late
    with Store.open(":memory:") as store:
        run = store.begin(plan, ENGINE, VERSIONS)
        pairs = []
        for task in plan.tasks():
            rng = random.Random(task.number)
            played = [fake_game(task.opening, rng, unusual=0.0) for _ in range(2)]
            match = plan.matches[task.number % len(plan.matches)]
            for number, game in enumerate(played):
                seat = "w" if number == 0 else "b"
                lost = game.winner != seat
                if match.a == mine and lost and left:
                    played[number] = lost_to_the_clock(game)
                    left -= 1
            pairs.append(PairRecord(task, (played[0], played[1])))
        run.append(pairs)
        run.finish({})
        assert not left
        report = report_on(run)
        return {**report.to_dict(), "text": str(report)}


@pytest.mark.parametrize("kind", ["match", "tournament", "league"])
def test_no_verdict_is_printed_where_the_clock_decided(kind: str) -> None:
    options: dict[str, Any] = {}
    if kind == "tournament":
        options = {"options": {"tests": 2, "protocol": "2017b"}}
    found = report_with_late_games(WALL, 9, kind, **options)
    assert "No verdict: mine lost 9 of 40 games to the clock" in found["no_verdict"]
    assert "--clock ticks" in found["no_verdict"]
    assert found["no_verdict"] in found["text"]
    for word in ("better", "worse", "told apart", "cannot tell", "Elo (other"):
        assert word not in found["text"], word
    for agent, late in (
        (WALL, 3),
        (TICKS, 9),
    ):  # a few late games still allow a verdict; lateness by ticks is the agent's own
        found = report_with_late_games(agent, late, kind, **options)
        assert found["no_verdict"] == ""
        assert "No verdict" not in found["text"]
        assert any(word in found["text"] for word in ("better", "worse", "apart", "cannot tell"))


def test_a_sequential_test_accepts_nothing_by_such_games() -> None:
    stop = {"stop": {"rule": "sprt", "elo0": 0.0, "elo1": 900.0}}
    assert report_with_late_games(TICKS, 9, "match", **stop)["verdict"] == "H0"
    assert report_with_late_games(WALL, 9, "match", **stop)["verdict"] is None


def test_by_which_clock_agents_play() -> None:
    expected = {
        "course:it.py": ("ticks", "150ms"),
        "course(it.py)": ("ticks", "150ms"),
        "course(it.py, clock=wall)": ("wall", "150ms"),
        "course(it.py, time=1s)": ("wall", "1s"),
        "course(it.py, time=1s, clock=ticks)": ("ticks", "1s"),
        "id(improved, time=5ms)": ("wall", "5ms"),
        "student(improved, time=25ms)": None,
        "id(improved)": None,
    }
    assert {text: time_control(str(parse_agent(text))) for text in expected} == expected
