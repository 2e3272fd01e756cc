"""The number of files that a reader of `kf.match` has to follow."""

from __future__ import annotations

import subprocess
import sys

MOST = 25
"""Most files whose functions a match of four games may enter."""

PROGRAM = """
import sys, threading
import knightfall as kf

agents = "id(improved, nodes=200)", "id(open, nodes=200)"
entered = set()

def profile(frame, event, argument):
    package, _, file = frame.f_code.co_filename.partition("/knightfall/")
    if file and frame.f_code.co_name != "<module>":
        entered.add(file)

kf.match(*agents, pairs=2, workers=0, seed=1)  # imports and one-time preparations do not count
threading.setprofile(profile)
sys.setprofile(profile)
kf.match(*agents, pairs=2, workers=0, seed=2)
sys.setprofile(None)
print("\\n".join(sorted(entered)))
"""


def test_a_match_passes_through_few_files() -> None:
    """Check how many files a match of two agents enters, after another match as a warm-up."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    entered = done.stdout.split()
    arena = {f"arena/{name}.py" for name in ("api", "plan", "play", "run_loop", "runner", "store")}
    assert arena <= set(entered)
    assert len(entered) <= MOST, done.stdout
