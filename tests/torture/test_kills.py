"""Tests that a command that is killed at any of its writes continues as if nothing had happened.

The long version is ``make torture``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import processes
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def test_nothing_is_lost_by_a_kill_at_any_write() -> None:
    script = str(Path(__file__).with_name("kills.py"))
    code = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = processes.run([sys.executable, "-c", code, script, "--quick"], check=True, timeout=600)
    told = json.loads(done.stdout)
    assert [one["wrong"] for one in told] == [[] for _ in told]
    kills = {one["command"]: one["kills"] for one in told}
    # Each begins a run, appends to it and finishes it, which gives many different writes.
    for command in ("match", "its runs alone"):
        assert kills[command] >= 8, command
    assert min(kills.values()) >= 3
    assert {"tournament", "league", "worth", "import", "atlas build", "backup"} <= set(kills)
