"""Start a command in another process and wait until it is computing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

CODE = """
import os, threading

start, pipe = threading.Thread.start, [int(os.environ["AT_WORK"])]

def told(thread):
    start(thread)
    if pipe and thread.name.startswith("knightfall-"):  # compiled code runs in threads of ours
        os.write(pipe.pop(), b"!")

threading.Thread.start = told

from knightfall.cli import main
main()
"""


def at_work(env: dict[str, str], *args: str) -> subprocess.Popen[str]:
    """Return the process of a command a moment after its first thread began to compute."""
    reads, writes = os.pipe()
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *args],
        env={**env, "KNIGHTFALL_QUIET": "1", "AT_WORK": str(writes)},
        pass_fds=[writes],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    )
    os.close(writes)
    began = os.read(reads, 1) == b"!"
    os.close(reads)
    assert began, process.communicate()
    time.sleep(0.3)  # the first thread may belong to a warm-up
    return process


def until_it_waits(pid: int) -> None:
    """Return when a process has nothing to do but wait for input.

    Python handles a signal when a system call is interrupted or a line of code ends.  A signal
    between the prompt and the call that reads the answer would be handled only after the answer;
    no person is fast enough to cause that.
    """
    asleep = 0
    while asleep < 3:
        time.sleep(0.05)
        state = Path(f"/proc/{pid}/stat")
        if not state.exists():  # another system, or it has gone
            time.sleep(0.5)
            return
        asleep = asleep + 1 if state.read_text().rpartition(")")[2].split()[0] == "S" else 0
