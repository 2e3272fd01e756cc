"""Tests of agents in processes of their own: whatever they do, only they lose their game."""

from __future__ import annotations

import gc
import os
import random
import re
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from knightfall.agents import parse_agent
from knightfall.agents import remote_player as host
from knightfall.agents.remote_player import AgentProcess, RemotePlayer, move_limit
from knightfall.arena.plan import PairTask
from knightfall.arena.play import check_agents, play_chunk
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.isolation import host_process, limits
from knightfall.isolation.host_process import HostProcess
from knightfall.position import Position

START = Position.from_fen("5/5/1N3/3n1/5 w")
SOON = 60.0
"""Seconds within which immediate effects are visible, on a busy machine."""

Writing = Callable[[str], str]


@pytest.fixture
def chooser(tmp_path: Path) -> Writing:
    """Write a file with a function `choose(position)` of that body; return its agent string."""

    def write(body: str, time: str = "5s", head: str = "import os, sys, time") -> str:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        file = tmp_path / f"agent_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(f"{head}\ndef choose(position):\n{lines}")
        return f"python({file}:choose, time={time})"

    return write


@pytest.fixture(autouse=True)
def _nobody_stays() -> None:
    """Begin each test without processes of the previous one."""
    host._idle.end()


def hosted(text: str) -> RemotePlayer:
    return RemotePlayer(parse_agent(text))


def gone(pid: int) -> bool:
    """Return whether a process ends soon; a zombie counts as ended."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def sleeping(seconds: str) -> list[int]:
    """Return the processes that were started as ``sleep`` with this many seconds."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(int(process.name))
    return found


def new_duration() -> str:
    """Return a number of seconds that no other test sleeps for."""
    return f"{random.SystemRandom().randrange(10**6, 10**7)}.25"


needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")


# -- agents that behave ------------------------------------------------------------------------


def test_a_hosted_agent_answers_as_it_would_at_home(chooser: Writing) -> None:
    for text in ("alphabeta(improved, depth=3)", chooser("return position.legal_moves[-1]")):
        for seed in (0, 5):
            agent = replace(parse_agent(text), seed=seed)
            for position in (START, START.play(START.legal_moves[0])):
                there, here = RemotePlayer(agent).analyse(position), agent.analyse(position)
                assert replace(there, seconds=0.0) == replace(here, seconds=0.0)


