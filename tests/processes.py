"""Run commands in processes of their own, with the output captured."""

from __future__ import annotations

import subprocess
from typing import Any

PATIENCE = 180.0
"""Seconds that a command may take on a busy machine."""


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Return what `subprocess.run` does, with all streams captured and at most `PATIENCE`."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", PATIENCE)
    options.setdefault("check", False)
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    return subprocess.run(command, **options)
