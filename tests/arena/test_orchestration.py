"""Estimates and limits of runs: their length, the choice of a runner, chunk sizes, stop rules."""

from __future__ import annotations

from array import array
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from arena_helpers import fake_pair, fake_plan

from knightfall.arena import run_loop
from knightfall.arena import runner as runners
from knightfall.arena.api import _progress_of
from knightfall.arena.plan import Match, Plan, enter, round_robin, tournament_matches
from knightfall.arena.report_statistics import BaselineComparison
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.run_loop import ComparisonRule, RankingRule
from knightfall.arena.runner import Adaptive, Chunk, ChunkQueue
from knightfall.display.progress import Progress
from knightfall.isolation.executor_pool import ExecutorPool
from knightfall.isolation.parallel_map import DEFAULT
from knightfall.isolation.worker_pool import WorkerPool

# -- how long a run takes --------------------------------------------------------------------


def test_games_by_the_clock_are_estimated_by_a_third_of_the_board_for_each_side() -> None:
    who = enter(["id(open, time=200ms)", "id(main, time=500ms)", "random"])
    plan = Plan("league", who, (Match(0, 1), Match(0, 2)), pairs=10, board="5x6")
    first = 20 * (0.2 + 0.5) * 10  # games, seconds of a move of each, moves of each
    second = 20 * (0.2 + 0.0) * 10
    assert runners._seconds(plan) == pytest.approx(first + second)


@pytest.mark.parametrize(("pairs", "here"), [(49, True), (51, False)])
def test_twenty_seconds_by_the_clock_are_played_in_this_process(
    pairs: int, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "cores", lambda: 2)
    monkeypatch.setattr(runners, "Pool", lambda *args, pin: ("a pool", pin))
    who = enter(["id(open, time=20ms)", "random"])
    plan = Plan("match", who, (Match(0, 1),), pairs, board="5x6")  # 0.4 s a pair
    runner = runners.choose_runner(DEFAULT, plan, lambda text: None)
    assert (runner == ("a pool", True)) == (not here)  # each worker has a core to itself


