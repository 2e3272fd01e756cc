"""Budgets as values, and time budgets: every search is stopped, in every thread and process.

How long a search took is not tested, because the machine may be busy.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time

import processes
import pytest
from agent_strategies import BUDGETS
from helpers import random_positions
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

import knightfall.search.run_search as module
from knightfall.agents import agent, parse_agent
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel import interrupt
from knightfall.kernel.interrupt import Alarm, Stopwatch, stopwatch
from knightfall.kernel.rules import NO_LIMIT, geometry
from knightfall.position import Position
from knightfall.search.budget import DEEPEST, LONGEST, Budget, parse_budget

ENDLESS = Position.from_fen("8/8/2N5/8/8/5n2/8/8 w")
"""A position whose full search takes hundreds of millions of nodes."""

# -- values ----------------------------------------------------------------------------------


def given_as(text: str) -> dict[str, str]:
    """Return the parts of a text such as ``nodes=5, time=1ms`` as a dictionary, as the agent parser
    passes them.
    """
    pairs = (part.partition("=") for part in text.split(", ") if part)
    return {key: value for key, _, value in pairs}


@given(BUDGETS)
def test_a_budget_prints_as_it_parses(budget: Budget) -> None:
    assert parse_budget(given_as(str(budget))) == budget


@given(BUDGETS)
def test_a_budget_without_limits_is_false(budget: Budget) -> None:
    assert bool(budget) == (budget != Budget())
    assert bool(budget) == (str(budget) != "")


@pytest.mark.parametrize(
    ("given", "budget", "text"),
    [
        ({}, Budget(), ""),
        ({"depth": "5"}, Budget(depth=5), "depth=5"),
        ({"depth": "064"}, Budget(depth=64), "depth=64"),
        ({"nodes": "2500"}, Budget(nodes=2500), "nodes=2500"),
        ({"time": "150ms"}, Budget(time=150_000), "time=150ms"),
        ({"time": "2s"}, Budget(time=2_000_000), "time=2s"),
        ({"time": "2000ms"}, Budget(time=2_000_000), "time=2s"),
        ({"time": "0.5s"}, Budget(time=500_000), "time=500ms"),
        ({"time": "1.5s"}, Budget(time=1_500_000), "time=1.5s"),
        ({"time": "0.001ms"}, Budget(time=1), "time=0.001ms"),
        ({"time": "86400s"}, Budget(time=LONGEST), "time=86400s"),
        (
            {"time": "1s", "nodes": "7", "depth": "3"},
            Budget(depth=3, nodes=7, time=1_000_000),
            "depth=3, nodes=7, time=1s",
        ),
    ],
)
def test_budgets_as_people_write_them(given: dict[str, str], budget: Budget, text: str) -> None:
    assert parse_budget(given) == budget
    assert str(budget) == text


def test_seconds() -> None:
    assert Budget(time=150_000).seconds == 0.15
    assert Budget(nodes=5).seconds is None


@pytest.mark.parametrize(
    ("kind", "value", "accepted"),
    [
        *(("depth", value, "from 1 to 64") for value in ("0", "65", "-1", "", "five", "3.5", "٣")),
        *(("nodes", value, f"to {10**15:,}") for value in ("0", "1e6", "2_500", "9" * 40)),
        *(
            ("time", value, "time=150ms")
            for value in ("150", "0ms", "0s", "1m", "ms", "-1s", "1.5.5s", "1 s", "1e3ms", "٣ms")
        ),
        *(
            ("time", value, "24 hours")
            for value in ("86401s", "0.0001ms", "999999999s", "1.1234567s")
        ),
    ],
)
def test_a_bad_limit_is_named_with_what_is_accepted(kind: str, value: str, accepted: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_budget({kind: value})
    assert f"{kind}={value}" in str(error.value)
    assert accepted in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["Depth", "node", "seconds", "", "time "])
def test_an_unknown_budget_is_named_with_what_is_accepted(key: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_budget({"depth": "3", key: "77"})
    assert f"{key}='77'" in str(error.value)
    assert "depth=5, nodes=2500, time=150ms" in str(error.value)


@given(st.dictionaries(st.sampled_from(["depth", "nodes", "time"]) | st.text(), st.text()))
def test_any_text_is_a_budget_or_a_knightfall_error(given: dict[str, str]) -> None:
    try:
        budget = parse_budget(given)
    except KnightfallError:
        assert given
    else:
        assert parse_budget(given_as(str(budget))) == budget


# -- time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["1ms", "5ms", "0.2ms", "0.001ms"])
def test_a_timed_search_gives_a_legal_move(budget: str) -> None:
    thinker = agent(f"id(improved, time={budget})")
    found = random_positions(7, 7, 100, 1) + random_positions(8, 8, 60, 2)
    found += [ENDLESS, Position.start(7, 7)] * 20
    asked = 0
    for position in found[:: 3 if budget == "5ms" else 1]:
        if position.winner is None:
            assert thinker.choose(position) in position.legal_moves
            asked += 1
    assert asked > 50


@pytest.mark.parametrize("plain", ["", ", plain"])
@pytest.mark.parametrize("id", ["improved", "center", "longest_win"])
def test_the_stopwatch_stops_a_search(id: str, plain: str) -> None:
    # In this thread, and in another while this one waits.
    for budget in ("20ms", "400ms") if id == "improved" else ("20ms",):
        report = agent(f"id({id}, time={budget}{plain})").analyse(ENDLESS)
        assert 0 <= report.depth < DEEPEST
        assert not report.proven
        assert report.nodes >= 1
        assert report.move in ENDLESS.legal_moves


@pytest.mark.skipif(not interrupt.CLOCK, reason="compiled code cannot read a clock here")
def test_a_search_heeds_the_clock_even_if_nobody_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    thinker = agent("id(improved, nodes=300000000, time=40ms)")
    monkeypatch.setattr(Alarm, "ring", lambda alarm: None)
    report = thinker.analyse(ENDLESS)
    assert 0 < report.nodes < 300_000_000
    monkeypatch.setattr(interrupt, "CLOCK", 0)  # without a clock only the node limit stops it
    assert agent("id(improved, nodes=300000, time=1ms)").analyse(ENDLESS).nodes == 300_000


def test_whichever_limit_is_met_first_ends_the_search() -> None:
    report = parse_agent("id(improved, depth=3, nodes=100000, time=60s)").analyse(ENDLESS)
    assert report.depth == 3
    report = parse_agent("id(improved, nodes=50, time=60s)").analyse(ENDLESS)
    assert report.nodes == 50
    report = parse_agent("id(improved, depth=64, nodes=1000000000000, time=30ms)").analyse(ENDLESS)
    assert report.nodes < 1_000_000_000_000
    assert report.depth < 64


@given(positions(board=Board.of(5, 5)))
def test_a_generous_time_budget_changes_nothing(position: Position) -> None:
    if position.winner is None:
        timed = parse_agent("id(improved, depth=4, time=600s)").analyse(position)
        free = parse_agent("id(improved, depth=4)").analyse(position)
        assert (timed.move, timed.score, timed.nodes, timed.pv) == (
            free.move,
            free.score,
            free.nodes,
            free.pv,
        )


def test_many_threads_are_stopped_each_in_its_own_time() -> None:
    failures: list[str] = []
    done: list[int] = []

    def think(number: int) -> None:
        thinker = agent(f"id(improved, time={1 + number % 4}ms, seed={number})")
        for _ in range(15):
            report = thinker.analyse(ENDLESS)
            if report.move not in ENDLESS.legal_moves or report.proven or report.depth == DEEPEST:
                failures.append(f"{number}: {report}")
        done.append(number)

    threads = [threading.Thread(target=think, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(done) == list(range(8))


def test_the_stopwatch_stops_each_search_once_and_no_other() -> None:
    watch = Stopwatch()
    now = time.perf_counter()
    boards = [geometry(Board.of(3, 3)) for _ in range(6)]
    # In random order, one of them long past, one far in the future.
    for number, after in enumerate([0.05, 0.01, -5.0, 3600.0, 0.03]):
        watch.stop_at(now + after, boards[number])
    deadline = now + 120
    while any(boards[number]["limit"][0] for number in (0, 1, 2, 4)):
        assert time.perf_counter() < deadline, "the stopwatch never rang"
        time.sleep(0.005)
    assert boards[3]["limit"][0] == boards[5]["limit"][0] == NO_LIMIT


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in another process with a time limit, so that the test cannot hang."""
    return processes.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        text=True,
        env={**os.environ, "KNIGHTFALL_QUIET": "1"},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_has_a_stopwatch_of_its_own() -> None:
    finished = run(
        f"""
        import os, signal, warnings
        warnings.simplefilter("ignore")
        from knightfall import Position, agent
        position = Position.from_fen({ENDLESS.fen!r})
        thinker = agent("id(improved, time=5ms)")
        thinker.choose(position)  # the parent's stopwatch is running
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(150)  # a child that is never stopped must not outlive the test
                moves = [thinker.choose(position) for _ in range(5)]
                os._exit(0 if set(moves) <= set(position.legal_moves) else 1)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(codes, thinker.choose(position) in position.legal_moves)
        """
    )
    assert finished.stdout == "[0, 0, 0] True\n", finished.stderr


