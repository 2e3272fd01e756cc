"""Kill the lab in the middle of a run, and let hostile compiled heuristics answer its page.

``python tests/torture/lab.py [KILLS]`` prints a table.  A killed run must be resumable and end with
the games that it would have had without the kill; the server must answer after every heuristic.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

import lab_server
from lab_server import LabServer, lab, until

from knightfall.arena.store import Store

lab_server.PATIENCE = 600.0  # beside other parts of the torture, compiling alone can take minutes

# -- kills ---------------------------------------------------------------------------------------

PAIRS = 24
AGENT = '''import time


def slow(position):
    """Sleep for 40 ms, then return the legal move in the middle."""
    time.sleep(0.04)
    return position.legal_moves[len(position.legal_moves) // 2]
'''
MATCH = {"a": "python(slow.py:slow, time=10s)", "b": "random(seed=3)", "pairs": PAIRS}
MATCH |= {"board": "5x5", "seed": 4}


def games_in(folder: Path) -> list[Any]:
    """Return all stored games; they are compared without their times."""
    with Store.open(folder / "runs.sqlite", read_only=True) as store:
        return [pair.games for pair in store.run(1).pairs()]


def begun(folder: Path) -> LabServer:
    """Return a lab with the agent's file."""
    folder.mkdir(exist_ok=True)
    (folder / "slow.py").write_text(AGENT)
    return LabServer(folder, "slow.py")


def whole(folder: Path) -> list[Any]:
    """Return the games of the match when nothing is killed."""
    server = begun(folder)
    try:
        job = server.begin("/api/matches", **MATCH)
        server.until_job(job["id"], lambda job: job["state"] == "finished")
    finally:
        server.end()
    return games_in(folder)


def killed(folder: Path, after: int, expected: list[Any]) -> str:
    """Kill the server when `after` pairs are stored, and resume the run; return what is wrong."""
    server = begun(folder)
    job = server.begin("/api/matches", **MATCH)
    server.until_job(job["id"], lambda job: job["done"] >= after)
    server.end(signal.SIGKILL)
    again = begun(folder)
    try:
        # The run's process ends with the server, at its next look.
        kept = until(lambda: (run := again.get("/api/runs/1"))["resumable"] and run["played"])
        if not after <= kept < PAIRS:
            return f"{kept} pairs were stored, {after} at the time of the kill, of {PAIRS}"
        resumed = again.post("/api/runs/1/resume")
        if resumed.status_code != 202:
            return f"not resumed: {resumed.text}"
        ended = again.until_job(resumed.json()["id"], lambda job: job["state"] not in GOING)
        if ended["state"] != "finished":
            return f"{ended['state']}: {ended['error']}"
    finally:
        again.end()
    return "" if games_in(folder) == expected else "the games are not those without the kill"


GOING = ("starting", "playing")

# -- hostile heuristics ------------------------------------------------------------------------

HOSTILE = """import ctypes
import numpy as np
from knightfall.heuristics import mobility

c_memset = ctypes.CDLL(None).memset
c_memset.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t]
c_memset.restype = ctypes.c_size_t
c_exit = ctypes.CDLL(None)._exit
c_exit.argtypes = [ctypes.c_int]
c_exit.restype = None


def good(board, open, me, opp, to_move):
    return mobility(board, open, me)


def writes(board, open, me, opp, to_move):
    c_memset(board.knight.ctypes.data, 0, 8 * 65)
    return mobility(board, open, me)


def exits(board, open, me, opp, to_move):
    c_exit(3)
    return 1.0


def fills(board, open, me, opp, to_move):
    return np.ones(1 << 40)[3]


def loops(board, open, me, opp, to_move):
    while board.cells:
        pass
    return 1.0
"""
SAYS = {
    "writes": "changed its board",
    "exits": "ended with exit status 3",
    "fills": "MemoryError",
    "loops": "did not answer within 10 s",
}
FEN = "7/7/1N5/7/7/4n2/7 w"


def asked(server: LabServer, name: str) -> list[Any]:
    """Return the answers about the values of a heuristic, and about a move that it chooses."""
    values = server.post("/api/opinions", heuristics=[f"hostile.py:{name}"], fen=FEN)
    move = server.post("/api/choose", agent=f"id(hostile.py:{name}, nodes=300)", fen=FEN)
    return [values, move]


def hostile(folder: Path) -> dict[str, str]:
    """Return what is wrong after each heuristic was asked, and played a match."""
    (folder / "hostile.py").write_text(HOSTILE)
    wrong = {}
    with lab(folder, "hostile.py") as server:
        # (The list of the file itself may fail: all its functions are tried in one process.)
        until(lambda: not server.get("/api/files")["files"][0]["looking"])
        right = [answer.json() for answer in asked(server, "good")]
        for name, says in SAYS.items():
            said = [
                answer.text if answer.status_code == 422 else f"status {answer.status_code}"
                for answer in asked(server, name)
            ]
            if name != "loops":  # a run waits a minute for it
                match = server.post(
                    "/api/matches", a=f"id(hostile.py:{name}, nodes=100)", b="random", pairs=2
                )
                job = server.until_job(match.json()["id"], lambda job: job["state"] not in GOING)
                said.append(job["error"])
            found = [answer.json() for answer in asked(server, "good")]
            for one in (*right, *found):
                one.pop("seconds", None)
            wrong[name] = "; ".join(text for text in said if says not in text)
            if found != right:
                wrong[name] += "a good heuristic has other values afterwards"
    return wrong


# -- another user of the machine -----------------------------------------------------------------

ASKS = """
import sys, urllib.error, urllib.request
for path in ("/", "/api/state", "/openapi.json", "/api/runs?limit=5"):
    try:
        print(urllib.request.urlopen(sys.argv[1].partition("/?")[0] + path, timeout=60).status)
    except urllib.error.HTTPError as error:
        print(error.code)
"""


def foreign(folder: Path) -> str:
    """Ask a lab with a key without that key, if root then as another user; return what is wrong."""
    folder.mkdir()
    command = [sys.executable, "-m", "knightfall", "serve", "--key", "--no-browser", "--json"]
    command += ["--port", "0", "--store", str(folder / "runs.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        arguments = Path(f"/proc/{server.pid}/cmdline").read_text()
        ask = ["/usr/bin/python3", "-c", ASKS, url.partition("?")[0]]
        if os.geteuid() == 0:
            ask = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *ask]
        told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.split()
        server.send_signal(signal.SIGINT)
    if told != ["403"] * 4:
        return f"the answers are {told}"
    return "the key is among the arguments" if url.partition("key=")[2] in arguments else ""


# -- all of it ---------------------------------------------------------------------------------


def main(kills: int = 12) -> int:
    """Print the results; return the number of failures."""
    rng = random.Random(5)
    found: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as there:
        place = Path(there)
        expected = whole(place / "whole")
        for number in range(kills):
            after = rng.randint(1, PAIRS - 4)
            wrong = killed(place / str(number), after, expected)
            found.append((f"the lab is killed after {after} of {PAIRS} pairs", wrong))
            print(f"{found[-1][0]:<60}{wrong or 'as it should be'}", flush=True)
        for name, wrong in hostile(place).items():
            found.append((f"a heuristic in the lab {name}", wrong))
            print(f"{found[-1][0]:<60}{wrong or 'as it should be'}", flush=True)
        found.append(("another user has no key", foreign(place / "foreign")))
        print(f"{found[-1][0]:<60}{found[-1][1] or 'as it should be'}", flush=True)
    return sum(bool(wrong) for _, wrong in found)


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