def test_one_process_loads_the_agent_for_all_games_of_a_thread_and_ends_with_it(
    chooser: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def noting(text: str, beside: Path | None) -> AgentProcess:
        process = AgentProcess(text, beside)
        started.append(process._process)  # not the object itself, which must not be kept
        return process

    monkeypatch.setattr(host, "AgentProcess", noting)
    text, inside = chooser("return position.legal_moves[0]"), set[int]()

    def ask_thrice() -> None:
        for seed in (1, 2, 3):
            player = RemotePlayer(replace(parse_agent(text), seed=seed))
            player.analyse(START)
            inside.update(limits.descendants(started[0].pid))
            player.end_game()

    thread = threading.Thread(target=ask_thrice)
    thread.start()
    thread.join()
    (process,) = started
    assert inside
    assert all(gone(pid) for pid in (process.pid, *inside))


def test_a_hosted_agent_gets_ready_for_each_board_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    send = HostProcess._send

    def noting(child: HostProcess, question: dict[str, object], limit: float | None) -> bytes:
        sent.append(question.get("board", question.get("ask", "begin")))
        return send(child, question, limit)

    monkeypatch.setattr(HostProcess, "_send", noting)
    player = hosted("id(improved, time=1s, depth=2)")
    for board in (START.board, Board.of(8, 8), START.board):
        player.prepare(board)
    assert player.analyse(START).move in START.legal_moves
    assert sent == ["begin", [5, 5], [8, 8], "game", "move"]


def test_the_number_of_processes_is_bounded(
    chooser: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "MOST_IDLE", 1)
    started = []
    for _ in range(2):
        player = hosted(chooser("return position.legal_moves[0]"))
        player.analyse(START)
        (child,) = player._children.values()
        started.append(child._process)
        player.end_game()
    assert gone(started[0].pid)
    assert started[1].poll() is None


def test_what_an_agent_prints_goes_nowhere(
    chooser: Writing, capfd: pytest.CaptureFixture[str]
) -> None:
    text = chooser(
        "print('hello' * 100_000)\n"
        "print('hello', file=sys.stderr)\n"
        "os.write(1, b'{\"number\": 1}\\n' * 1000)\n"
        "os.system('echo hello')\n"
        "assert sys.stdin.read() == ''\n"
        "sys.stdout.close()\n"
        "return position.legal_moves[1]"
    )
    assert hosted(text).analyse(START).move == START.legal_moves[1]
    assert capfd.readouterr() == ("", "")


def test_what_an_agent_does_to_its_position_stays_with_it(chooser: Writing) -> None:
    text = chooser(
        "answer = position.legal_moves[0]\n"
        "object.__setattr__(position, 'to_move', 'b')\n"
        "object.__setattr__(position, 'open', frozenset())\n"
        "object.__setattr__(position.board, 'knight', ())\n"
        "return answer"
    )
    before = START.fen
    # The agent has changed its modules, so that its own process does not accept its answer.
    with pytest.raises(AgentFailure) as failed:
        hosted(text).analyse(START)
    assert failed.value.reason in ("illegal", "crash")
    assert START.fen == before
    assert START.legal_moves


def test_the_agent_takes_its_own_time(chooser: Writing) -> None:
    """Check that an agent's time includes neither the start of its process nor the transfer of its
    answer.
    """
    text = chooser("time.sleep(0.1)\nreturn position.legal_moves[0]", head="import time")
    start = time.perf_counter()
    report = hosted(text).analyse(START)
    assert 0.1 <= report.seconds < time.perf_counter() - start


def test_the_last_move_travels(chooser: Writing) -> None:
    text = chooser("assert position.last is not None\nreturn position.legal_moves[0]")
    hosted(text).analyse(START.play(START.legal_moves[0]))


# -- agents that misbehave ---------------------------------------------------------------------


def test_after_a_failure_the_next_question_begins_another_game(chooser: Writing) -> None:
    text = chooser(
        "asked.append(position)\n"
        "if len(asked) == 2: raise ValueError('enough')\n"
        "return position.legal_moves[0]",
        head="asked = []",
    )
    player, start = hosted(text), Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    first = player.analyse(start).move
    later = two_plies_later(start, first)
    with pytest.raises(AgentFailure, match="enough"):
        player.analyse(later)
    player.analyse(later)


def test_a_process_that_is_killed_is_a_crash_that_says_so(chooser: Writing) -> None:
    player = hosted(chooser("return position.legal_moves[0]")).start()
    (child,) = player._children.values()
    child._process.kill()
    with pytest.raises(AgentFailure, match="its process was killed by SIGKILL") as failure:
        player.analyse(START)
    assert failure.value.reason == "crash"


def two_plies_later(position: Position, move: str) -> Position:
    after = position.play(move)
    return after.play(after.legal_moves[0])


def test_a_heuristic_that_raises_need_not_be_loaded_anew(tmp_path: Path) -> None:
    """Check that a heuristic that raises keeps its process, and that one that failed to load is
    loaded anew.
    """
    file = tmp_path / "mine.py"
    file.write_text(
        "def score(board, open, me, opp, to_move):\n    return 1.0 / (board.width - 5)\n"
    )
    wrong = hosted(f"greedy({file}:scored)")
    for _ in range(2):
        with pytest.raises(AgentFailure, match="did you mean 'score'"):
            wrong.analyse(START)
    player = hosted(f"greedy({file}:score)")
    processes = set()
    for _ in range(2):
        with pytest.raises(AgentFailure, match=r"score, line 2: ZeroDivisionError") as failed:
            player.analyse(START)
        assert failed.value.reason == "crash"
        processes.update(id(child) for child in player._children.values())
    assert len(processes) == 1


def test_what_its_process_warns_of_is_issued_here_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "return float(__import__('math').floor(me))"  # so that it cannot be compiled
    file.write_text(f"def score(board, open, me, opp, to_move):\n    {text}\n")
    player = hosted(f"greedy({file}:score)")
    with pytest.warns(HeuristicWarning, match="cannot be compiled") as issued:
        player.warn()
    assert [str(one.message).startswith(f"{file}:score ") for one in issued] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        player.warn()


def test_a_failure_keeps_nothing_alive(tmp_path: Path) -> None:
    """Check that after a failure the caller's locals and the closed process are freed without a
    garbage collection.
    """
    file = tmp_path / "mine.py"
    file.write_text("def score(board, open, me, opp, to_move):\n    return 1 / (board.width - 5)\n")
    player = hosted(f"greedy({file}:score)")

    def ask() -> weakref.ref[set[int]]:
        in_hand = InHand()
        with suppress(AgentFailure):
            player.analyse(START)
        return weakref.ref(in_hand)

    gc.disable()
    try:
        in_hand = ask()
        [child] = map(weakref.ref, player._children.values())
        assert in_hand() is None
        player.close()
        assert child() is None
    finally:
        gc.enable()


class InHand(set[int]):
    """A set that weak references can point to, to observe when it is freed."""


@needs_proc
def test_what_an_agent_started_ends_with_it(chooser: Writing) -> None:
    duration = new_duration()
    text = chooser(
        f"subprocess.Popen(['sleep', '{duration}'], start_new_session=True)\n"
        "raise ValueError('enough')",
        head="import subprocess",
    )
    player = hosted(text)
    with pytest.raises(AgentFailure, match="enough"):
        player.analyse(START)
    player.close()
    assert all(gone(pid) for pid in sleeping(duration))


@needs_proc
def test_what_a_game_has_started_ends_with_it(chooser: Writing) -> None:
    duration = new_duration()
    text = chooser(
        f"subprocess.Popen(['sleep', '{duration}'])\nreturn position.legal_moves[0]",
        head="import subprocess",
    )
    player = hosted(text)
    player.analyse(START)
    (pid,) = sleeping(duration)
    player.end_game()
    assert len(host._idle.kept) == 1  # the process that has loaded the agent is still there
    assert gone(pid)


def test_sets_of_texts_have_one_order(chooser: Writing) -> None:
    """Check that sets of strings have the same order in every process, so that moves repeat."""
    text = chooser("return next(iter(set(position.legal_moves)))")
    position = Position.start(7, 7)
    assert len({RemotePlayer(parse_agent(text)).analyse(position).move for _ in range(3)}) == 1


def test_a_late_answer_says_how_late(chooser: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_process, "GRACE", SOON)
    text = chooser("time.sleep(0.3)\nreturn position.legal_moves[0]", time="200ms")
    task = PairTask(0, text, "random", START.fen, 1)
    for game, loser in zip(play_chunk([task])[0].games, "wb", strict=True):
        assert (game.reason, game.winner) == ("timeout", "b" if loser == "w" else "w")
        assert re.search(r"\) answered after [\d.]+ s; the limit is 0.2 s$", game.detail)


def test_a_file_that_cannot_play_is_found_before_the_run(chooser: Writing, tmp_path: Path) -> None:
    for text, said in (
        (f"python({tmp_path}/none.py:choose)", "there is no file"),
        (chooser("return (", head=""), "SyntaxError"),
        (chooser("pass").replace(":choose", ":chose"), "did you mean 'choose'?"),
        (chooser("pass", head="import os\nos._exit(7)"), "exit status 7"),
    ):
        with pytest.raises(KnightfallError, match=said.replace("?", r"\?")) as failed:
            check_agents([text])
        assert not isinstance(failed.value, AgentFailure)


def test_a_file_that_goes_missing_is_a_crash(chooser: Writing) -> None:
    text = chooser("return position.legal_moves[0]")
    hosted(text).analyse(START)
    Path(text[len("python(") : text.index(":choose")]).unlink()
    for _ in range(2):  # in the process that had loaded it, and in a fresh one
        with pytest.raises(AgentFailure, match="there is no file") as failed:
            hosted(text).analyse(START)
        assert failed.value.reason == "crash"


@needs_proc
def test_a_killed_driver_leaves_nobody_behind(chooser: Writing) -> None:
    duration = new_duration()
    text = chooser(
        f"subprocess.Popen(['sleep', '{duration}'])\nwhile True: pass",
        "1000s",
        head="import subprocess",
    )
    driver = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\n"
            "from knightfall.agents import parse_agent\n"
            "from knightfall.agents.remote_player import RemotePlayer\n"
            "from knightfall.position import Position\n"
            "RemotePlayer(parse_agent(sys.argv[1])).analyse(Position.from_fen(sys.argv[2]))\n",
            text,
            START.fen,
        ]
    )
    until = time.monotonic() + SOON
    while not sleeping(duration) and time.monotonic() < until:
        time.sleep(0.02)
    inside = {*limits.descendants(driver.pid), *sleeping(duration)}
    driver.kill()
    driver.wait()
    assert len(inside) >= 3  # a supervisor, the agent, and what it started
    assert all(gone(pid) for pid in inside)


# -- limits ------------------------------------------------------------------------------------


def test_who_is_given_how_long(tmp_path: Path) -> None:
    def limit(text: str) -> float | None:
        return move_limit(parse_agent(text), patience=10.0)

    mine = f"{tmp_path}/mine.py:score"
    assert limit("id(improved, nodes=1000000000)") is None
    assert limit("perfect(nodes=1000)") is None
    assert limit("perfect(time=2s)") is None  # it keeps its time itself
    assert limit(f"id({mine}, nodes=2500)") == 10.0
    assert limit(f"id(2*open+{mine}, nodes=500000)") == 100.0
    assert limit(f"id({mine}, time=150ms)") == 0.15
    assert not parse_agent("random").has_users_code
