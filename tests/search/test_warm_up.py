"""An agent that is prepared for a board does nothing in its first move that it would not do again.

No clock is looked at: what is slow only once is counted instead.  Each case runs in a process of
its own, in which nothing was searched before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MEASURED = """
import json, sys, threading
import knightfall.kernel.geometry as geometry
import knightfall.search.table as table
import knightfall.solver.atlas as atlas
import knightfall.solver.solve as solve
from knightfall.agents import parse_agent
from knightfall.position import Position

def done_once():
    return {
        "geometries": geometry._master.cache_info().misses,
        "tables": len(getattr(table._tables, "held", {})),
        "engines": solve._kept_engine.cache_info().misses,
        "mirror images": atlas._images.cache_info().misses,
        "atlas read": atlas._stored.cache_info().misses,
        "threads": threading.active_count(),
        "modules": len(sys.modules),
    }

text, width, height, prepared = json.loads(sys.argv[1])
position = Position.from_moves(["a1", "c2"], width, height)
thinker = parse_agent(text)
if prepared:
    thinker.prepare(position.board)
counts = [done_once()]
for blocked in (1, 4):
    thinker.analyse(position)
    position = Position(
        position.board, position.open - {blocked}, position.white, position.black, "w"
    )
    counts.append(done_once())
print(json.dumps(counts))
"""


def counted(text: str, width: int, height: int, prepared: bool) -> list[dict[str, Any]]:
    """What had been done once before the first move, after it, and after the second."""
    asked = json.dumps([text, width, height, prepared])
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, asked], capture_output=True, text=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("text", ["id(improved, time=5ms)", "perfect(time=40ms)"])
@pytest.mark.parametrize("size", [(8, 8), (7, 7)])
def test_whoever_is_prepared_has_nothing_left_to_get_ready(
    text: str, size: tuple[int, int]
) -> None:
    before, first, second = counted(text, *size, prepared=True)
    assert before == first == second


def test_whoever_is_not_has() -> None:
    """So that the test above says something."""
    before, first, _ = counted("perfect(time=40ms)", 8, 8, prepared=False)
    for what in ("geometries", "tables", "engines", "mirror images", "atlas read", "threads"):
        assert first[what] > before[what], what
