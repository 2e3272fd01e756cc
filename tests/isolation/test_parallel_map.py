"""Tests that a parallel map gives the same results everywhere, even if workers die."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import map_jobs as jobs
import pytest
from cli_runner import answer, refused
from dask_clusters import two_workers

import knightfall as kf
from knightfall.board import Board
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation import parallel_map as maps
from knightfall.isolation.parallel_map import MOST_WORKERS, RunnerOptions, in_order, parallel_map
from knightfall.oracle.grade import grade
from knightfall.solver.atlas_build import Builder
from knightfall.solver.certificate import certify_by_answers

needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    with two_workers() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def everywhere(dask_cluster: Any, processes: Executor) -> Iterator[list[RunnerOptions]]:
    """Yield the options of every runner except this process."""
    with ThreadPoolExecutor(2) as threads:
        yield [
            RunnerOptions(workers=2),
            RunnerOptions(dask=dask_cluster.scheduler_address),
            RunnerOptions(executor=threads),
            RunnerOptions(executor=processes),
        ]


def mapped(setup: Callable[[], Callable[[Any], Any]], things: Any, options: RunnerOptions) -> Any:
    results = parallel_map(setup, things, options, describe=lambda thing: f"the call with {thing}")
    return list(in_order(results))


# -- the same results --------------------------------------------------------------------------


def test_results_are_the_same_and_in_order(everywhere: list[RunnerOptions]) -> None:
    expected = [place**2 for place in range(30)]
    for options in (RunnerOptions(), RunnerOptions(workers=0), *everywhere):
        assert mapped(jobs.squares, range(30), options) == expected
        assert mapped(jobs.squares, [], options) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 2, "dask": "x:1"}, "workers=2 and dask='x:1': choose one"),
        ({"workers": 0, "executor": ThreadPoolExecutor()}, "executor= has its own workers"),
        ({"dask": "x:1", "executor": ThreadPoolExecutor()}, "executor= has its own workers"),
        ({"workers": -1}, "workers=-1 must be from 0 to"),
        ({"workers": MOST_WORKERS + 1}, f"workers={MOST_WORKERS + 1} must be from 0 to"),
    ],
)
def test_contradictory_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(KnightfallError, match=words):
        RunnerOptions(**options).check()
    for fits in ({"workers": 0}, {"workers": MOST_WORKERS}, {"executor": options.get("executor")}):
        RunnerOptions(**fits).check()


@pytest.mark.parametrize("workers", [0, 2])
def test_nothing_is_set_up_for_no_calls(workers: int) -> None:
    def setup() -> Callable[[Any], Any]:
        raise AssertionError("set up")

    assert mapped(setup, [], RunnerOptions(workers=workers)) == []


def test_each_thread_is_set_up_once(everywhere: list[RunnerOptions]) -> None:
    for options in everywhere:
        places = mapped(jobs.numbered, range(12), options)
        assert {thread: calls for thread, calls in places if calls == 1}
        for thread in {thread for thread, _ in places}:
            calls = [number for one, number in places if one == thread]
            assert calls == [*range(1, len(calls) + 1)]


def test_games_are_graded_alike(everywhere: list[RunnerOptions]) -> None:
    def found(**who: Any) -> dict[str, Any]:
        graded = grade("id(improved, nodes=60)", openings=6, board="5x5", progress=False, **who)
        return {**graded.to_dict(), "seconds": 0}

    here = found()
    for options in everywhere:
        who = {"workers": options.workers, "dask": options.dask, "executor": options.executor}
        assert found(**who) == here


def test_runs_are_played_alike(everywhere: list[RunnerOptions]) -> None:
    a, b = "id(improved, nodes=60)", "alphabeta(open, depth=2)"
    events: list[Callable[..., Any]] = [
        partial(kf.match, a, b, pairs=6, board="5x5"),
        partial(kf.tournament, [a], [b, "random"], pairs=3, board="5x5"),
        partial(kf.league, [a, b, "random"], pairs=3, board="5x5"),
        partial(kf.worth, "open", nodes=[50], times=(), pairs=3, board="5x5"),
    ]
    for event in events:
        here = list(event(progress=False, workers=0).run.pairs())
        for options in everywhere:
            who = {"workers": options.workers, "dask": options.dask, "executor": options.executor}
            assert list(event(progress=False, **who).run.pairs()) == here


def test_an_atlas_and_a_certificate_are_the_same(
    everywhere: list[RunnerOptions], tmp_path: Path
) -> None:
    board, small = Board.of(4, 4), Board.of(3, 5)
    entries = Builder(board, folder=tmp_path / "here").build()
    proof = certify_by_answers(small, small=1).text
    for number, options in enumerate(everywhere):
        map_calls = partial(parallel_map, options=options, describe=str)
        builder = Builder(board, folder=tmp_path / str(number))
        assert builder.build(map_calls=map_calls) == entries
        assert builder.nodes > 0
        assert certify_by_answers(small, small=1, map_calls=map_calls).text == proof


def test_a_build_goes_on_whoever_began_it(tmp_path: Path, processes: Executor) -> None:
    board = Board.of(4, 4)
    first = Builder(board, folder=tmp_path)
    told: list[int] = []

    def stop(done: int, of: int) -> None:
        told.append(done)
        if done == 5:
            raise KeyboardInterrupt

    elsewhere = partial(parallel_map, options=RunnerOptions(executor=processes), describe=str)
    with pytest.raises(KeyboardInterrupt):
        first.build(stop, elsewhere)
    again = Builder(board, folder=tmp_path)
    assert len(again.resumed()) == 5
    assert again.build() == Builder(board, folder=tmp_path / "else").build()


# -- accidents ---------------------------------------------------------------------------------


@needs_signals
@pytest.mark.parametrize("kind", ["workers", "dask"])
def test_a_killed_worker_costs_its_own_call(kind: str, dask_cluster: Any, tmp_path: Path) -> None:
    here: dict[str, Any] = {"workers": 2, "dask": dask_cluster.scheduler_address}
    signs = [str(tmp_path / str(number)) for number in range(6)]
    assert mapped(jobs.dies_once, signs, RunnerOptions(**{kind: here[kind]})) == signs


@needs_signals
def test_what_kills_every_worker_is_named(dask_cluster: Any) -> None:
    options = RunnerOptions(dask=dask_cluster.scheduler_address)
    with pytest.raises(KnightfallError, match=r"the call with 1: 3 worker processes died"):
        mapped(jobs.dies, [1], options)


@needs_signals
def test_an_executor_that_lost_a_process_is_given_up_with_what_is_known(tmp_path: Path) -> None:
    known = []
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        results = parallel_map(
            jobs.dies_at_three, range(9), RunnerOptions(executor=pool), describe=str
        )
        with pytest.raises(RunnerFailure, match="the executor has shut down"):
            known.extend(results)
        with pytest.raises(RunnerFailure, match="the executor accepts no more work"):
            mapped(jobs.squares, [1], RunnerOptions(executor=pool))
    assert known == [(0, 0), (1, 1), (2, 2)]


def test_errors_arrive_with_their_type(everywhere: list[RunnerOptions]) -> None:
    for options in (RunnerOptions(), *everywhere):
        with pytest.raises(ZeroDivisionError):
            mapped(jobs.inverse, [1, 0], options)
        with pytest.raises(KnightfallError, match="not 3"):
            mapped(jobs.refuses, range(5), options)


def test_ending_early_cancels_what_has_not_begun(everywhere: list[RunnerOptions]) -> None:
    for options in everywhere:
        with closing(parallel_map(jobs.squares, range(500), options, describe=str)) as results:
            next(results)
        assert mapped(jobs.squares, [3], options) == [9]


def test_another_version_elsewhere_is_refused(
    dask_cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "package_version", lambda: "another")
    with pytest.raises(KnightfallError, match=r"the Dask worker tcp://.* has another version"):
        mapped(jobs.squares, [1], RunnerOptions(dask=dask_cluster.scheduler_address))


def test_an_agent_whose_file_is_elsewhere(dask_cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f(board, open, me, opp, to_move):\n    return 1.0 * me\n")
    agent = kf.agent(f"greedy({file}:f)")
    agent.prepare(Board.of(5, 5))
    file.unlink()
    with pytest.raises(KnightfallError, match="there is no file"):
        grade(agent, openings=2, board="5x5", dask=dask_cluster.scheduler_address, progress=False)


# -- what is refused ---------------------------------------------------------------------------


def test_only_one_is_chosen() -> None:
    with ThreadPoolExecutor(1) as pool:
        for options in (RunnerOptions(1, executor=pool), RunnerOptions(dask="x:1", executor=pool)):
            with pytest.raises(KnightfallError, match="executor= has its own workers"):
                options.check()
    with pytest.raises(KnightfallError, match="workers=257 must be from 0 to 256"):
        RunnerOptions(257).check()


LONG = [
    ["grade", "random"],
    ["atlas", "build", "4x4", "--again"],
    ["atlas", "certify", "3x5"],
    ["match", "random", "greedy(open)"],
    ["tournament", "--test", "random"],
    ["league", "random", "greedy(open)"],
    ["worth", "main"],
]


@pytest.mark.parametrize("command", LONG, ids=" ".join)
def test_bad_addresses_are_refused_by_every_command(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for given, told in BAD:
        assert told in refused(*command, *given)


BAD = [
    (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answers at 'tcp://127.0.0.1:9'"),
    (["--dask", "nonsense"], "'nonsense' is not the address of a Dask scheduler"),
    (["--workers", "2", "--dask", "tcp://127.0.0.1:9"], "choose one"),
]


def test_commands_on_a_cluster(
    dask_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    where = ["--dask", dask_cluster.scheduler_address]
    for command in (["atlas", "build", "4x4", "--again"], ["atlas", "certify", "3x5"]):
        answer(*command, "--output", "here.txt", "--json")
        answer(*command, "--output", "there.txt", "--json", *where)
        assert Path("here.txt").read_bytes() == Path("there.txt").read_bytes()
        Path("here.txt").unlink()
        Path("there.txt").unlink()