def test_a_person_can_interrupt_a_search_that_never_ends() -> None:
    finished = run(
        f"""
        import os, signal, threading
        from knightfall import Position, agent
        position = Position.from_fen({ENDLESS.fen!r})
        thinker = agent("id(improved, depth=64)").prepare()
        try:
            threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
            thinker.choose(position)
        except KeyboardInterrupt:
            print("interrupted")
        print(agent("id(improved, nodes=100)").analyse(position).nodes)
        """
    )
    assert finished.stdout == "interrupted\n100\n", finished.stderr


def test_a_finished_search_lets_go_of_its_alarm() -> None:
    late = Position.from_fen("3/N2/1*n w")
    before = [alarm for _, _, alarm in stopwatch()._alarms]
    agent("id(improved, time=60s)").choose(late)
    mine = [alarm for _, _, alarm in stopwatch()._alarms if alarm not in before]
    assert all(alarm._boards is None for alarm in mine)


def test_walks_of_separated_knights_keep_the_node_budget_to_the_node() -> None:
    fen = "*2n2*/1****2/1*1*1**/1****2/3**1*/2**N2/4**1 b"
    for nodes in range(1150, 1250):
        report = parse_agent(f"id(improved, nodes={nodes})").analyse(Position.from_fen(fen))
        assert report.nodes <= nodes


def test_the_garbage_collector_waits_for_a_timed_move(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    rules_of = module.words
    monkeypatch.setattr(
        module,
        "words",
        lambda position: (seen.append(gc.isenabled()), rules_of(position))[1],
    )
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    parse_agent("id(improved, time=5ms)").choose(position)
    parse_agent("id(improved, nodes=50)").choose(position)
    assert seen == [False, True]
    assert gc.isenabled()
