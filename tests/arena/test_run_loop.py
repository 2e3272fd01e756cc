"""Playing runs to their end: after any interruption, the store ends up the same."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from array import array
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from helpers import some_and_all

from knightfall.arena.plan import Match, PairRecord, PairTask, Plan, enter, round_robin
from knightfall.arena.play import play_pair
from knightfall.arena.results import results
from knightfall.arena.run_loop import play_to_end, scoreboard_of
from knightfall.arena.runner import InProcess, Pool
from knightfall.arena.store import Store
from knightfall.arena.store_file import IN_MEMORY
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.statistics.sprt import Sprt

THREE = enter(["minimax(improved, depth=2)", "greedy(open)", "random"])
LEAGUE = Plan("league", THREE, round_robin(THREE), pairs=12, seed=5)

TIMELESS = {
    "runs": "id, key, attempt, kind, plan, total, outcome, finished IS NOT NULL",
    "games": "run, pair, game, winner, reason, moves_w, moves_b, depth_w, depth_b, nodes_w,"
    " nodes_b",
    "thinking": "run, pair, game, cells, scores, depths, nodes, detail",
    "tallies": "run, match, score, game, hunter, winner, reason, games, moves_w, moves_b, depth_w,"
    " depth_b, nodes_w, nodes_b",
}
"""For tables with columns that depend on the clock: all their other columns."""


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of a store, without times."""
    database = sqlite3.connect(path)
    tables = [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
    ]
    found = {
        table: sorted(database.execute(f"SELECT {TIMELESS.get(table, '*')} FROM {table}"), key=repr)
        for table in tables
        if not table.startswith("sqlite_")
    }
    database.close()
    assert found["games"]
    return found


class Shuffling:
    """A runner that returns records in random order, each at most `spread` places early."""

    def __init__(self, seed: float, spread: int = 20, give_up_after: int | None = None) -> None:
        self.rng = random.Random(seed)
        self.spread = spread
        self.left = give_up_after

    def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
        waiting: list[PairTask] = []
        for task in tasks:
            waiting.append(task)
            if len(waiting) >= self.spread:
                yield self.one(waiting)
        while waiting:
            yield self.one(waiting)

    def one(self, waiting: list[PairTask]) -> PairRecord:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        return play_pair(waiting.pop(self.rng.randrange(len(waiting))))

    def close(self) -> None:
        pass

    def __enter__(self) -> Shuffling:
        return self

    def __exit__(self, *raised: object) -> None:
        pass


def play(path: Path, plan: Plan, runner: object) -> None:
    with Store.open(path) as store:
        play_to_end(store.begin(plan, "1", {}), runner)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    path = tmp_path_factory.mktemp("undisturbed") / "arena.sqlite"
    play(path, LEAGUE, InProcess())
    return rows(path)


def test_the_store_holds_what_was_played(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    play(path, LEAGUE, InProcess())
    with Store.open(path) as store:
        run = store.run(1)
        assert run.finished
        assert list(run.pairs()) == [play_pair(task) for task in LEAGUE.tasks()]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_finishing_does_not_matter(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]], seed: int
) -> None:
    play(tmp_path / "arena.sqlite", LEAGUE, Shuffling(seed))
    assert rows(tmp_path / "arena.sqlite") == undisturbed


@pytest.mark.parametrize("seed", range(5))
def test_an_interrupted_run_goes_on_where_it_was(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]], seed: int
) -> None:
    path, rng = tmp_path / "arena.sqlite", random.Random(seed)
    interruptions = 0
    while True:
        try:
            play(path, LEAGUE, Shuffling(rng.random(), give_up_after=rng.randrange(1, 30)))
            break
        except KeyboardInterrupt:
            interruptions += 1
            with Store.open(path) as store:
                run = store.run(1)
                assert not run.finished
                assert [p.task.number for p in run.pairs()] == list(range(run.played))
    assert interruptions > 1
    assert rows(path) == undisturbed


def test_workers_make_no_difference(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]]
) -> None:
    agents = [entrant.agent for entrant in LEAGUE.entrants]
    with Pool(2, agents) as pool:
        play(tmp_path / "arena.sqlite", LEAGUE, pool)
    assert rows(tmp_path / "arena.sqlite") == undisturbed


