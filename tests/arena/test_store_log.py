"""Logs that a killed process leaves beside a store, full disks and limits, and copies."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from arena.test_backup import killed_in_a_run, needs_fork, played
from arena.test_store import PLAY, folder_for_permissions, refused
from arena_helpers import all_rows, fake_pair, fake_plan, fake_run, play_on

from knightfall.arena.export_run import back_up
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError, NotFound

pytestmark = needs_fork


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store that a killed process left, with four pairs in its log."""
    file = tmp_path / "arena.sqlite"
    killed_in_a_run(file, 4)
    return file


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def check(file: Path, pairs: int) -> None:
    """Check that a store has the first pairs of the fake run, as they were stored."""
    with Store.open(file, read_only=True) as store:
        run = store.last()
        run.outcomes()
        assert list(run.pairs()) == [fake_pair(run.plan.task(number)) for number in range(pairs)]


def test_a_log_without_its_index_is_read(file: Path) -> None:
    file.with_name("arena.sqlite-shm").unlink()
    check(file, 4)


def test_a_log_is_read_without_permission_to_write() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with folder_for_permissions() as folder:
        file = folder / "arena.sqlite"
        killed_in_a_run(file, 4)
        folder.chmod(0o555)
        for each in folder.iterdir():
            each.chmod(0o444)
        os.seteuid(65534)
        check(file, 4)
        os.seteuid(0)
        file.with_name("arena.sqlite-shm").unlink()
        before = log_of(file).read_bytes()
        os.seteuid(65534)
        refused(lambda: Store.open(file, read_only=True), str(file), "copy both files")
        refused(lambda: Store.open(file), "no permission")
        os.seteuid(0)
        assert log_of(file).read_bytes() == before
        folder.chmod(0o755)
        check(file, 4)


def test_the_log_of_another_store_changes_nothing(file: Path, tmp_path: Path) -> None:
    """Check that a store that was put beside a foreign log is refused, and stays whole."""
    other = tmp_path / "other.sqlite"
    fake_run(other, fake_plan(3, 60, board="7x7", seed=5))
    foreign = log_of(file).read_bytes()
    log_of(other).write_bytes(foreign)
    before = other.read_bytes()
    for read_only in (True, False):
        refused(
            lambda how=read_only: Store.open(other, read_only=how),
            str(other), "does not fit its log other.sqlite-wal", "move the log",
        )  # fmt: skip
    assert (other.read_bytes(), log_of(other).read_bytes()) == (before, foreign)
    log_of(other).unlink()
    with Store.open(other, read_only=True) as store:
        assert len(list(store.last().pairs())) == 180
    check(file, 4)


def test_a_log_that_is_no_log_is_not_emptied(file: Path) -> None:
    for content in (b"once upon a time" * 100, b"\x7fELF" * 5000):
        log_of(file).write_bytes(content)
        for read_only in (True, False):
            refused(lambda how=read_only: Store.open(file, read_only=how), "move it away")
        assert log_of(file).read_bytes() == content


def test_a_log_with_other_pages_changes_nothing(file: Path) -> None:
    """Check a log that says that pages have another size than those of the store."""
    with Store.open(file, read_only=True):
        pass  # the log is now in the store
    db = sqlite3.connect(file.with_name("pages.sqlite"), isolation_level=None)
    for statement in ("PRAGMA page_size = 8192", "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)"):
        db.execute(statement)
    foreign = file.with_name("pages.sqlite-wal").read_bytes()
    db.close()
    assert struct.unpack_from(">I", foreign, 8) == (8192,)
    log_of(file).write_bytes(foreign)
    before = file.read_bytes()
    refused(lambda: Store.open(file, read_only=True), str(file))
    assert (file.read_bytes(), log_of(file).read_bytes()) == (before, foreign)


def test_a_torn_log_keeps_what_was_committed(file: Path) -> None:
    """Check that a log that is cut anywhere leaves the first pairs of the run, or none."""
    whole, content = log_of(file).read_bytes(), file.read_bytes()
    seen = set()
    for size in [*range(0, len(whole), len(whole) // 40), len(whole)]:
        copy = file.with_name(f"cut{size}.sqlite")
        copy.write_bytes(content)
        log_of(copy).write_bytes(whole[:size])
        try:
            pairs = played(copy)
        except NotFound:  # not even the tables are in what is left
            continue
        check(copy, pairs)
        seen.add(pairs)
    assert seen == {0, 4}  # they were committed together


# -- copies while a run writes ---------------------------------------------------------------------


@contextmanager
def writing(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that plays a run into a store, and wait until the run is begun."""
    command = [sys.executable, "-c", PLAY, str(file), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def prefix(file: Path) -> int:
    """Check that a copy has the first pairs of the run; return how many."""
    with Store.open(file, read_only=True) as store:
        run = store.last()
        pairs = list(run.pairs())
        run.outcomes()
        assert pairs == [fake_pair(run.plan.task(number)) for number in range(len(pairs))]
    return len(pairs)


def test_copies_of_a_store_that_is_written_have_the_first_pairs(tmp_path: Path) -> None:
    """Check backups, and plain copies of the one file and of all, while a run writes."""
    file, done = tmp_path / "s.sqlite", list[int]()
    with writing(file) as process:
        for turn in range(12):
            backup = tmp_path / f"backup{turn}.sqlite"
            with Store.open(file, read_only=True) as store:  # this moves the log into the store
                back_up(store, backup)
            done.append(prefix(backup))
            for names in (["s.sqlite"], ["s.sqlite", "s.sqlite-wal"]):
                folder = tmp_path / f"copy{turn}.{len(names)}"
                folder.mkdir()
                for name in names:
                    if file.with_name(name).exists():
                        shutil.copy(file.with_name(name), folder / name)
                try:
                    prefix(folder / "s.sqlite")
                except KnightfallError:  # refused: torn by a write between the two copies
                    continue
        process.send_signal(signal.SIGKILL)
    assert done == sorted(done)
    assert prefix(file) >= done[-1]


# -- limits ----------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from arena_helpers import *
with Store.open(sys.argv[1]) as store:
    run = store.begin(fake_plan(2, 60), ENGINE, VERSIONS)
    play_on(run, 10)
    size = int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        play_on(run, 120)
    except ValueError as error:
        print(run.played, error)
"""


def test_a_limit_on_the_size_of_files_is_named(tmp_path: Path) -> None:
    file, undisturbed = tmp_path / "s.sqlite", tmp_path / "u.sqlite"
    fake_run(undisturbed, fake_plan(2, 60))
    command = [sys.executable, "-c", LIMITED, str(file), str(Path(__file__).parents[1])]
    for size in (60_000, 100_000):
        done = subprocess.run([*command, str(size)], capture_output=True, text=True, timeout=180)
        assert (done.returncode, done.stderr) == (0, "")
        pairs, _, said = done.stdout.partition(" ")
        assert f"a file must not grow beyond {size:,} bytes here" in said
        assert "ulimit -f" in said
        assert "all pairs stored before are safe" in said
        assert 10 <= int(pairs) < 120
        check(file, int(pairs))
        with Store.open(file) as store:
            play_on(store.last(), 120)
        assert all_rows(file)["games"] == all_rows(undisturbed)["games"]
        file.unlink()
