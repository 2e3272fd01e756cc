"""How much of the package a reader of `kf.match` has to follow."""

from __future__ import annotations

import subprocess
import sys

MOST = 25
"""Files whose functions four games may pass through."""

PROGRAM = """
import sys, threading
import knightfall as kf

agents = "id(improved, nodes=200)", "id(open, nodes=200)"
entered = set()

def profile(frame, event, argument):
    package, _, file = frame.f_code.co_filename.partition("/knightfall/")
    if file and frame.f_code.co_name != "<module>":
        entered.add(file)

kf.match(*agents, pairs=2, workers=1)  # imports and what is prepared once do not count
threading.setprofile(profile)
sys.setprofile(profile)
kf.match(*agents, pairs=2, workers=1)
sys.setprofile(None)
print("\\n".join(sorted(entered)))
"""


def test_a_match_passes_through_few_files() -> None:
    """Two agents, four games, one worker; its own process plays, so `play.py` may be left out."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    entered = done.stdout.split()
    assert {"arena/api.py", "arena/plan.py", "arena/run_loop.py", "arena/store.py"} <= set(entered)
    assert len(entered) <= MOST, done.stdout