def test_a_finished_run_is_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    play(path, LEAGUE, InProcess())

    class Refusing(Shuffling):
        def play(self, tasks: Iterator[PairTask]) -> Generator[PairRecord, None, None]:
            raise AssertionError("nothing is left to play")

    play(path, LEAGUE, Refusing(0))
    with Store.open(path) as store:
        assert len(store.runs()) == 1
        again = store.begin(LEAGUE, "1", {}, again=True)
        assert (again.id, again.played) == (2, 0)
        assert store.begin(LEAGUE, "2", {}).id == 3  # another engine plays other games


# -- rules that stop a run -------------------------------------------------------------------

TWO = enter(["minimax(improved, depth=3)", "greedy(open)"])
TEST = Plan(
    "match",
    TWO,
    (Match(0, 1),),
    pairs=500,
    stop={"rule": "sprt", "elo0": 0.0, "elo1": 60.0, "model": "normalized"},
)


def test_a_sequential_test_ends_after_the_same_pair_in_any_order(tmp_path: Path) -> None:
    sprt, counts, expected = Sprt(0.0, 60.0), [0, 0, 0], 0
    for task in TEST.tasks():
        counts[play_pair(task).score] += 1
        expected += 1
        if sprt.verdict(sprt.llr((counts[0], 0, counts[1], 0, counts[2]))):
            break
    assert 5 < expected < 200
    stores = []
    for seed in range(3):
        path = tmp_path / f"{seed}.sqlite"
        play(path, TEST, Shuffling(seed, spread=40))
        with Store.open(path) as store:
            run = store.run(1)
            assert run.played == expected
            assert run.outcome is not None
            assert run.outcome["verdict"] == "H1"
            assert results(run).matches[0].pairs == tuple(counts)
            assert scoreboard_of(run).rule.verdict == "H1"
        stores.append(rows(path))
    assert stores[0] == stores[1] == stores[2]


def test_a_league_ends_when_its_neighbours_are_told_apart(tmp_path: Path) -> None:
    apart = enter(["alphabeta(improved, depth=5)", "greedy(open)", "random"])
    plan = Plan(
        "league", apart, round_robin(apart), pairs=400, stop={"rule": "until", "error": 5.0}
    )
    play(tmp_path / "arena.sqlite", plan, InProcess())
    with Store.open(tmp_path / "arena.sqlite") as store:
        run = store.run(1)
        assert run.finished
        assert run.played < plan.total
        assert run.played % 3 == 0
        assert run.outcome is not None
        assert "told apart" in run.outcome["verdict"]


# -- repeated games --------------------------------------------------------------------------


def test_repeated_pairs_are_counted_once(tmp_path: Path) -> None:
    fixed = enter(["minimax(improved, depth=2, seed=1)", "greedy(open, seed=2)"])
    twice = Plan("match", fixed, (Match(0, 1),), pairs=20, repeats=2)
    play(tmp_path / "arena.sqlite", twice, Shuffling(1, give_up_after=None))
    with Store.open(tmp_path / "arena.sqlite") as store:
        found = results(store.run(1))
        assert (sum(found.matches[0].pairs), found.matches[0].repeats) == (10, 10)
        assert scoreboard_of(store.run(1)).counts == [list(found.matches[0].pairs)]
        assert scoreboard_of(store.run(1)).repeats == 10


def test_a_sequential_test_does_not_count_repeated_pairs(tmp_path: Path) -> None:
    fixed = enter(["minimax(improved, depth=3, seed=1)", "greedy(open, seed=2)"])
    test = Plan("match", fixed, (Match(0, 1),), pairs=400, stop=TEST.stop)
    doubled = Plan("match", fixed, (Match(0, 1),), pairs=800, stop=TEST.stop, repeats=2)
    for name, plan in (("once", test), ("twice", doubled)):
        play(tmp_path / name, plan, Shuffling(2))
    with Store.open(tmp_path / "once") as once, Store.open(tmp_path / "twice") as twice:
        # The run ends with the first pair that is not a repeat.
        assert twice.run(1).played == 2 * once.run(1).played - 1
        assert results(twice.run(1)).matches[0].pairs == results(once.run(1)).matches[0].pairs


