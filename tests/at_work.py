"""A command in a process of its own, begun and in the middle of its work."""

from __future__ import annotations

import os
import subprocess
import sys
import time

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
    """The process of a command, some moments after its first thread began to compute."""
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
