"""``knightfall doctor`` finds what is installed, what is missing, and what is broken."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from cli_runner import answer, run

from knightfall.cli.commands import doctor
from knightfall.cli.commands.doctor import examine
from knightfall.kernel import compile, rules

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "NODES", 10_000)


def found_with(part: str) -> Any:
    return next(finding for finding in examine() if finding.part == part)


def test_a_sound_installation(tmp_path: Path) -> None:
    told = answer("doctor", "--json")
    parts = {one["part"]: one for one in told["findings"]}
    assert told["ok"]
    assert not [one for one in told["findings"] if one["state"] == "broken"]
    for requirement in PROJECT["dependencies"]:
        name = re.split("[^a-z]", requirement)[0]
        assert f"{name} {version(name)}" in parts["packages"]["found"]
    for name in PROJECT["entry-points"]["knightfall.extensions"]:
        assert name in parts["extensions"]["found"]
    extras = {part.removeprefix("extra ") for part in parts if part.startswith("extra ")}
    assert extras == set(PROJECT["optional-dependencies"]) - {"test", "dev", "docs"}
    assert float(re.match(r"[\d.]+", parts["speed"]["found"])[0]) > 0  # type: ignore[index]
    assert str(tmp_path / "arena.sqlite") in parts["store"]["found"]
    assert not any(tmp_path.iterdir())  # it looks, and leaves nothing behind


def test_a_missing_extra_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    shown = run("doctor")
    assert shown.exit_code == 0
    assert re.search(r"^extra dask +missing .*install 'knightfall\[dask\]'$", shown.stdout, re.M)
    assert shown.stdout.splitlines()[-1].startswith("nothing is broken; ")


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "arena.sqlite").write_text("no database")
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "arena.sqlite" in shown.stdout
    assert re.search("^broken: store(;|$)", shown.stdout, re.M)


def test_wrong_machine_code_and_a_folder_that_cannot_be_written_are_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(compile, "cache_folder", lambda: None)
        found = doctor._machine_code()
        assert (found.state, "KNIGHTFALL_CACHE_DIR" in found.remedy) == ("broken", True)
    monkeypatch.setattr(rules, "perft_of", lambda position, depth: 1)
    assert doctor._machine_code().state == "broken"


def test_an_unknown_sandbox_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIGHTFALL_SANDBOX", "bubblewarp")
    monkeypatch.setattr("knightfall.isolation.sandbox._found", [])
    found = found_with("sandbox")
    assert (found.state, "bubblewarp" in found.found) == ("broken", True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these sandboxes")
@pytest.mark.parametrize("installed", [None, "/usr/bin/bwrap"])
def test_a_missing_sandbox_is_told_with_its_remedy(
    installed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KNIGHTFALL_SANDBOX", raising=False)
    monkeypatch.setattr("knightfall.isolation.sandbox.works", lambda kind: False)
    monkeypatch.setattr("shutil.which", lambda name: installed)
    found = doctor._sandbox()
    assert (found.state, found.found.partition(":")[0]) == ("missing", "none")
    remedy = "needs version 0.8" if installed else "apt install bubblewrap"
    assert remedy in found.remedy
