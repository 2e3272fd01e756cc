"""Commands that write files make missing folders, and check the path before they work."""

from __future__ import annotations

from pathlib import Path

import pytest
from arena_helpers import fake_plan, fake_run
from cli_runner import refused, run

FILES = {
    "plot": ["runs", "plot", "--output"],
    "grade": ["grade", "random", "--openings", "1", "--board", "4x4", "--chart"],
    "annotate": ["annotate", "b5 e2 d4 f4 e6 d3", "--chart"],
    "export": ["runs", "export", "--format", "csv", "--output"],
    "backup": ["runs", "backup"],
    "certify": ["atlas", "certify", "4x4", "--output"],
    "build": ["atlas", "build", "4x4", "--output"],
    "site": ["site", "--single-file"],
}
FOLDERS = {
    "plot": ["runs", "plot", "--output"],
    "site": ["site"],
    "new": ["course", "new"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder, with a store that holds one match in another folder."""
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    fake_run(tmp_path / "data" / "arena.sqlite", fake_plan(1, 3))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("command", FILES.values(), ids=FILES)
def test_the_folder_of_a_file_is_made(command: list[str], here: Path) -> None:
    run(*command, "new/folder/file.svg")
    assert "file.svg" in {path.name for path in (here / "new" / "folder").iterdir()}


@pytest.mark.parametrize("command", FILES.values(), ids=FILES)
def test_what_cannot_be_written_is_said_and_nothing_is_left(command: list[str], here: Path) -> None:
    (here / "taken").write_text("mine")
    assert f"'{here / 'taken'}' is a file: name a folder" in refused(*command, "taken/file.svg")
    assert [path.name for path in here.iterdir()] == ["taken"]
    assert (here / "taken").read_text() == "mine"


@pytest.mark.parametrize("command", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_is_made(command: list[str], here: Path) -> None:
    run(*command, "new/folder/")
    assert list((here / "new" / "folder").iterdir())


def test_a_working_folder_that_was_deleted_is_named(here: Path) -> None:
    here.rmdir()
    for command in (
        ["match", "random", "random", "--store", "s"],
        ["match", "mine.py:f", "random"],
    ):
        assert "the folder you are in no longer exists" in refused(*command)


def test_a_folder_that_may_not_be_written_into(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "locked").mkdir(mode=0o500)
    # The tests may be run by root, who may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != here / "locked")
    said = refused("runs", "export", "--format", "csv", "--output", "locked/new/games.csv")
    assert f"no permission to write into the folder '{here / 'locked'}'" in said
