"""Run commands in other processes and capture their output."""

from __future__ import annotations

import subprocess
from typing import Any

PATIENCE = 180.0
"""Seconds that a command may take on a busy machine."""


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Call `subprocess.run` with all streams captured and a time limit of `PATIENCE`."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", PATIENCE)
    options.setdefault("check", False)
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    return subprocess.run(command, **options)