def test_agents_that_break_ties_at_random_do_not_repeat(tmp_path: Path) -> None:
    loose = enter(["random", "greedy(open)"])
    twice = Plan("match", loose, (Match(0, 1),), pairs=20, repeats=2)
    play(tmp_path / "arena.sqlite", twice, InProcess())
    with Store.open(tmp_path / "arena.sqlite") as store:
        assert results(store.run(1)).matches[0].repeats < 3


# -- accidents -------------------------------------------------------------------------------


def test_a_store_that_fails_loses_nothing_that_was_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: dict[str, list[tuple[object, ...]]],
) -> None:
    from knightfall.arena import run_loop
    from knightfall.arena.store import Run

    monkeypatch.setattr(run_loop, "WRITE_EVERY", 0.0)
    append, calls = Run.append, [0]

    def full(self: Run, records: list[PairRecord]) -> None:
        calls[0] += 1
        if calls[0] == 7:
            raise KnightfallError("the disk is full")
        append(self, records)

    path = tmp_path / "arena.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(Run, "append", full)
        with pytest.raises(KnightfallError, match="disk is full"):
            play(path, LEAGUE, Shuffling(3, spread=3))
    with Store.open(path) as store:
        assert 0 < store.run(1).played < LEAGUE.total
    play(path, LEAGUE, Shuffling(4))
    assert rows(path) == undisturbed


def test_workers_that_cannot_go_on_lose_nothing(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]]
) -> None:
    class Dying(Shuffling):
        def one(self, waiting: list[PairTask]) -> PairRecord:
            try:
                return super().one(waiting)
            except KeyboardInterrupt:
                raise RunnerFailure("3 worker processes in a row ended") from None

    path = tmp_path / "arena.sqlite"
    with pytest.raises(KnightfallError) as raised:
        play(path, LEAGUE, Dying(0, spread=3, give_up_after=20))
    with Store.open(path) as store:
        stored = store.run(1).played
        assert 16 <= stored <= 20
    assert str(raised.value) == (
        f"3 worker processes in a row ended; {stored} of 36 pairs of run 1 are stored, and "
        "starting it again continues after them"
    )
    play(path, LEAGUE, Shuffling(1))
    assert rows(path) == undisturbed
    with Store.open(IN_MEMORY) as store, pytest.raises(KnightfallError, match=r"in a row ended$"):
        play_to_end(store.begin(LEAGUE, "1", {}), Dying(0, give_up_after=20))


DRIVER = """
import sys
from knightfall.arena import run_loop
from knightfall.arena.run_loop import play_to_end
from knightfall.arena.runner import Pool
from knightfall.arena.runner import InProcess
from knightfall.arena.stored_plan import read_plan
from knightfall.arena.store import Store
if __name__ == "__main__":
    run_loop.WRITE_EVERY = 0.02
    plan = read_plan(sys.stdin.read())
    agents = [entrant.agent for entrant in plan.entrants]
    with Store.open(sys.argv[1]) as store:
        run = store.begin(plan, "1", {})
        with Pool(2, agents) if sys.argv[2] == "pool" else InProcess(agents) as runner:
            print("ready", flush=True)
            play_to_end(run, runner)
"""


