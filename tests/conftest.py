"""What holds for the whole suite."""

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
# The tests interrupt processes of their own, so they must not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent

# On a busy machine anything may be slow once; that says nothing of what is tested.
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
"""Those who share the files are busy to the end if what takes long comes first.

What needs many processes or a browser is apart from its like, or there would be too many at once.
"""


def pytest_configure() -> None:
    """Load the tests' own files once: they do no harm."""
    be_expendable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--shuffle SEED``: files, and the tests of each file, in a random order."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run in a random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, or shuffle files and the tests of each."""
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
    """What is loaded by now stays: the garbage collector need not look at it again and again.

    Nor need it look so often at what Numba leaves behind.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True, scope="module")
def _forget_what_slow_twins_and_solvers_remember() -> Iterator[None]:
    """Each file begins with empty hands, or the suite would need gigabytes."""
    yield
    # Here: whoever hands out the tests need not load them.
    from knightfall.agents.remote_player import _idle
    from knightfall.search.table import _tables

    naive_solver.forget()
    naive_search.forget()
    if not any(thread.name == "knightfall-worker" for thread in threading.enumerate()):
        _tables.__dict__.pop("held", None)  # or a search that was given up might still write there
    _idle.end()
    gc.collect()
    with suppress(OSError, AttributeError):  # where the system has no such thing
        ctypes.CDLL(None).malloc_trim(0)
