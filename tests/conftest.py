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

LONGEST_FIRST = (
    "web/test_lab_api.py",
    "solver/test_solver.py",
    "studies/test_reproduce.py",
    "arena/test_runners.py",
    "course/test_course_class.py",
    "course/test_course_check.py",
    "web/test_lab_page.py",
    "course/test_course_compiled.py",
    "search/test_search.py",
    "web/test_analysis.py",
    "docs/test_blocks.py",
    "heuristics/test_heuristics.py",
    "web/test_page.py",
    "heuristics/test_user_heuristic_errors.py",
    "web/test_puzzles.py",
    "web/test_wasm_engine.py",
    "oracle/test_grade.py",
    "torture/test_kills.py",
    "course/test_course_studies.py",
    "arena/test_charts.py",
    "oracle/test_check.py",
    "solver/test_certificate.py",
    "cli/test_cli_process.py",
    "course/test_course_agents.py",
    "course/test_course_habits.py",
    "course/test_course_run.py",
    "heuristics/test_user_heuristics.py",
    "solver/test_atlas.py",
    "statistics/test_ratings.py",
    "statistics/test_statistics.py",
    "isolation/test_agent_host.py",
    "arena/test_workers.py",
    "isolation/test_sigint.py",
    "isolation/test_isolated_load.py",
    "cli/test_cli_arena.py",
    "isolation/test_hostile_agents.py",
    "benchmarks/test_benchmarks.py",
    "solver/test_perfect.py",
    "solver/test_theory.py",
    "heuristics/test_interpreted_heuristics.py",
    "heuristics/test_hostile_heuristics.py",
    "search/test_warm_up.py",
)
"""The slowest files, which run first, so that all processes are busy to the end.

Files that start many processes or a browser are not neighbours, so that few run at once.
"""


def pytest_configure() -> None:
    """Let this process load users' files directly, without first trying them in another process.

    Garbage is collected less often: Numba leaves much, but collecting takes longer than it saves.
    """
    be_expendable()
    gc.set_threshold(50_000, 20, 20)


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
