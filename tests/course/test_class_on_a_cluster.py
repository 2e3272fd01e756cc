"""A class played on a cluster or in an executor gets the same pages as in this process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cli_runner import refused
from dask_clusters import two_workers
from submissions import SEARCH, write

from knightfall.course.classroom.classroom import hold_class
from knightfall.course.trial.successor_games import both_seats, play_all
from knightfall.isolation.parallel_map import RunnerOptions

pytestmark = pytest.mark.slow  # tests/isolation/test_parallel_map.py has quick ones of commands


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_workers() as cluster:
        yield cluster


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "class" / "ann", SEARCH)
    write(tmp_path / "class" / "bob", SEARCH.replace("float(", "1.5 + float("))
    return tmp_path / "class"


def held(folder: Path, output: str, **who: Any) -> dict[str, str]:
    """Rate a class; return the written files that contain neither paths nor times."""
    options: dict[str, Any] = {
        "pairs": 1, "classmates": 1, "time": "12ms", "opponents": ["Random"], "progress": False,
    }  # fmt: skip
    hold_class(str(folder), output, **options, **who)
    files = [Path(output, "class.csv"), *sorted(Path(output, "lessons").iterdir())]
    assert len(files) == 3
    return {file.name: file.read_text() for file in files}


def test_a_class_on_a_cluster(folder: Path, cluster: Any) -> None:
    here = held(folder, "here", workers=0)
    assert held(folder, "there", dask=cluster.scheduler_address) == here
    with ThreadPoolExecutor(2) as threads:
        assert held(folder, "own", executor=threads) == here


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_games_of_the_successor_survive_a_killed_worker(cluster: Any) -> None:
    games = both_seats("Random", "Greedy", 30, 1)
    here = dict(play_all(games, RunnerOptions(workers=0)))
    found: dict[int, Any] = {}
    with cluster.get_client() as client:
        victim = next(iter(client.run(os.getpid).values()))
    for number, result in play_all(games, RunnerOptions(dask=cluster.scheduler_address)):
        found[number] = result
        if len(found) == 5:
            os.kill(victim, signal.SIGKILL)
    assert found == here


def test_threads_do_not_disturb_each_other_s_random_numbers() -> None:
    games = both_seats("Random", "Random", 10, 1)
    with ThreadPoolExecutor(4) as threads:
        assert dict(play_all(games, RunnerOptions(executor=threads))) == dict(
            play_all(games, RunnerOptions(workers=0))
        )


@pytest.mark.parametrize("command", [["course", "class", "class"], ["course", "run", "class/ann"]])
def test_bad_addresses_are_refused(command: list[str], folder: Path) -> None:
    for given, told in (
        (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answers at"),
        (["--dask", "nonsense"], "'nonsense' is not the address of a Dask scheduler"),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:9"], "choose one"),
    ):
        assert told in refused(*command, *given)
