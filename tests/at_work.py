"""Start a command in another process, and wait until it computes or waits for input."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

CODE = """
import os, threading

start, pipe = threading.Thread.start, [int(os.environ["AT_WORK"])]

def start_and_report(thread):
    start(thread)
    if pipe and thread.name.startswith("knightfall-"):  # compiled code runs in threads of ours
        os.write(pipe.pop(), b"!")

threading.Thread.start = start_and_report

from knightfall.cli import main
main()
"""


def at_work(env: dict[str, str], *args: str) -> subprocess.Popen[str]:
    """Start a command; return its process shortly after its first thread began to compute."""
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
    """Return when a process waits for input.

    Python handles a signal when a system call is interrupted or after a line of code.  A signal
    between the prompt and the call that reads the answer would be handled only after the answer;
    a person is too slow for that, but a test is not.
    """
    asleep = 0
    while asleep < 3:
        time.sleep(0.05)
        state = Path(f"/proc/{pid}/stat")
        if not state.exists():  # not Linux, or the process has ended
            time.sleep(0.5)
            return
        asleep = asleep + 1 if state.read_text().rpartition(")")[2].split()[0] == "S" else 0
