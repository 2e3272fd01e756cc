"""Worker processes: after any failure the work is done, or an error says why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import worker_jobs as jobs

from knightfall.errors import AgentFailure, KnightfallError, RunnerFailure
from knightfall.isolation.parallel_map import CallQueue, Job, in_order
from knightfall.isolation.run_isolated import describe_exit
from knightfall.isolation.worker_pool import WorkerPool

PATIENCE = 60.0

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")


@pytest.fixture(scope="module")
def two() -> Iterator[WorkerPool]:
    """Return a pool of two workers; dead ones are replaced when needed."""
    with WorkerPool(2, Job(jobs.begin, ("hello",))) as workers:
        yield workers


def answers(
    workers: WorkerPool, function: Callable[[Any], Any], things: Sequence[Any]
) -> list[Any]:
    calls = CallQueue(
        partial(jobs.mapped, function), things, lambda thing: f"the call with {thing}"
    )
    return list(in_order(workers.do(calls)))


def gone(pid: int) -> bool:
    """Return whether a process ends within a few seconds."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def test_every_process_begins_and_leaves_the_terminal_to_us(
    two: WorkerPool, capfd: pytest.CaptureFixture[str]
) -> None:
    found = answers(two, jobs.state, range(20))
    assert {(*begun, ignores) for _, begun, ignores in found} == {("hello", True)}
    assert os.getpid() not in {pid for pid, _, _ in found}
    assert capfd.readouterr() == ("", "")
    assert answers(two, jobs.state, []) == []


def test_answers_come_in_order_whoever_is_first(two: WorkerPool, tmp_path: Path) -> None:
    things = [(place, str(tmp_path / "sign")) for place in range(5)]
    assert answers(two, jobs.after, things) == [0, 1, 2, 3, 4]


def test_who_is_killed_is_replaced_and_its_work_done_again(two: WorkerPool, tmp_path: Path) -> None:
    signs = [str(tmp_path / name) for name in "abcd"]
    assert answers(two, jobs.die_once, signs) == signs


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("SIGKILL", "was killed by SIGKILL: perhaps the machine is short of memory"),
        ("copy", "ended with exit status 9"),
    ],
)
def test_what_nobody_survives_is_named(two: WorkerPool, how: str, expected: str) -> None:
    with pytest.raises(KnightfallError) as raised:
        answers(two, jobs.die, [how])
    assert str(raised.value) == (
        f"the call with {how}: 3 worker processes died while computing it; the last one {expected}"
    )


def test_errors_keep_their_type(two: WorkerPool) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        answers(two, jobs.fail, ["zero"])
    assert "return 1 // 0" in raised.value.__notes__[0]  # where it happened
    with pytest.raises(AgentFailure, match="no such move") as failed:
        answers(two, jobs.fail, ["agent"])
    assert failed.value.reason == "illegal"
    with pytest.raises(KnightfallError, match=r"^it is wrong$"):
        answers(two, jobs.fail, ["ours"])
    for how, expected in (("exit", "SystemExit: good-bye"), ("own", "Own"), ("result", "pickle")):
        with pytest.raises(RuntimeError, match=f"(?s)in a worker process.*{expected}"):
            answers(two, jobs.fail, [how])


def test_a_function_that_a_worker_does_not_know(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known_here(thing: object) -> None:
        pass

    known_here.__module__, known_here.__qualname__ = "is_process_local", "known_here"
    monkeypatch.setitem(sys.modules, "is_process_local", SimpleNamespace(known_here=known_here))
    with pytest.raises(ModuleNotFoundError, match="is_process_local"):
        answers(two, known_here, [1])


def test_a_warning_is_passed_on_once(two: WorkerPool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert answers(two, jobs.warn, range(6)) == [*range(6)]
    seen = {(warning.category, str(warning.message).split("µs")[1]) for warning in caught}
    # A warning category of the user's is not known in this process.
    assert seen == {(UserWarning, ""), (RuntimeWarning, " more")}
    assert len(caught) == 2


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("SIGKILL", "was killed by SIGKILL: perhaps the machine"),
        ("exit", "ended with exit status 9"),
    ],
)
def test_workers_that_cannot_start_say_why(how: str, expected: str) -> None:
    workers = WorkerPool(1, Job(jobs.die_at_once, (how,)))
    with pytest.raises(RunnerFailure) as raised:
        answers(workers, jobs.state, [1])
    said = str(raised.value)
    assert said.startswith("3 worker processes in a row ended before they were ready; the last")
    assert expected in said
    assert said.endswith("saying: far above / far above / I cannot go on�[0m �")
    assert said.isprintable()
    assert len(said) < 300


def test_what_became_of_a_process() -> None:
    assert describe_exit(3) == "ended with exit status 3"
    assert describe_exit(-11) == "was killed by SIGSEGV"
    assert describe_exit(-99) == "was killed by signal 99"
    long = describe_exit(-6, b"x" * 10_000)
    assert long.startswith("was killed by SIGABRT, saying: xxx")
    assert len(long) < 500


def test_a_worker_that_starts_starts_no_others() -> None:
    workers = WorkerPool(1, Job(jobs.start_workers))
    with pytest.raises(
        KnightfallError, match="put its top-level calls under if __name__ == '__main__'"
    ):
        answers(workers, jobs.state, [1])


DRIVER = """
import sys
from functools import partial
sys.path.insert(0, sys.argv[1])
import worker_jobs as jobs
from knightfall.isolation.parallel_map import CallQueue
from knightfall.isolation.parallel_map import Job
from knightfall.isolation.worker_pool import WorkerPool
# a script need not expect to be imported
with WorkerPool(1, Job(jobs.begin, ("hello",))) as workers:
    list(workers.do(CallQueue(partial(jobs.mapped, jobs.hold_the_lock), [sys.argv[2]], str)))
"""


def test_workers_end_with_a_killed_driver_whatever_they_do(tmp_path: Path) -> None:
    """Check that workers end with a killed driver, even one in which no Python thread can run."""
    script, pid_file = tmp_path / "driver.py", tmp_path / "pid"
    script.write_text(DRIVER)
    driver = subprocess.Popen([sys.executable, script, Path(__file__).parent, pid_file])
    whole = Path(f"{pid_file}.whole")
    while not whole.exists():
        assert driver.poll() is None
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    assert gone(int(whole.read_text()))
