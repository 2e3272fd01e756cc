"""Backups are complete at any moment, and finished runs are in the store's main file."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from arena_helpers import ENGINE, VERSIONS, all_rows, fake_pair, fake_plan, fake_run
from cli_runner import refused, run

from knightfall.arena import store_file
from knightfall.arena.export_run import back_up
from knightfall.arena.store import Run, Store
from knightfall.errors import KnightfallError

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def killed_in_a_run(file: Path, pairs: int) -> None:
    """Start a process that is killed after some pairs, without closing the store."""
    child = os.fork()
    if child == 0:
        try:
            store = Store.open(file)
            run = store.begin(fake_plan(1, 10), ENGINE, VERSIONS)
            run.append([fake_pair(run.plan.task(number)) for number in range(pairs)])
        finally:
            os._exit(9)
    os.waitpid(child, 0)


def played(file: Path) -> int:
    with Store.open(file, read_only=True) as store:
        return store.last().played


@needs_fork
def test_after_a_kill_a_copied_file_is_empty_and_a_backup_is_not(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    killed_in_a_run(file, 4)
    assert (tmp_path / "s.sqlite-wal").stat().st_size > 10_000
    shutil.copy(file, tmp_path / "copied.sqlite")
    with pytest.raises(KnightfallError, match="no runs yet"):
        played(tmp_path / "copied.sqlite")  # a plain copy lacks the -wal file
    printed = run("runs", "backup", str(tmp_path / "b.sqlite"), "--store", str(file), "--json")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout)["games"] == 8
    assert played(tmp_path / "b.sqlite") == 4
    assert all_rows(tmp_path / "b.sqlite") == all_rows(file)


@needs_fork
def test_opening_brings_everything_into_the_file(tmp_path: Path) -> None:
    for read_only in (True, False):
        file = tmp_path / f"{read_only}.sqlite"
        killed_in_a_run(file, 3)
        with Store.open(file, read_only=read_only):
            shutil.copy(file, tmp_path / "copied.sqlite")
            assert played(tmp_path / "copied.sqlite") == 3


def test_a_run_that_is_finished_is_all_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    with Store.open(file) as store:
        run = store.begin(fake_plan(1, 2), ENGINE, VERSIONS)
        run.append([fake_pair(run.plan.task(number)) for number in range(2)])
        run.finish({})
        shutil.copy(file, tmp_path / "copied.sqlite")  # while the store is open
    with Store.open(tmp_path / "copied.sqlite", read_only=True) as copied:
        assert copied.last().finished


def test_nobody_waits_for_others_to_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that opening a store and finishing a run do not wait for a reader or another writer."""
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 3600.0)  # waiting would hang here
    file = tmp_path / "s.sqlite"
    fake_run(file, fake_plan(1, 2), 1)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM runs").fetchall()
    with Store.open(file) as store:
        run = store.last()
        run.append([fake_pair(run.plan.task(1))])
        run.finish({})
        reader.execute("COMMIT")
        reader.execute("BEGIN IMMEDIATE")
        with Store.open(file) as other, Store.open(file, read_only=True) as third:
            assert other.last().finished
            assert third.last().finished
            other.file.checkpoint()
    reader.close()


def test_a_backup_is_of_one_moment_though_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "PAGES_AT_ONCE", 2)
    file, steps = tmp_path / "s.sqlite", list[int]()
    fake_run(file, fake_plan(1, 10), 3)
    before = all_rows(file)
    with Store.open(file) as writer, Store.open(file, read_only=True) as store:
        run: Run = writer.last()

        def write(left: int, of: int) -> None:
            steps.append(left)
            if run.played < 10:
                run.append([fake_pair(run.plan.task(run.played))])

        back_up(store, tmp_path / "b.sqlite", on_progress=write)
        assert run.played == 10
    assert steps == sorted(steps, reverse=True), "it never began anew"
    assert all_rows(tmp_path / "b.sqlite") == before


def test_a_backup_is_whole_or_not_there(tmp_path: Path) -> None:
    file, target = tmp_path / "s.sqlite", tmp_path / "b.sqlite"
    fake_run(file, fake_plan(1, 3))
    target.write_text("precious")

    def stop(left: int, of: int) -> None:
        raise KeyboardInterrupt

    with Store.open(file, read_only=True) as store:
        with pytest.raises(KeyboardInterrupt):
            back_up(store, target, force=True, on_progress=stop)
        assert target.read_text() == "precious"
        assert sorted(os.listdir(tmp_path)) == [
            "b.sqlite",
            "s.sqlite",
            "s.sqlite-shm",
            "s.sqlite-wal",
        ]
        assert back_up(store, target, force=True) == target
    assert all_rows(target) == all_rows(file)


def test_what_cannot_be_a_backup_is_said(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    fake_run(file, fake_plan(1, 3))
    (tmp_path / "there").write_text("precious")
    (tmp_path / "used-wal").write_text("")
    for name, more, said in (
        ("there", [], "--force"),
        ("s.sqlite", ["--force"], "the store itself"),
        ("used", ["--force"], "used-wal exists"),
        ("there/copy", [], "there' is a file: name a folder"),
        ("", [], "is a folder: name a file"),
        ("x" * 300, [], "cannot write"),
    ):
        assert said in refused("runs", "backup", str(tmp_path / name), *more, "--store", str(file))
    assert (tmp_path / "there").read_text() == "precious"
    assert "no runs yet" in refused("runs", "backup", "b", "--store", str(tmp_path / "nothing"))
    done = run("runs", "backup", str(tmp_path / "there"), "--force", "--store", str(file))
    assert done.stdout.startswith("1 run, 6 games, 0.1 MB copied to ")
