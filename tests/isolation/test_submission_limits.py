"""Tests that a submission of the course and its children stay within one limit together."""

from __future__ import annotations

import os
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
import ctypes, mmap, os, socket, threading, time

libc = ctypes.CDLL(None)

def fill(megabytes):
    memory = mmap.mmap(-1, megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for start in range(0, megabytes << 20, 4096):
        memory[start] = 1
    return memory

class AlphaBetaPlayer:
    def get_move(self, game, time_left):
"""

DEEDS = {
    "has children": (
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        kept = fill(450)\n"
        "        time.sleep(100)"
    ),
    "has heirs without parents": (
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            kept = fill(450)\n"
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
                lines.append(process.read_text(errors="replace"))
        if not any(mark in line for line in lines):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("deed", DEEDS)
def test_memory_is_counted_for_all_processes(kind: str, deed: str, tmp_path: Path) -> None:
    assert fate(tmp_path, DEEDS[deed]) == "crash: used more than 1 GB of memory"


def test_unread_data_counts_as_memory(kind: str, tmp_path: Path) -> None:
    """Check that sockets count: what is written into them belongs to no process."""
    if kind == "none":
        pytest.skip("sockets are counted in a sandbox only")
    deed = (
        "for _ in range(25):\n"
        "    if os.fork() == 0:\n"
        "        kept = [socket.socketpair() for _ in range(115)]\n"
        "        time.sleep(100)"
    )
    assert fate(tmp_path, deed) == "crash: used more than 1 GB of memory"


HIDES = {
    "shared memory": "mmap.mmap(-1, 4096)",
    "shared memory of a device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)",
    "sockets": "socket.socket(socket.AF_INET)",
    "large sockets": (
        "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)"
    ),
    "a memory file": "os.memfd_create('')",
}


def test_memory_that_belongs_to_no_process_is_refused(kind: str, tmp_path: Path) -> None:
    lines = ["done = []"]
    for name, deed in HIDES.items():
        if kind != "none" or "device" not in name:
            lines += ["try:", f"    {deed}; done.append({name!r})", "except OSError: pass"]
    assert fate(tmp_path, "\n".join([*lines, "raise ValueError(done)"])).endswith("ValueError: []")


def test_pipes_cannot_hold_much(kind: str, tmp_path: Path) -> None:
    """Check how many bytes of unread data a process can leave in pipes, twice the usual number."""
    deed = (
        "ends, held = [], 0\n"
        "try:\n"
        "    while len(ends) < 2000: ends += os.pipe()\n"
        "except OSError: pass\n"
        "for end in ends[1::2]:\n"
        "    os.set_blocking(end, False)\n"
        "    try:\n"
        "        while True: held += os.write(end, bytes(4096))\n"
        "    except OSError: pass\n"
        "raise ValueError(held >> 20)"
    )
    megabytes = int(fate(tmp_path, deed).rpartition(" ")[2])
    assert 0 < megabytes <= 8


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


LEFT_BEHIND = {
    "a folder of great depth": (
        "for _ in range(3000): os.mkdir('d'); os.chdir('d')\nopen('file', 'w').write('1')"
    ),
    "a folder that nobody may open": (
        "os.mkdir('d'); open('d/file', 'w').write('1'); os.chmod('d', 0); os.chmod('.', 0)"
    ),
}


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_the_scratch_copy_is_removed(
    kind: str, left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "class").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    deed = LEFT_BEHIND[left] + "\nraise ValueError('done')"
    assert fate(tmp_path / "class", deed).endswith("ValueError: done")
    assert not list((tmp_path / "temporary").iterdir())


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


def test_threads_are_counted(kind: str, tmp_path: Path) -> None:
    most = limits.MOST_PROCESSES * limits.THREADS_EACH
    deed = (
        "threading.stack_size(65536)\n"
        "while True:\n"
        "    try: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
        "    except RuntimeError: time.sleep(100)"
    )
    refused = kind != "none" and os.geteuid() != 0  # then the system refuses further threads
    wanted = "timeout: " if refused else f"crash: started more than {most} threads"
    assert fate(tmp_path, deed).startswith(wanted)


def test_what_a_submission_uses_is_measured(tmp_path: Path) -> None:
    """Check the counts for this process, whose memory Python itself can enlarge."""
    import mmap

    before = supervisor._resident(os.getpid()), supervisor._share(os.getpid())
    memory = mmap.mmap(-1, 64 << 20)
    for start in range(0, 64 << 20, 4096):
        memory[start] = 1
    after = supervisor._resident(os.getpid()), supervisor._share(os.getpid())
    for then, now in zip(before, after, strict=True):
        assert 60 << 20 < now - then < 80 << 20
    assert os.getpid() in limits.children(os.getppid())
