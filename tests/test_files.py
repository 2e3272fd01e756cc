"""Writing of files: atomic, with any number of writers, and readable by other users."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from knightfall.user_folders import atomic_write, atomic_writer, locked


def test_a_file_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    with atomic_writer(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert os.listdir(tmp_path) == ["new.txt"]
    atomic_write(path, "ñ\n", sync=True)
    assert path.read_bytes() == "ñ\n".encode()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, b"precious"])
def test_whatever_happens_the_former_file_stays(
    tmp_path: Path, error: type[BaseException], before: bytes | None
) -> None:
    path = tmp_path / "kept.txt"
    if before is not None:
        path.write_bytes(before)

    def fail() -> None:
        with atomic_writer(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == (
        [] if before is None else [("kept.txt", before)]
    )


def test_a_disk_that_is_full_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "kept.txt"
    path.write_bytes(b"precious")
    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(OSError, match="No space left"):
                atomic_write(path, "more", sync=True)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [
        ("kept.txt", b"precious")
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_other_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        atomic_write(tmp_path / "ours.txt", b"")
        (tmp_path / "plain.txt").write_bytes(b"")
    finally:
        os.umask(before)
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert modes["ours.txt"] == modes["plain.txt"]


def test_a_link_stays_a_link_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_bytes(b"old")
    link.symlink_to(real)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    code = "from pathlib import Path; from knightfall.user_folders import atomic_write; "
    code += "atomic_write(Path('/dev/stdout'), 'through')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "through"


def test_errors_name_the_file_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    for path in (tmp_path / "taken" / "file.txt", tmp_path):
        with pytest.raises(OSError, match=r"File exists|Is a directory") as error:
            atomic_write(path, b"")
        assert str(error.value.filename) == str(path)


def test_writers_do_not_get_into_each_others_way(tmp_path: Path) -> None:
    path = tmp_path / "shared.txt"
    texts = [bytes([65 + number]) * 50_000 for number in range(6)]
    begun = threading.Barrier(len(texts))
    failures: list[BaseException] = []

    def write(text: bytes) -> None:
        try:
            with atomic_writer(path) as file:
                begun.wait(30)  # all writers are in the middle
                file.write(text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert path.read_bytes() in texts
    assert os.listdir(tmp_path) == ["shared.txt"]


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "count.txt"
    path.write_text("0")

    def add() -> None:
        for _ in range(50):
            with locked(path):
                atomic_write(path, str(int(path.read_text()) + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "200"