@pytest.mark.slow
def test_a_driver_killed_at_any_moment_can_be_started_again(tmp_path: Path) -> None:
    agents = enter(["id(improved, nodes=4000)", "id(open, nodes=4000)", "random"])
    plan = Plan("league", agents, round_robin(agents), pairs=80, seed=8)
    play(tmp_path / "whole.sqlite", plan, InProcess())
    path, rng, kills = tmp_path / "killed.sqlite", random.Random(2), 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(path), "pool" if kills == 4 else "here"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"KNIGHTFALL_QUIET": "1"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(plan.to_json())
        process.stdin.close()
        assert process.stdout.readline() == "ready\n"
        if kills == 4:
            assert process.wait(timeout=300) == 0
            break
        time.sleep(rng.uniform(0.02, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    with Store.open(path) as store:
        assert store.run(1).finished
    assert rows(path) == rows(tmp_path / "whole.sqlite")


def test_a_tournament_ends_at_the_first_look_that_settles_every_comparison() -> None:
    import numpy as np

    from knightfall.arena.run_loop import ComparisonRule
    from knightfall.arena.tournament_plan import tournament_plan

    plan = tournament_plan(["open", "improved", "open"], ["random", "greedy(open)"])
    rng = np.random.default_rng(8)
    chances = {0: (0.2, 0.25, 0.25, 0.3), 1: (0.1, 0.25, 0.25, 0.4)}  # entrant 2 is the agent of 0
    rule, outcomes, ends = ComparisonRule(plan, 0.05, 5), array("b"), []
    scores: dict[tuple[int, int], list[float]] = {}
    for number in range(plan.total):
        match = plan.matches[number % 6]
        if match.a == 2:
            outcome = outcomes[number - 2]
        else:
            outcome = int(rng.choice(4, p=chances[match.a]))
        outcomes.append(outcome)
        scores.setdefault((match.a, match.b), []).append((outcome // 2 + outcome % 2) / 2)
        rule.update([], outcomes)
        if rule.verdict is not None:
            break
        if number % 6 == 5:
            gaps = np.subtract(
                [scores[1, 3], scores[1, 4]], [scores[0, 3], scores[0, 4]]
            ).ravel()  # fmt: skip
            ends.append((len(gaps) // 2, gaps.mean(), gaps.std() / np.sqrt(len(gaps))))
    assert number % 6 == 5
    rounds = (number + 1) // 6
    assert 20 <= rounds < 2352
    assert rule.verdict in ("1 better, 1 the same agent", "1 the same agent, 1 better")
    # Without the correction for repeated looks, the run would have ended long before.
    assert min(at for at, mean, error in ends if at >= 20 and mean > 1.96 * error) < rounds
    # The expected length is between the pairs played and the pairs of the plan.
    assert rule.expected is None


def test_a_tournament_of_equals_is_seldom_decided_however_often_one_looks() -> None:
    import numpy as np

    from knightfall.arena.run_loop import ComparisonRule
    from knightfall.arena.tournament_plan import tournament_plan

    plan = tournament_plan(["open", "improved"], ["random"])
    rng, wrong, careless = np.random.default_rng(3), 0, 0
    for _ in range(100):
        scores = rng.choice(4, (600, 2), p=(0.15, 0.35, 0.35, 0.15)).astype(np.int8)
        rule, outcomes = ComparisonRule(plan, 0.0, 5), array("b")
        for pair in scores.ravel().tolist():
            outcomes.append(pair)
            rule.update([], outcomes)
        wrong += rule.verdict is not None
        gaps = ((scores // 2 + scores % 2) @ [-1, 1]) / 2
        count = np.arange(1, 601)
        mean = gaps.cumsum() / count
        error = np.sqrt(((gaps**2).cumsum() / count - mean**2) / count)
        careless += bool((abs(mean) > 1.96 * error)[20:].any())
    assert wrong <= 5
    assert careless > 25


def test_ctrl_c_during_a_write_loses_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knightfall.arena import run_loop
    from knightfall.arena.store import Run

    monkeypatch.setattr(run_loop, "WRITE_EVERY", 0.0)
    append, cut = Run.append, [3]

    def interrupted(run: Run, records: list[PairRecord]) -> None:
        cut[0] -= 1
        if cut[0] == 0:  # in the middle of the third write, which is rolled back
            raise KeyboardInterrupt
        append(run, records)

    monkeypatch.setattr(Run, "append", interrupted)
    counted: list[int] = []
    with Store.open(tmp_path / "arena.sqlite") as store:
        run = store.begin(LEAGUE, "1", {})
        with pytest.raises(KeyboardInterrupt):
            play_to_end(run, InProcess(), lambda board: counted.append(board.played))
        assert (
            run.played > counted[-1] >= 2
        )  # including pairs counted after the last call of on_pairs


@some_and_all
def test_equal_agents_are_seldom_told_apart_however_often_one_looks(step: int) -> None:
    import numpy as np

    from knightfall.arena.run_loop import RankingRule

    two = enter(["greedy(improved)", "greedy(open)"])
    plan = Plan("league", two, round_robin(two), pairs=300, stop={"rule": "until", "error": 1.0})
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(60 // step):
        rule, outcomes = RankingRule(plan, 1.0), array("b")
        for outcome in rng.choice(4, 300, p=(1 / 6, 1 / 3, 1 / 3, 1 / 6)):
            outcomes.append(int(outcome))
            rule.update([], outcomes)
            if rule.verdict is not None:
                wrong += 1
                break
    assert wrong <= 6 // step  # 5 % of 60 are 3; without the correction it was 38 %