@pytest.mark.parametrize(("left", "hired"), [(3.9, False), (4.1, True)])
def test_processes_are_hired_if_more_than_four_seconds_are_left(
    left: float, hired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check when workers are started: two pairs took two seconds, so each further pair counts as
    one second.
    """
    now = iter([0.0, 1.0, 2.0, *([2.0] * 100)])
    pairs = 2 + left
    workers = SimpleNamespace(start=lambda: None, ready=False)
    pool = SimpleNamespace(pool=workers, close=lambda: None)
    made: list[int] = []
    monkeypatch.setattr(
        runners, "Pool", lambda workers, *args, **named: made.append(workers) or pool
    )
    monkeypatch.setattr(runners.time, "monotonic", lambda: next(now))
    runner = Adaptive(3, pairs)  # type: ignore[arg-type]
    plan = fake_plan(1, 20)
    runner._here = SimpleNamespace(  # type: ignore[assignment]
        play=lambda tasks: (fake_pair(task) for task in tasks), close=lambda: None
    )
    list(islice(runner.play(plan.tasks(0)), 2))
    assert made == ([3] if hired else [])


def test_the_seconds_left_are_those_of_the_rate_of_this_process() -> None:
    state = Progress("games", 100, done=40)
    state.start -= 10
    state(60)  # 20 in 10 seconds: 40 more take 20
    assert state.left() == pytest.approx(20, abs=0.1)
    state.ahead = lambda: 7.0
    assert state.left() == 7.0


def test_a_tournament_is_expected_to_end_when_its_widest_interval_is_narrow_enough() -> None:
    """Check the expected number of pairs: half the width takes four times the pairs."""
    who = enter(["greedy(open)", "greedy(center)", "greedy(main)", "random", "greedy(improved)"])
    plan = Plan("tournament", who, tournament_matches(3, 2), 2000, options={"tests": 3})
    rule = ComparisonRule(plan, within=0.05, course=5)
    assert rule.expected == 6 * round(2700 * (0.02 / 0.05) ** 2 / 2)
    rule.comparisons = [
        BaselineComparison("b", "a", 80, 0.01, -0.09, 0.11, 0.8),  # 10 points to either side
        BaselineComparison("c", "a", 80, 0.01, -0.02, 0.04, 0.8),  # settled
    ]
    assert rule.expected == 6 * (80 * 4 // 2)
    rule.comparisons = rule.comparisons[1:]
    assert rule.expected is None


def test_progress_counts_games_of_all_runs_and_of_what_a_rule_expects() -> None:
    plans = [fake_plan(1, 20), fake_plan(1, 30)]
    seen: list[Any] = []
    with _progress_of(plans, show=True) as on_pairs:
        closure = dict(zip(on_pairs.__code__.co_freevars, on_pairs.__closure__ or (), strict=True))
        shown = closure["shown"].cell_contents
        assert shown.total == 2 * 50
        for expected, fresh in ((None, 3), (12, 5)):
            rule = SimpleNamespace(expected=expected)
            on_pairs(SimpleNamespace(plan=plans[0], rule=rule, fresh=fresh))  # type: ignore[arg-type]
            seen.append((shown.total, shown.done))
    assert seen == [(100, 6), (2 * (50 - 20 + 12), 2 * (3 + 5))]


# -- items given in advance ------------------------------------------------------------------


class Hand:
    """A fake worker that records the items it is given and never finishes."""

    core = None
    is_awaited = True

    def __init__(self) -> None:
        self.given: list[Any] = []

    def wants_more(self, depth: int) -> bool:
        return len(self.given) < depth

    def give(self, item: Any, job: Any) -> None:
        self.given.append(item)


@pytest.mark.parametrize(
    ("slow", "given"), [(False, [[0, 2], [1, 3]]), (True, [[0], [1]])], ids=["quick", "slow"]
)
def test_a_worker_has_one_item_in_hand_and_one_to_go_on_with(
    slow: bool, given: list[list[int]]
) -> None:
    """Check that a worker gets at most two items at a time, and only one if items take long."""
    workers = WorkerPool(2, SimpleNamespace())  # type: ignore[arg-type]
    workers._workers = [Hand(), Hand()]  # type: ignore[list-item]
    items = iter(range(9))
    back: list[int] = []
    work = SimpleNamespace(
        slow=slow, take=lambda: next(items, None), job=lambda item: None, put_back=back.append
    )
    assert workers._supply(work)
    assert [hand.given for hand in workers._workers] == given
    assert back == [sum(map(len, given))]


def test_an_executor_has_three_items_for_each_thread() -> None:
    executor: Any = SimpleNamespace(_max_workers=4, submit=lambda *args: Future())
    given: dict[Any, Chunk] = {}
    chunks = ChunkQueue(fake_plan(1, 100).tasks(0))
    assert ExecutorPool(executor)._supply(chunks, given, SimpleQueue())
    assert len(given) == 12


def test_chunks_grow_to_what_a_fifth_of_a_second_holds() -> None:
    backlog = ChunkQueue(fake_plan(1, 5000).tasks(0))
    sizes = []
    for _ in range(5):
        chunk = backlog.take()
        assert chunk is not None
        sizes.append(len(chunk.tasks))
        backlog.played(chunk, [], 0.01 * len(chunk.tasks))
    assert sizes == [1, 8, 20, 20, 20]  # at most eight times as many as before


# -- when to stop ----------------------------------------------------------------------------


class Seen:
    """Fake ratings of two agents with a given difference and a 95 % error of 1."""

    def __init__(self, gap: float) -> None:
        self.gap, self.looks = gap, 0

    def ranking(self, entrants: Any) -> list[int]:
        self.looks += 1
        return [0, 1]

    def difference(self, a: int, b: int) -> tuple[float, float]:
        return self.gap, 1.0


def league(error: float = 0.5) -> Plan:
    two = enter(["greedy(improved)", "greedy(open)"])
    return Plan("league", two, round_robin(two), 300, stop={"rule": "until", "error": error})


@pytest.mark.parametrize(("gap", "told_apart"), [(1.74, False), (1.76, True)])
def test_a_league_that_looks_again_and_again_needs_1_75_times_the_error(
    gap: float, told_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that neighbours in a league count as different only from 1.75 times the 95 % error on,
    because the league is checked up to sixty times while it runs.
    """
    from statistics import NormalDist

    assert NormalDist().inv_cdf(1 - 0.05 / 60 / 2) / 1.96 <= run_loop.LOOKING_FACTOR
    monkeypatch.setattr(run_loop, "rate_entrants", lambda plan, outcomes: Seen(gap))
    rule = RankingRule(league(), 0.5)
    rule.update([], array("b", [0] * 20))
    assert (rule.verdict is not None) == told_apart
    report = LeagueReport.__new__(LeagueReport)
    report.__dict__.update(
        results=SimpleNamespace(run=SimpleNamespace(plan=league())),
        order=[0, 1], names=["a", "b"], ratings=Seen(gap),
    )  # fmt: skip
    words = "Every neighbour in the ranking is told apart."
    assert report._neighbours() == (words if told_apart else "Not told apart: a and b.")


def test_a_league_stops_where_what_is_left_is_known_well_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_loop, "rate_entrants", lambda plan, outcomes: Seen(0.0))
    for wanted, verdict in ((0.99, None), (1.0, "every neighbour told apart, or within 1 Elo")):
        rule = RankingRule(league(), wanted)
        rule.update([], array("b", [0] * 20))
        assert rule.verdict == verdict


def test_a_league_looks_after_20_rounds_and_then_after_a_tenth_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def rate_entrants(plan: Plan, outcomes: Any) -> Seen:
        looked.append(len(outcomes))
        return Seen(0.0)

    monkeypatch.setattr(run_loop, "rate_entrants", rate_entrants)
    rule, outcomes = RankingRule(league(), 0.5), array("b")
    for _ in range(60):
        outcomes.append(0)
        rule.update([], outcomes)
    assert looked == [20, 22, 24, 26, 28, 30, 33, 36, 39, 42, 46, 50, 55, 60]


def test_a_tournament_looks_after_the_course_s_rounds_and_then_after_a_twentieth_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def compare_with_baseline(
        plan: Plan, outcomes: Any, *, sequential: bool
    ) -> list[BaselineComparison]:
        assert sequential, "the intervals must hold however often one looks"
        looked.append(len(outcomes) // 2)
        return [BaselineComparison("b", "a", 1, 0.0, -1.0, 1.0, 1.0)]

    monkeypatch.setattr(run_loop, "compare_with_baseline", compare_with_baseline)
    who = enter(["greedy(open)", "greedy(center)", "random"])
    plan = Plan("tournament", who, tournament_matches(2, 1), 200, options={"tests": 2})
    for course, wanted in ((5, [20, 21, 22]), (45, [45, 47, 49])):
        looked.clear()
        rule, outcomes = ComparisonRule(plan, 0.02, course), array("b")
        for _ in range(2 * (wanted[-1] + 1) - 1):
            outcomes.append(0)
            rule.update([], outcomes)
        assert looked == wanted
