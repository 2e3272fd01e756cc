"""Labelled positions and tuned weights are the same with any number of workers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cli_runner import refused
from dask_clusters import two_workers
from helpers import need

from knightfall.learning import shard_builder
from knightfall.learning.data import DataSettings
from knightfall.learning.tune_settings import TuneSettings
from knightfall.learning.tuning import run_tuning

need("pyarrow")
pytestmark = pytest.mark.slow  # tests/isolation/test_parallel_map.py has quick ones of commands

WANTED = DataSettings.of(600, 3, ["5x5"], 100)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with two_workers(threads=2) as cluster:
        yield cluster.scheduler_address


def shards(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*.parquet")}


def test_files_are_the_same_to_the_last_byte(address: str, tmp_path: Path) -> None:
    shard_builder.generate(tmp_path / "here", WANTED, progress=False)
    expected = shards(tmp_path / "here")
    assert len(expected) == 6
    with ThreadPoolExecutor(2) as threads:
        elsewhere: list[dict[str, Any]] = [{"dask": address}, {"executor": threads}]
        for number, who in enumerate(elsewhere):
            shard_builder.generate(tmp_path / str(number), WANTED, progress=False, **who)
            assert shards(tmp_path / str(number)) == expected


def test_a_set_goes_on_elsewhere(address: str, tmp_path: Path) -> None:
    shard_builder.generate(tmp_path / "here", WANTED, progress=False)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    for file in sorted((tmp_path / "there").rglob("*.parquet"))[1::2]:
        file.unlink()
    shard_builder.generate(tmp_path / "there", WANTED, dask=address, progress=False)
    assert shards(tmp_path / "there") == shards(tmp_path / "here")


def test_a_tuning_is_the_same(address: str, tmp_path: Path) -> None:
    pytest.importorskip("cmaes")
    settings = TuneSettings.of(
        "improved+0.5*open", nodes=20, generations=2, population=4, pairs=2, board="5x5", seed=1,
        sprt=(0.0, 200.0),
    )  # fmt: skip
    found = []
    with ThreadPoolExecutor(2) as threads:
        for name, who in (
            ("here", {}),
            ("dask", {"dask": address}),
            ("own", {"executor": threads}),
        ):
            report = run_tuning(tmp_path / name, settings, progress=False, **who).to_dict()  # type: ignore[arg-type]
            found.append((tmp_path / name / "tuning.json").read_text())
            found.append(json.dumps({**report, "folder": "", "seconds": 0}))
    assert found[:2] == found[2:4] == found[4:]


@pytest.mark.parametrize(
    "command", [["learn", "data", "there"], ["learn", "tune", "improved+0.5*open", "there"]]
)
def test_bad_addresses_are_refused(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for given, told in (
        (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answers at"),
        (["--dask", "nonsense"], "'nonsense' is not the address of a Dask scheduler"),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:9"], "choose one"),
    ):
        assert told in refused(*command, *given)
    assert not (tmp_path / "there").exists()
