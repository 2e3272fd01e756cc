"""Tests that hostile agents lose only their own games (tests/torture has all of them)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "torture"))

from agents import possible, trial
from hostile_agents import HOSTILE

from knightfall.agents.agent_protocol import read_loaded, read_report, read_value
from knightfall.agents.remote_player import TOLERANCE, check_time
from knightfall.arena.plan import REASONS
from knightfall.errors import AgentFailure
from knightfall.isolation.host_process import Broken, read_answer, read_nothing
from knightfall.isolation.supervisor import LineReader, TooLong
from knightfall.position import Position
from knightfall.search.budget import Report

START = Position.from_fen("5/5/1N3/3n1/5 w")
GOOD = Report("a1", 1.5, False, None, 3, 100, 0.1, ("a1", "b5"), 0, "")

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def judge(agents: list[Any], folder: Path) -> None:
    fates, harm = trial(possible(agents), folder)
    assert {fate.agent.name: fate.wrong for fate in fates if fate.wrong} == {}
    assert harm == ""


@needs_fork
def test_the_hostile_lose_their_own_games(tmp_path: Path) -> None:
    judge([agent for agent in HOSTILE if agent.quick], tmp_path)


@needs_fork
@pytest.mark.slow
def test_all_the_hostile_lose_their_own_games(tmp_path: Path) -> None:
    assert len({agent.name for agent in HOSTILE}) == len(HOSTILE) >= 40
    judge(list(HOSTILE), tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")
def test_without_a_namespace_whoever_left_the_group_is_found() -> None:
    """Check that a supervisor ends a daemon that left its session and lost its parents."""
    script = """
import os, signal, sys
from knightfall.isolation import limits
limits._prctl(limits._SET_CHILD_SUBREAPER, 1)
heard, told = os.pipe()
watcher = os.fork()
if watcher == 0:
    signal.alarm(60)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.alarm(60)
                os.write(told, b"%d\\n" % os.getpid())
                signal.pause()
            os._exit(0)
        os.wait()
        os.write(told, b"-%d\\n" % os.getpid())
        signal.pause()
    signal.pause()
os.close(told)
with os.fdopen(heard) as lines:
    agent, daemon = sorted(int(lines.readline()) for _ in range(2))
before = limits.descendants(os.getpid())
limits.kill_tree(watcher, -agent)
print(before == {watcher, -agent, daemon}, limits.descendants(os.getpid()))
"""
    said = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert said == "True set()\n"


# -- checks of replies -------------------------------------------------------------------------


def test_lines_come_whole_and_have_an_end() -> None:
    lines = LineReader(most=10)
    assert lines.feed(b"ab") == []
    assert lines.feed(b"c\nde\n\nf") == [b"abc", b"de", b""]
    assert lines.feed(b"ghijklmno") == []
    with pytest.raises(TooLong, match="more than 10 bytes"):
        lines.feed(b"p")
    with pytest.raises(TooLong):
        LineReader(most=10).feed(b"abcdefghijk\n")


def test_a_good_report_is_believed_but_for_its_time() -> None:
    answer = read_answer(json.dumps(asdict(GOOD)).encode())
    assert read_report(answer, START, 7.0) == Report(
        "a1", 1.5, False, None, 3, 100, 7.0, ("a1", "b5"), 0, ""
    )


BASES: tuple[dict[str, Any], ...] = (
    asdict(GOOD),
    {"reason": "crash", "detail": "so"},
    {"files": ["/mine.py"], "warnings": []},
    {"value": 1.0, "exact": True},
    {},
)
KEYS = sorted({key for base in BASES for key in base} | {"number"})
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 3, 2**63, 10**400, 1.5, -1e400, float("nan"), "", "a1", "no moves"),
    *("crash", "x" * 501, "\0", "\ud800", "\x1b[2J", [], ["a1"], ["a1"] * 999, [[]], [None]),
    *({}, {"a1": 1}, ["/dev/zero"], ["mine.py"], ["/\0"]),
)


def test_whatever_is_answered_is_checked() -> None:
    rng = random.Random(11)
    ends = Counter[str]()
    for _ in range(3000):
        said = dict(rng.choice(BASES))
        for key in rng.sample(KEYS, rng.randrange(4)):
            said[key] = rng.choice(ODD)
        if said and rng.random() < 0.1:
            del said[rng.choice(list(said))]
        line = json.dumps(said).encode()
        reason, detail, believed = "", "", None
        try:
            answer = read_answer(line)
            read = rng.choice(
                (
                    read_loaded,
                    read_value,
                    read_nothing,
                    report_on_start,
                )
            )
            believed = read(answer)
        except Broken as broken:
            reason, detail = "broken", str(broken)
        except AgentFailure as failure:
            reason, detail = failure.reason, str(failure)
        ends[reason or type(believed).__name__] += 1
        assert reason in {"", "broken", *REASONS} - {"no moves"}
        assert len(detail) < 1000
        if isinstance(believed, Report):
            assert believed.move in START.legal_moves
            assert 0 <= believed.nodes < 2**63
            assert len(believed.note) <= 500
    assert ends.keys() == {"broken", "crash", "illegal", "Report", "tuple", "NoneType"}


def report_on_start(answer: dict[str, Any]) -> Report:
    return read_report(answer, START, 0.1)


@pytest.mark.parametrize(
    "line",
    [b"", b"1", b"null", b'{"a"', b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000, b"\xff\xfe{}"],
    ids=range(8),
)
def test_whatever_is_no_object_is_broken(line: bytes) -> None:
    with pytest.raises(Broken, match=r"not JSON|not a JSON object"):
        read_answer(line)


# -- the time ----------------------------------------------------------------------------------


def test_the_way_there_and_back_is_tolerated() -> None:
    def after(seconds: float) -> Report:
        return Report("a1", 0.0, False, None, 0, 0, seconds, ("a1",))

    for limit in (0.15, 1.0):
        assert check_time(after(limit + 0.9 * TOLERANCE), limit)
        with pytest.raises(AgentFailure, match=r"me answered after .* s; the limit is") as failed:
            check_time(after(limit + 1.1 * TOLERANCE), limit, "me")
        assert failed.value.reason == "timeout"
    assert check_time(after(1e6), None)
