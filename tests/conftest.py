"""Hooks and fixtures of the whole test suite."""

from __future__ import annotations

import ctypes
import gc
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import naive_search
import naive_solver
import pytest
from hypothesis import HealthCheck, settings

from knightfall.isolation.limits import be_expendable

# A shell starts background jobs with Ctrl-C ignored, and every process they start inherits that.
# The tests interrupt child processes with SIGINT, so it is restored here.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent

# On a busy machine any example may be slow once, so there is no deadline.
BUSY: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", **BUSY, max_examples=25)
settings.register_profile("thorough", **BUSY, max_examples=500)  # for make test-slow
settings.load_profile("quick")

IN_A_BROWSER = (
    "web/test_lab_page.py",
    "web/test_page.py",
    "web/test_notebook_board.py",
    "web/test_jupyterlab.py",
    "web/test_puzzles.py",
    "web/test_analysis.py",
    "web/test_playing.py",
)
"""Files that one process runs, because there is one browser at a time."""

TOGETHER = {
    **dict.fromkeys(IN_A_BROWSER, "browser"),
    **dict.fromkeys(("learning", "arena/test_export.py", "cli/test_cli_runs.py"), "parquet"),
    **dict.fromkeys(("engines", "env", "kernel/test_joust.py", "openspiel"), "adapters"),
}
"""The groups of files and folders that one process runs: besides those in a browser, those that
load the same large packages, so that not every process takes the memory for them."""

LONGEST_FIRST = (
    *IN_A_BROWSER,
    "course/test_course_class.py",
    "arena/test_snapshot.py",
    "course/test_course_check.py",
    "course/test_course_run.py",
    "web/test_lab_api.py",
    "arena/test_runners.py",
    "cli/test_cli_arena.py",
    "studies/test_reproduce.py",
    "course/test_course_check_successor.py",
    "heuristics/test_user_heuristic_errors.py",
    "solver/test_solver.py",
    "course/test_course_agents.py",
    "oracle/test_check.py",
    "isolation/test_parallel_map.py",
    "cli/test_cli_process.py",
    "arena/test_fresh_state.py",
    "learning/test_tune.py",
    "course/test_course_compiled.py",
    "docs/test_blocks.py",
    "isolation/test_sandbox.py",
    "heuristics/test_interpreted_heuristics.py",
    "course/test_course_habits.py",
    "agents/test_extensions.py",
    "isolation/test_agent_host.py",
    "oracle/test_grade.py",
    "isolation/test_hostile_agents.py",
    "test_user_files.py",
    "heuristics/test_expression.py",
    "isolation/test_isolated_load.py",
    "heuristics/test_read_only_board.py",
    "isolation/test_submission_limits.py",
    "search/test_search.py",
    "solver/test_atlas.py",
    "benchmarks/test_benchmarks.py",
    "arena/test_wall_clock.py",
    "heuristics/test_hostile_heuristics.py",
    "cli/test_cli_runs.py",
    "torture/test_kills.py",
    "cli/test_cli.py",
    "learning/test_sets.py",
    "solver/test_certificate.py",
    "docs/test_recipes.py",
)
"""The slowest files, which run first, so that all processes are busy to the end."""


def pytest_configure() -> None:
    """Let this process load users' files directly, without first trying them in another process.

    Garbage is collected less often: Numba leaves much, but collecting takes longer than it saves.
    """
    be_expendable()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(optionalhook=True)  # without xdist there is nothing to distribute
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Distribute whole files to the test processes, and each group of `TOGETHER` to one."""
    from xdist.scheduler import LoadFileScheduling

    class WholeFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid).removeprefix("tests/")
            return TOGETHER.get(file) or TOGETHER.get(file.partition("/")[0], file)

    return WholeFiles(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--shuffle SEED``: files, and the tests of each file, in a random order."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run in a random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the slowest files first, or shuffle the files and the tests of each."""
    seed = config.getoption("--shuffle")
    if seed is None:
        rank = {HERE / name: place for place, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: rank.get(item.path, len(rank)))
        return
    draw = random.Random(seed)
    draw.shuffle(items)
    place = {path: draw.random() for path in sorted({item.path for item in items})}
    items.sort(key=lambda item: place[item.path])


def pytest_collection_finish() -> None:
    """Exclude everything loaded so far from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _forget_what_slow_twins_and_solvers_remember() -> Iterator[None]:
    """Empty the caches of the reference implementations after each file; they take gigabytes."""
    yield
    # Imported here, because the process that distributes the tests does not need them.
    from knightfall.agents.remote_player import _idle
    from knightfall.search.transposition_table import _tables

    naive_solver.forget()
    naive_search.forget()
    if not any(thread.name == "knightfall-worker" for thread in threading.enumerate()):
        _tables.__dict__.pop("held", None)  # otherwise an abandoned search might still write there
    _idle.end()
    gc.collect()
    with suppress(OSError, AttributeError):  # the system does not support it
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let agents write to the user's files, which a sandbox prevents."""
    from knightfall.isolation import sandbox

    monkeypatch.setenv(sandbox.VARIABLE, "none")
    monkeypatch.setattr(sandbox, "_found", [])


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a test use a cache folder of its own that contains nothing but the machine code."""
    from knightfall.user_folders import cache_folder

    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    (cache / "machine-code").symlink_to(cache_folder() / "machine-code")
    monkeypatch.setenv("KNIGHTFALL_CACHE_DIR", str(cache))
    return cache
