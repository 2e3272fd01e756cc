"""After `warm_up` the first move of an agent does no one-time work.

No time is measured: events that happen only once are counted instead.  Each case runs in its own
process, a fork of one that has only imported the modules that every agent needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MEASURED = """
import json, os, sys, threading
from knightfall.kernel import rules
import knightfall.search.transposition_table as table
import knightfall.solver.atlas as atlas
import knightfall.solver.engine as engine
from knightfall.agents import parse_agent
from knightfall.position import Position

made = []
occupied = engine.Engine.occupy_memory
engine.Engine.occupy_memory = lambda one: (made.append(one), occupied(one))

def done_once():
    return {
        "geometries": rules._master.cache_info().misses,
        "tables": len(getattr(table._tables, "held", {})),
        "engines": len(made),
        "mirror images": atlas._images.cache_info().misses,
        "atlas read": atlas._stored.cache_info().misses,
        "threads": threading.active_count(),
        "modules": len(sys.modules),
    }

def counted(text, width, height, prepared):
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
    return counts

assert threading.active_count() == 1
for case in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        try:
            print(json.dumps(counted(*case)), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""

CASES = [
    ("id(improved, time=5ms)", 8, 8, True),
    ("id(improved, time=5ms)", 7, 7, True),
    ("perfect(time=40ms)", 8, 8, True),
    ("perfect(time=40ms)", 7, 7, True),
    ("champion(time=40ms)", 8, 8, True),
    ("champion(time=40ms)", 7, 7, True),
    ("perfect(time=40ms)", 8, 8, False),
    ("perfect(time=40ms)", 7, 7, False),
]


@pytest.fixture(scope="module")
def counted() -> dict[Any, list[dict[str, Any]]]:
    """Return, for each case, the counts of one-time work before the first move, after it, and after
    the second.
    """
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, json.dumps(CASES)],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("case", CASES[:-2], ids=str)
def test_whoever_is_prepared_has_nothing_left_to_get_ready(
    case: tuple[str, int, int, bool], counted: dict[Any, list[dict[str, Any]]]
) -> None:
    before, first, second = counted[case]
    assert before == first == second


def test_whoever_is_not_has(counted: dict[Any, list[dict[str, Any]]]) -> None:
    """Check that without a warm-up the first move does one-time work, so that the test above is not
    vacuous.  Mirror images are those of the atlas, which has no 8×8; on 7×7 it answers alone.
    """
    larger, usual = (counted[case] for case in CASES[-2:])
    for what in ("geometries", "tables", "engines", "atlas read", "threads"):
        assert larger[1][what] > larger[0][what], what
    assert usual[1]["mirror images"] > usual[0]["mirror images"]
