"""Tests that a submission of the course and its children stay within one limit together."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from knightfall.agents import parse_agent
from knightfall.agents.remote_player import RemotePlayer
from knightfall.errors import AgentFailure
from knightfall.isolation import limits, sandbox, supervisor
from knightfall.position import Position

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is counted on Linux only")

HEAD = """
import ctypes, mmap, os, time

def fill(megabytes, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS):
    memory = mmap.mmap(-1, megabytes << 20, flags=flags)
    for start in range(0, megabytes << 20, 4096):
        memory[start] = 1
    return memory

class AlphaBetaPlayer:
    def get_move(self, game, time_left):
"""

DEEDS = {
    "shares memory": "kept = fill(1200)",
    "has children": (
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        kept = fill(450, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "        time.sleep(100)"
    ),
    "has heirs without parents": (
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            kept = fill(450, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "            time.sleep(100)\n"
        "        os._exit(0)"
    ),
}


@pytest.fixture(
    params=["best", *(pytest.param(kind, marks=pytest.mark.slow) for kind in sandbox.KINDS)]
)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run submissions in the best kind of sandbox that works; among the slow tests, in each."""
    working = [kind for kind in sandbox.KINDS if kind == "none" or sandbox.works(kind)]
    chosen = working[0] if request.param == "best" else str(request.param)
    if chosen not in working:
        pytest.skip(f"{chosen} does not work here")
    monkeypatch.setenv(sandbox.VARIABLE, chosen)
    monkeypatch.setattr(sandbox, "_found", [])
    return chosen


def fate(folder: Path, deed: str) -> str:
    """Return why a submission loses that does this for its first move, or its move."""
    file = folder / "game_agent.py"
    lines = "".join(f"        {line}\n" for line in [*deed.splitlines(), "time.sleep(100)"])
    file.write_text(HEAD + lines)
    player = RemotePlayer(parse_agent(f"course({file}, generation=2017b)"))
    try:
        return player.analyse(START).move
    except AgentFailure as failure:
        return f"{failure.reason}: {str(failure).rpartition(') ')[2]}"
    finally:
        player.close()
        assert _is_gone(str(folder))


def _is_gone(mark: str) -> bool:
    """Return whether soon no process is left whose command line contains a text."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        lines = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                lines.append(process.read_text())
        if not any(mark in line for line in lines):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("deed", DEEDS)
def test_memory_is_counted_for_all_processes(kind: str, deed: str, tmp_path: Path) -> None:
    assert fate(tmp_path, DEEDS[deed]) == "crash: used more than 1 GB of memory"


def test_children_that_share_memory_are_not_counted_twice(kind: str, tmp_path: Path) -> None:
    deed = (
        "kept = fill(400)\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        for start in range(0, 400 << 20, 4096): kept[start]\n"
        "        time.sleep(0.5)\n"
        "        os._exit(0)\n"
        "for _ in range(3): os.wait()\n"
        "return game.get_legal_moves()[0]"
    )
    assert fate(tmp_path, deed) in START.legal_moves


BOMBS = {
    "a crowd of sleepers": (
        "while True:\n"
        "    try: child = os.fork()\n"
        "    except OSError: continue\n"
        "    if child == 0: time.sleep(100)"
    ),
    "a crowd that doubles": "while True:\n    try: os.fork()\n    except OSError: pass",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_processes_are_counted(kind: str, bomb: str, tmp_path: Path) -> None:
    if kind == "none" and "doubles" in bomb:
        pytest.skip("processes that are found one by one may be too many")
    most = limits.MOST_PROCESSES
    assert fate(tmp_path, BOMBS[bomb]) == f"crash: started more than {most} processes"


def test_what_a_submission_uses_is_measured(tmp_path: Path) -> None:
    """Check the counts for this process, whose memory Python itself can enlarge."""
    import mmap
    import os

    before = supervisor._resident(os.getpid()), supervisor._share(os.getpid())
    memory = mmap.mmap(-1, 64 << 20)
    for start in range(0, 64 << 20, 4096):
        memory[start] = 1
    after = supervisor._resident(os.getpid()), supervisor._share(os.getpid())
    for then, now in zip(before, after, strict=True):
        assert 60 << 20 < now - then < 80 << 20
    assert os.getpid() in limits.children(os.getppid())
