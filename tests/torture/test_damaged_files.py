"""Tests that damaged files of every kind are refused in one line, or are still valid.

The long version is ``make torture``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from torture.damaged_files import Kind, kinds, torture

NAMES = (
    "run (jsonl)", "store", "store, rows", "store, schema", "store, other runs", "store, endless",
    "saved game", "game as text", "book", "atlas",
    "atlas journal", "certificate", "studies (toml)", "costs (toml)", "grades",
    "students' costs (toml)", "fits (json)", "trials", "lessons of a class",
)  # fmt: skip
SLOW = {
    "store": 20,
    "store, rows": 20,
    "store, schema": 60,
    "store, endless": 20,
    "run (jsonl)": 50,
    "studies (toml)": 40,
}
NEVER_REFUSED = ("atlas journal", "grades", "trials")  # an unreadable file is made again


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kind]:
    return kinds(tmp_path_factory.mktemp("good"))


def test_every_kind_is_tortured(every_kind: dict[str, Kind]) -> None:
    assert set(NAMES) == set(every_kind)


@pytest.mark.parametrize("name", NAMES)
def test_good_ones_are_read(name: str, every_kind: dict[str, Kind], tmp_path: Path) -> None:
    for number, good in enumerate(every_kind[name].good):
        path = tmp_path / f"good{number}{every_kind[name].suffix}"
        path.write_bytes(good)
        every_kind[name].read(path)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_refused_and_nothing_else(
    name: str, every_kind: dict[str, Kind], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    count = SLOW.get(name, 120)
    tally = torture(name, every_kind[name], range(10**6, 10**6 + count), tmp_path)
    assert tally.others == []
    assert tally.files == count
    assert (tally.refused == 0) == (name in NEVER_REFUSED)
