"""Tests that one move loads few of knightfall's modules."""

from __future__ import annotations

import os
import subprocess
import sys

from test_rooms import EXTENSIONS, PACKAGE

MOST = 45
"""Largest number of knightfall's modules that one move may load."""

MOVE = """
import sys
import knightfall as kf
from knightfall.position import Position
kf.agent("id(improved, nodes=2500)").choose(Position.start())
print(*sorted(name for name in sys.modules if name.split(".")[0] == "knightfall"))
"""


def test_the_package_offers_functions_of_extensions() -> None:
    import knightfall as kf
    from knightfall.learning.tuning import tune

    assert kf.tune is tune
    assert {"tune", "reproduce", "match"} <= set(dir(kf))
    assert not hasattr(kf, "tuna")
    done = subprocess.run(
        [sys.executable, "-c", "import sys, knightfall; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    ours = [name for name in done.stdout.split() if name.partition(".")[0] == "knightfall"]
    assert ours == ["knightfall"]


def test_a_move_loads_few_modules_and_none_of_an_extension() -> None:
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", MOVE], env=env, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "knightfall.search.deepening" in loaded
    assert not [
        name for name in loaded if name.split(".")[1:2] and name.split(".")[1] in EXTENSIONS
    ]
    assert len(loaded) <= MOST, loaded
