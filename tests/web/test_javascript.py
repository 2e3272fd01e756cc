"""The page's JavaScript: its unit tests under node, and the length of its lines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from knightfall.web.site import PAGE

ROOT = Path(__file__).parents[2]
UNIT = Path(__file__).parent / "unit"
LONGEST_LINE = 120
OLDEST_NODE = 18
"""The first version that has a test runner."""


def node() -> str:
    """Return the path of node; skip the test if there is none that can run tests."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {version} has no test runner: {OLDEST_NODE} is needed")
    return found


def test_units() -> None:
    # A folder would be searched by node 20 and not be found by node 22.
    files = [str(path.relative_to(ROOT)) for path in sorted(UNIT.glob("*.test.js"))]
    assert files
    command = [node(), "--test", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)


def test_lines_are_short() -> None:
    """The formatter breaks code, but neither comments nor strings."""
    long = [
        f"{path}:{number} has {len(line)} characters"
        for folder in (PAGE, UNIT)
        for path in sorted(folder.rglob("*.js"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert long == []
