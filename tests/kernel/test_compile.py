"""The disk cache of machine code: damaged or unwritable files never stop a command."""

from __future__ import annotations

import errno
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import types

from knightfall.kernel import compile

SIGNATURE = types.int64(types.int64)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use a separate cache folder for the test."""
    monkeypatch.setenv("KNIGHTFALL_CACHE_DIR", str(tmp_path / "cache"))
    forget_folders()
    found = compile.module_folder(__name__)
    assert found is not None
    assert found.is_relative_to(tmp_path)
    yield found
    forget_folders()


def forget_folders() -> None:
    compile.cache_folder.cache_clear()
    compile.module_folder.cache_clear()


def twice_plus_one(number: int) -> int:
    return 2 * number + 1


def used() -> int:
    """Compile and call a function as a new process would; return the number of cache hits."""
    function: Any = compile.compiled(SIGNATURE)(twice_plus_one)
    assert function(3) == 7
    return sum(function.stats.cache_hits.values())


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_was_compiled_is_found_again(folder: Path) -> None:
    assert (used(), used()) == (0, 1)
    assert [path.suffix for path in files(folder)] in ([".nbc", ".nbi"], [".nbi", ".nbc"])


class Bomb:
    """An object that raises an unusual exception when it is unpickled."""

    def __reduce__(self) -> Any:
        return exec, ("raise RecursionError('boo')",)


def signed(content: bytes) -> bytes:
    return compile._checksum(content) + content


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "a byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    "garbage": lambda content: os.urandom(len(content)),
    "Numba's own": lambda content: pickle.dumps("0.1.0") + content[32:],
    "another pickle": lambda content: signed(pickle.dumps([1, 2, 3])),
    "a pickle that raises": lambda content: signed(pickle.dumps(Bomb())),
    "no pickle": lambda content: signed(b"not a pickle"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_thrown_away_and_made_anew(
    folder: Path, damage: str, suffix: str
) -> None:
    used()
    (path,) = (path for path in files(folder) if path.suffix == suffix)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert (used(), used()) == (0, 1)
    assert not [one for one in files(folder) if one.suffix not in (".nbi", ".nbc")]


def test_a_file_that_is_missing_is_made_anew(folder: Path) -> None:
    used()
    for path in files(folder):
        path.unlink()
        assert (used(), used()) == (0, 1)


def test_another_version_of_numba_does_not_read_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used()
    monkeypatch.setattr(compile.numba, "__version__", "99.0")
    assert (used(), used()) == (0, 1)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_full_disk_does_not_stop_anybody(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: int,
) -> None:
    class Full:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *raised: object) -> None:
            self.file.close()

        def write(self, content: bytes) -> None:
            self.file.write(content[:10])
            raise OSError(error, os.strerror(error))

    def opened(path: str, mode: str) -> Any:
        file = open(path, mode)  # noqa: SIM115
        return Full(file) if "w" in mode else file

    monkeypatch.delenv("KNIGHTFALL_QUIET", raising=False)
    monkeypatch.setattr(compile._announcer, "told_why", False)
    with monkeypatch.context() as patch:
        patch.setattr("numba.core.caching.open", opened, raising=False)
        assert (used(), used()) == (0, 0)
    said = capsys.readouterr().err
    assert said.count(f"cannot be kept: {os.strerror(error)}") == 1
    assert not files(folder)
    assert (used(), used()) == (0, 1)


def test_a_disk_that_fills_up_between_two_files_leaves_nobody_with_the_wrong_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(compile._Files, "_save_index", full)
        function: Any = compile.compiled(types.float64(types.float64))(twice_plus_one)
        assert function(0.25) == 1.5
    assert used() == 1
    function = compile.compiled(types.float64(types.float64))(twice_plus_one)
    assert function(0.25) == 1.5


# -- ownership of the folder -----------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no modes here")
@pytest.mark.parametrize("before", [None, 0o755, 0o777])
def test_the_folder_is_private(folder: Path, before: int | None) -> None:
    used()
    if before is not None:
        folder.chmod(before)
        folder.parent.chmod(before)
        forget_folders()
        assert compile.module_folder(__name__) == folder
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    # Files that other users could have written are not used.
    assert used() == (0 if before == 0o777 else 1)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners here")
def test_code_in_somebody_elses_folder_is_not_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used()
    before = {path: path.read_bytes() for path in files(folder)}
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    forget_folders()
    assert compile.cache_folder() is None
    assert used() == 0
    assert {path: path.read_bytes() for path in files(folder)} == before


def test_the_oldest_versions_of_a_module_are_thrown_away(folder: Path) -> None:
    others = [folder.parent / f"{__name__}-{number}" for number in range(6)]
    kept = folder.parent / "another_module-0"
    for age, other in enumerate([*others, kept]):
        other.mkdir()
        os.utime(other, (age, age))
    folder.rmdir()
    forget_folders()
    assert compile.module_folder(__name__) == folder
    left = {path for path in folder.parent.iterdir() if path.is_dir()}
    assert left == {folder, kept, *others[-compile.KEPT_VERSIONS :]}
